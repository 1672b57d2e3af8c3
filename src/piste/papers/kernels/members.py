"""What the paper adds to the families of piste: importing this module adds it."""

from . import forms as forms
from . import stages as stages

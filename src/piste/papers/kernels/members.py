"""Members that the paper adds to the families of piste, registered on import."""

from . import forms as forms
from . import stages as stages

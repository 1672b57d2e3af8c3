"""What the paper adds to the families of piste: importing this module adds it.

Commands import it to look up a name, so it imports neither studies nor claims.
"""

from . import forms as forms
from . import overview as overview
from . import stages as stages

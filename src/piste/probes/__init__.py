"""What is measured while a model trains."""

from ._base import OFTEN, RARELY, Probe
from .two_token import LAYERS, PROBES, MarginView, TwoTokenView

__all__ = ["LAYERS", "MarginView", "OFTEN", "PROBES", "RARELY", "Probe", "TwoTokenView"]

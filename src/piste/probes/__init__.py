"""What is measured while a model trains; ``_base.py`` is the contract of a probe."""

from ._base import BROUGHT, OFTEN, RARELY, Probe, probe
from .curvature import Extremes, hessian_extremes, jacobian_extremes

__all__ = [
    "BROUGHT",
    "OFTEN",
    "RARELY",
    "Extremes",
    "Probe",
    "hessian_extremes",
    "jacobian_extremes",
    "probe",
]

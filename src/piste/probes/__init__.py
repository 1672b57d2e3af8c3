"""What is measured while a model trains; ``_base.py`` is the contract of a probe."""

from ._base import BROUGHT, OFTEN, RARELY, SUMMARY, Probe, probe, summarise
from .curvature import Extremes, hessian_extremes, jacobian_extremes

__all__ = [
    "BROUGHT",
    "OFTEN",
    "RARELY",
    "SUMMARY",
    "Extremes",
    "Probe",
    "hessian_extremes",
    "jacobian_extremes",
    "probe",
    "summarise",
]

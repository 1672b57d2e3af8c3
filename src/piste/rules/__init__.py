"""How a model is trained; ``_base.py`` is the contract of a rule."""

from ._base import (
    RULES,
    AbstractDescent,
    AbstractFlow,
    AbstractRule,
    flow_time_per_step,
    measures_curvature,
    rule,
    settled,
)
from .descent import GD, NormalisedGD, SignGD
from .flow import Flow
from .heavy_ball import MomentumGD, Muon, SignMomentum
from .momentum import Adam, Lion

__all__ = [
    "GD",
    "RULES",
    "AbstractDescent",
    "AbstractFlow",
    "AbstractRule",
    "Adam",
    "Flow",
    "Lion",
    "MomentumGD",
    "Muon",
    "NormalisedGD",
    "SignGD",
    "SignMomentum",
    "flow_time_per_step",
    "measures_curvature",
    "rule",
    "settled",
]

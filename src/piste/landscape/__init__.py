"""The loss on planes through the weights: how to choose them, draw them, judge them.

Everything takes any JAX function ``loss(params)`` of a tree of arrays.
"""

from . import matched, metrics, planes, projection, surface, two_stage
from .comparison import Comparison
from .effects import EFFECTS, Effect, differences, effects_among, effects_table
from .matched import MAX_LOSS_MISMATCH
from .planes import Plane
from .surface import Surface
from .tables import HEADLINE, by_model, comparable, metrics_table

__all__ = [
    "EFFECTS",
    "HEADLINE",
    "MAX_LOSS_MISMATCH",
    "Comparison",
    "Effect",
    "Plane",
    "by_model",
    "comparable",
    "differences",
    "effects_among",
    "effects_table",
    "metrics_table",
    "Surface",
    "matched",
    "metrics",
    "planes",
    "surface",
    "projection",
    "two_stage",
]

"""The loss on planes through the weights: how to choose them, draw them, judge them.

Everything takes any JAX function ``loss(params)`` of a tree of arrays.
"""

from . import matched, metrics, planes, surface, trajectory, two_stage
from .comparison import Comparison
from .matched import ENOUGH
from .planes import Plane
from .surface import Surface
from .tables import HEADLINE, by_model, comparable, metrics_table, paired_table

__all__ = [
    "ENOUGH",
    "HEADLINE",
    "Comparison",
    "Plane",
    "by_model",
    "comparable",
    "metrics_table",
    "paired_table",
    "Surface",
    "matched",
    "metrics",
    "planes",
    "surface",
    "trajectory",
    "two_stage",
]

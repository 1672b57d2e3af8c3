"""The loss on planes through the weights: how to choose them, draw them, judge them.

Everything takes any JAX function ``loss(params)`` of a tree of arrays.
"""

from . import matched, metrics, planes, surface, trajectory, two_stage
from .planes import Plane
from .surface import Surface

__all__ = [
    "Plane",
    "Surface",
    "matched",
    "metrics",
    "planes",
    "surface",
    "trajectory",
    "two_stage",
]

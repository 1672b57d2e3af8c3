"""Pathfinder images: whether a dashed contour joins two markers."""

from .balanced import BLOCK, generate_balanced
from .drawing import Drawing, generate
from .settings import PADDLES, PathfinderImages

__all__ = [
    "BLOCK",
    "PADDLES",
    "Drawing",
    "PathfinderImages",
    "generate",
    "generate_balanced",
]

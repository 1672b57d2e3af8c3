"""Pathfinder images: whether a dashed contour joins two markers."""

from .drawing import Drawing, generate
from .settings import PADDLES, PathfinderImages

__all__ = ["PADDLES", "Drawing", "PathfinderImages", "generate"]

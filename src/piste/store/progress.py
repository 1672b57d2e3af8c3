"""How those who run something hear of its progress."""

from collections.abc import Callable

ProgressCallback = Callable[[int, float], None]
"""Told after every chunk how much is done, steps or parts, and the training loss.

Work that has no loss tells how much there is in all."""


def no_progress(done: int, loss: float) -> None:
    """Tell nobody."""

"""Checkpoints of equal loss: surfaces are compared around centres that match."""

from dataclasses import dataclass

import numpy as np

from piste.claims.judging import Numbers
from piste.errors import InputError

ENOUGH = 0.1
"""Share by which the losses at two centres may differ for surfaces to be compared."""


@dataclass(frozen=True)
class Match:
    """A checkpoint of either curve, and how far their losses still differ."""

    first: int
    second: int
    first_loss: float
    second_loss: float


def mismatch(one: float, other: float) -> float:
    """The difference of two losses as a share of the larger one.

    NaN, which matches nothing, if one of them is not finite.
    """
    if not (np.isfinite(one) and np.isfinite(other)):
        return float("nan")
    largest = max(abs(one), abs(other))
    return abs(one - other) / largest if largest > 0 else 0.0


def match(first: Numbers, second: Numbers) -> Match:
    """The checkpoints nearest to the lowest loss that both curves reach.

    The curve that stays higher gives its best checkpoint; the other one gives that of
    the nearest loss, the latest if several are as near.

    >>> match([3.0, 2.0, 1.0], [5.0, 1.9, 2.5])
    Match(first=1, second=1, first_loss=2.0, second_loss=1.9)
    """
    curves = [np.asarray(curve, float) for curve in (first, second)]
    for name, curve in zip(("first", "second"), curves, strict=True):
        if not np.isfinite(curve).any():
            raise InputError(f"{name}: no finite loss in {len(curve)} checkpoints")
    level = max(np.nanmin(np.where(np.isfinite(c), c, np.nan)) for c in curves)
    one, other = (_nearest(curve, level) for curve in curves)
    return Match(one, other, float(curves[0][one]), float(curves[1][other]))


def _nearest(curve: np.ndarray, level: float) -> int:
    gaps = np.where(np.isfinite(curve), np.abs(curve - level), np.inf)
    return int(np.flatnonzero(gaps == gaps.min())[-1])

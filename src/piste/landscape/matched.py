"""Checkpoints of equal loss: surfaces are compared around centres that match."""

from collections.abc import Sequence

import numpy as np

from piste.claims.judging import Numbers
from piste.errors import InputError

MAX_LOSS_MISMATCH = 0.1
"""Share by which the losses at the centres may differ for surfaces to be compared."""


def mismatch(losses: Numbers) -> float:
    """The largest difference of some losses as a share of the largest one.

    NaN, which matches nothing, if one of them is not finite.

    >>> mismatch([1.0, 0.75, 0.5])
    0.5
    """
    given = np.asarray(losses, float)
    if not np.isfinite(given).all():
        return float("nan")
    largest = float(np.abs(given).max())
    return float(np.ptp(given)) / largest if largest > 0 else 0.0


def match(curves: Sequence[Numbers]) -> list[int]:
    """Find in every curve the checkpoint nearest to the lowest loss that all reach.

    The curve that stays highest gives its best checkpoint; the others give those of the
    nearest loss, the latest if several are as near.

    >>> match([[3.0, 2.0, 1.0], [5.0, 1.9, 2.5]])
    [1, 1]
    """
    given = [np.asarray(curve, float) for curve in curves]
    for number, curve in enumerate(given):
        if not np.isfinite(curve).any():
            raise InputError(
                f"curve {number}: none of its {len(curve)} losses is finite; must have "
                "a finite one to be matched; train with a smaller learning rate"
            )
    level = max(np.nanmin(np.where(np.isfinite(c), c, np.nan)) for c in given)
    return [_nearest(curve, level) for curve in given]


def _nearest(curve: np.ndarray, level: float) -> int:
    gaps = np.where(np.isfinite(curve), np.abs(curve - level), np.inf)
    return int(np.flatnonzero(gaps == gaps.min())[-1])

"""How far a plane must reach for the loss to rise by a given amount.

Kernels differ in how fast the loss changes with the weights, and one whose weights fade
out is flat far away, whatever its shape nearby. Surfaces are therefore compared where
their losses have risen alike, not at equal distances.
"""

import numpy as np

from . import metrics, surface
from .planes import Loss, Plane

REACHES = 0.02 * 1.5 ** np.arange(15)
"""Reaches that are tried, up to 5.8 times the weights' own norms."""
_SIDE = np.linspace(-1, 1, 5)
_SQUARE = np.stack(np.meshgrid(_SIDE, _SIDE, indexing="ij"), -1).reshape(-1, 2)
BORDER = _SQUARE[np.abs(_SQUARE).max(1) == 1]
"""Sixteen points of the border of a square, evenly spread."""
POINTS = 1 + len(REACHES) * len(BORDER)
"""Points at which the loss is evaluated in search of the reaches of a plane."""


def rises_at(loss: Loss, plane: Plane, *, batch: int = surface.BATCH) -> np.ndarray:
    """The rise of the loss at every reach that is tried; NaN without finite losses."""
    squares = (REACHES[:, None, None] * BORDER).reshape(-1, 2)
    points = np.concatenate([np.zeros((1, 2)), squares])
    values = surface.evaluate_points(loss, plane, points, batch=batch)
    borders = values[1:].reshape(len(REACHES), len(BORDER))
    return np.array([metrics.median_change(row, values[0]) for row in borders])


def reach_for(rises: np.ndarray, target: float) -> float:
    """The least reach at which the loss has risen so far; NaN if it never does.

    Between two reaches that were tried, the logarithms are interpolated.

    >>> round(reach_for(REACHES**2, 0.25), 6)
    0.5
    """
    beyond = np.flatnonzero(rises >= target)
    if not beyond.size:
        return float("nan")
    at = int(beyond[0])
    if at == 0 or not rises[at - 1] > 0:
        # Near its origin the loss changes with the distance, in proportion.
        return float(REACHES[at] * target / rises[at])
    logs = np.log([rises[at - 1], rises[at]]), np.log(REACHES[at - 1 : at + 1])
    return float(np.exp(np.interp(np.log(target), *logs)))

r"""How rough a surface is, in numbers that were fixed before any was seen.

A convex function never bends down along a line, also not between points of a grid. So a
surface is called non-convex where a second difference along one of four lines (both axes
and both diagonals) is negative. The eigenvalues of a matrix of second differences do not
have this property: the mixed difference has another step than the pure ones, and
$\exp(a+b)$ would be non-convex everywhere. What four lines cannot see is a direction
between them in which the surface bends down less than 0.17 times as much as it bends up
in the direction across.

Curvatures are in units of the loss: the window reaches from −1 to 1 both ways, and the
rise of the loss from the centre to the border is 1. A bowl then has curvatures near 2,
whatever its height and its width.
"""

import math
from dataclasses import dataclass

import numpy as np

from .surface import Surface

ROUNDING = 32
"""A second difference is known to so many units of rounding of the losses in it."""
LINES = ((1, 0), (0, 1), (1, 1), (1, -1))
"""The steps along which second differences are taken: rows and columns of the grid."""


@dataclass(frozen=True)
class Metrics:
    """What is said of one surface; the first three are smaller where it is smoother."""

    non_convex: float
    """Share of the interior points at which the surface bends down along some line."""
    negative_curvature: float
    """How much it bends down, the mean over the interior points, in units of the rise."""
    unexplained: float
    """$1-R^2$ of the best quadratic function of the coordinates."""
    flat: float
    """Share of the interior points that bend down along no line, but along some line by
    less than rounding, up or down: it cannot be told whether they are convex."""
    minima: int
    """Interior points below all their eight neighbours."""
    curvature_min: float
    curvature_max: float
    """Curvatures at the centre, over the four lines, in units of the rise."""
    rise: float
    """Median over the border of how far the loss is from that at the centre."""
    centre_loss: float
    not_finite: float
    """Share of the points without a finite loss; no other number sees them."""


def measure(surface: Surface) -> Metrics:
    """Compute all metrics of a surface."""
    loss = np.asarray(surface.loss)
    least, largest = centre_curvature(loss)
    return Metrics(
        non_convex=non_convex_share(loss),
        negative_curvature=negative_curvature(loss),
        unexplained=quadratic_residual(loss),
        flat=flat_share(loss),
        minima=interior_minima(loss),
        curvature_min=least,
        curvature_max=largest,
        rise=rise(loss),
        centre_loss=surface.centre,
        not_finite=float((~np.isfinite(loss)).mean()),
    )


# --- second differences ----------------------------------------------------------------


def _neighbours(loss: np.ndarray) -> np.ndarray:
    """Nine losses around every interior point, along two first axes of 3."""
    rows, columns = (max(size - 2, 0) for size in loss.shape)
    parts = [[loss[i : rows + i, j : columns + j] for j in range(3)] for i in range(3)]
    return np.array(parts)


def second_differences(loss: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Second differences along the four lines, and how well they are known.

    Both have a first axis over the lines, then one entry for each interior point, in a
    row; points of which one of the nine losses is not finite are left out.
    """
    near = _neighbours(loss)
    near = near[:, :, np.isfinite(near).all((0, 1))]
    exact = near.astype(float)
    bends = [
        exact[1 + i, 1 + j] - 2 * exact[1, 1] + exact[1 - i, 1 - j] for i, j in LINES
    ]
    known_to = ROUNDING * np.finfo(loss.dtype).eps * np.abs(exact).max((0, 1))
    return np.array(bends), np.broadcast_to(known_to, (len(LINES), known_to.size))


def non_convex_share(loss: np.ndarray) -> float:
    """Share of interior points that bend down along a line; NaN without such points."""
    bends, known_to = second_differences(loss)
    down = (bends < -known_to).any(0)
    return float(down.mean()) if down.size else math.nan


def flat_share(loss: np.ndarray) -> float:
    """Share of interior points of which rounding hides whether they are convex."""
    bends, known_to = second_differences(loss)
    down = (bends < -known_to).any(0)
    hidden = (np.abs(bends) <= known_to).any(0)
    return float((hidden & ~down).mean()) if down.size else math.nan


def negative_curvature(loss: np.ndarray) -> float:
    """Mean over the interior points of the largest curvature downwards, 0 where none.

    In units of the rise; infinite if the loss bends but does not change at the border.
    """
    bends, known_to = second_differences(loss)
    if not bends.size:
        return math.nan
    down = np.where(bends < -known_to, -bends, 0) / _squared_lengths(loss)
    return _in_units_of_rise(float(down.max(0).mean()), loss)


def centre_curvature(loss: np.ndarray) -> tuple[float, float]:
    """The least and the largest curvature at the centre; 0 for what rounding hides."""
    row, column = (size // 2 for size in loss.shape)
    around = loss[max(row - 1, 0) : row + 2, max(column - 1, 0) : column + 2]
    bends, known_to = second_differences(around)
    if not bends.size:
        return math.nan, math.nan
    curvatures = np.where(np.abs(bends) > known_to, bends, 0) / _squared_lengths(loss)
    least, largest = float(curvatures.min()), float(curvatures.max())
    return _in_units_of_rise(least, loss), _in_units_of_rise(largest, loss)


def _squared_lengths(loss: np.ndarray) -> np.ndarray:
    """The squared step of every line where the window reaches from −1 to 1."""
    steps = np.array([2 / (size - 1) for size in loss.shape])
    return ((np.array(LINES) * steps) ** 2).sum(1)[:, None]


# --- the unit of curvature -------------------------------------------------------------


def rise(loss: np.ndarray) -> float:
    """Median over the border of how far the loss is from that at the centre.

    Of the points with a finite loss; NaN where there are none, or none at the centre.
    """
    centre = float(loss[loss.shape[0] // 2, loss.shape[1] // 2])
    border = np.concatenate([loss[0], loss[-1], loss[1:-1, 0], loss[1:-1, -1]])
    return median_change(border, centre)


def median_change(losses: np.ndarray, centre: float) -> float:
    """Median of how far the finite ones of some losses are from that at the centre."""
    known = losses[np.isfinite(losses)].astype(float)
    if not (known.size and np.isfinite(centre)):
        return math.nan
    return float(np.median(np.abs(known - float(centre))))


def _in_units_of_rise(curvature: float, loss: np.ndarray) -> float:
    if curvature == 0:
        return 0.0  # in any unit
    with np.errstate(divide="ignore"):
        return float(np.divide(curvature, rise(loss)))


# --- other numbers ---------------------------------------------------------------------


def quadratic_residual(loss: np.ndarray) -> float:
    """$1-R^2$ of the least-squares quadratic over all finite points; 0 for a constant."""
    rows, columns = loss.shape
    a, b = np.meshgrid(np.linspace(-1, 1, rows), np.linspace(-1, 1, columns))
    a, b = a.T, b.T
    sound = np.isfinite(loss)
    terms = np.stack([np.ones_like(a), a, b, a**2, a * b, b**2], -1)[sound]
    if len(terms) < terms.shape[1]:
        return math.nan
    # Scaled, so that squares of huge losses stay finite.
    top = float(np.abs(loss[sound]).max()) or 1.0
    values = loss[sound].astype(float) / top
    left = values - terms @ np.linalg.lstsq(terms, values)[0]
    total = ((values - values.mean()) ** 2).sum()
    rounding = values.size * (ROUNDING * np.finfo(loss.dtype).eps) ** 2
    return float((left**2).sum() / total) if total > rounding else 0.0


def interior_minima(loss: np.ndarray) -> int:
    """Points strictly below all eight neighbours, which must be finite."""
    near = _neighbours(loss)
    near = near.reshape(9, *near.shape[2:])
    around = np.delete(near, 4, axis=0)
    lower = (near[4] < around).all(0) & np.isfinite(around).all(0)
    return int(lower.sum())

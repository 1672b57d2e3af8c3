r"""How rough a surface is, in numbers that were fixed before any was seen.

The headline pair: the share of non-convex cells, and $1-R^2$ of a quadratic fit.
"""

import math
from dataclasses import dataclass

import numpy as np

from .surface import Surface

ROUNDING = 32
"""A curvature counts as negative beyond so many units of rounding of the loss."""


@dataclass(frozen=True)
class Metrics:
    """What is said of one surface; the first three are smaller where it is smoother."""

    non_convex: float
    """Share of the cells whose discrete Hessian has a negative eigenvalue."""
    unexplained: float
    """$1-R^2$ of the best quadratic function of the coordinates."""
    minima: int
    """Interior points below all their eight neighbours."""
    curvature_least: float
    curvature_largest: float
    """Eigenvalues of the discrete Hessian at the centre, in units of the plane."""
    centre_loss: float
    not_finite: float
    """Share of the points without a finite loss; no other number sees them."""


def measure(surface: Surface) -> Metrics:
    """All metrics of a surface."""
    loss = np.asarray(surface.loss)
    least, largest = centre_curvature(surface)
    return Metrics(
        non_convex=non_convex_share(loss),
        unexplained=quadratic_residual(loss),
        minima=interior_minima(loss),
        curvature_least=least,
        curvature_largest=largest,
        centre_loss=surface.centre,
        not_finite=float((~np.isfinite(loss)).mean()),
    )


def _neighbours(loss: np.ndarray) -> np.ndarray:
    """The nine losses around every interior point, along a first axis of 3 × 3."""
    rows, columns = loss.shape
    parts = [
        [loss[i : rows - 2 + i, j : columns - 2 + j] for j in range(3)]
        for i in range(3)
    ]
    return np.array(parts)


def discrete_hessian(loss: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Second differences at all interior points: both ways, and mixed."""
    near = _neighbours(loss.astype(float))
    first = near[2, 1] - 2 * near[1, 1] + near[0, 1]
    second = near[1, 2] - 2 * near[1, 1] + near[1, 0]
    mixed = (near[2, 2] - near[2, 0] - near[0, 2] + near[0, 0]) / 4
    return first, second, mixed


def _eigenvalues(first, second, mixed) -> tuple[np.ndarray, np.ndarray]:
    middle = (first + second) / 2
    spread = np.hypot((first - second) / 2, mixed)
    return middle - spread, middle + spread


def non_convex_share(loss: np.ndarray) -> float:
    """The share of interior points where the surface bends down in some direction.

    Of those whose nine losses are finite; NaN where there are none.
    """
    near = _neighbours(loss)
    sound = np.isfinite(near).all((0, 1))
    if not sound.any():
        return math.nan
    with np.errstate(invalid="ignore"):  # inf − inf, left out below
        least, _ = _eigenvalues(*discrete_hessian(loss))
        allowed = ROUNDING * np.finfo(loss.dtype).eps * np.abs(near).max((0, 1))
        return float((least < -allowed)[sound].mean())


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
    near = _neighbours(loss).reshape(9, *(size - 2 for size in loss.shape))
    around = np.delete(near, 4, axis=0)
    lower = (near[4] < around).all(0) & np.isfinite(around).all(0)
    return int(lower.sum())


def centre_curvature(surface: Surface) -> tuple[float, float]:
    """The eigenvalues of the discrete Hessian at the origin."""
    middle, step = surface.axis.size // 2, float(surface.axis[1] - surface.axis[0])
    around = surface.loss[middle - 1 : middle + 2, middle - 1 : middle + 2]
    with np.errstate(invalid="ignore"):
        least, largest = _eigenvalues(*discrete_hessian(around))
    return float(least[0, 0]) / step**2, float(largest[0, 0]) / step**2

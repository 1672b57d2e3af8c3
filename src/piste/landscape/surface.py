"""The loss on the grid of a plane, in compiled batches."""

from dataclasses import dataclass

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from piste.errors import field_error
from piste.store import ProgressCallback, no_progress

from .planes import Loss, Plane

POINTS = 51
"""Points along a side of the grid."""
BATCH = 8
"""Points evaluated side by side; memory grows with it."""
POINTS_PER_CALL = 256
"""Points of one call of the compiled program; progress is reported between calls."""


@dataclass(frozen=True)
class Surface:
    """The loss at all points of a square grid around a plane's origin.

    Where the loss is not finite it is kept as it came out.
    """

    axis: np.ndarray
    """Coordinates along both directions; the middle one is 0."""
    loss: np.ndarray
    """A row for each coordinate of the first direction, a column for the second."""

    @property
    def centre(self) -> float:
        """The loss at the origin."""
        middle = self.axis.size // 2
        return float(self.loss[middle, middle])


def compute(
    loss: Loss,
    plane: Plane,
    points: int = POINTS,
    reach: float = 1.0,
    *,
    batch: int = BATCH,
    precision: str | None = None,
    watch: ProgressCallback = no_progress,
) -> Surface:
    """Evaluate any ``loss(params)`` on a plane, from −reach to reach both ways.

    It works in the type of the plane's arrays unless told a precision. A loss that is a
    tree itself, such as a method of an equinox module, has its arrays passed as
    arguments, so that a second surface compiles nothing.

    >>> from piste.landscape import metrics, planes
    >>> params = {"w": jnp.eye(2), "b": jnp.ones(2)}
    >>> def loss(params):
    ...     return ((params["w"] @ params["b"] - 1) ** 2).sum()
    >>> plane = planes.random(params, key=jax.random.key(0))
    >>> found = compute(loss, plane, points=5)
    >>> found.loss.shape, found.centre
    ((5, 5), 0.0)
    >>> metrics.measure(found).non_convex
    0.0
    """
    axis = grid_axis(points, reach)
    if precision not in (None, "float32", "float64"):
        raise field_error("precision", precision, "must be one of float64, float32")
    with jax.enable_x64(precision == "float64" or jax.config.read("jax_enable_x64")):
        if precision is not None:
            loss, plane = _cast((loss, plane), precision)
        both = np.stack(np.meshgrid(axis, axis, indexing="ij"), -1).reshape(-1, 2)
        values = evaluate_points(loss, plane, both, batch=batch, watch=watch)
    return Surface(axis, values.reshape(points, points))


def grid_axis(points: int, reach: float) -> np.ndarray:
    """The coordinates along a side; exactly 0 in the middle."""
    if points < 5 or points % 2 == 0:
        raise field_error("points", points, "must be odd and at least 5")
    if not (reach > 0 and np.isfinite(reach)):
        raise field_error("reach", reach, "must be a number above 0")
    half = points // 2
    return np.arange(-half, half + 1) * (reach / half)


def evaluate_points(
    loss: Loss,
    plane: Plane,
    both: np.ndarray,
    *,
    batch: int = BATCH,
    watch: ProgressCallback = no_progress,
) -> np.ndarray:
    """Evaluate the loss at points of a plane, given by a row of coordinates each."""
    # A fixed number of points in each call: one program serves them all.
    total = len(both)
    size = min(POINTS_PER_CALL, -(-total // batch) * batch)
    found = []
    for start in range(0, total, size):
        block = both[start : start + size]
        # The last block is filled up with the origin.
        filled = np.pad(block, ((0, size - len(block)), (0, 0)))
        values = _evaluate(loss, plane, jnp.asarray(filled), batch)
        found.append(np.asarray(values)[: len(block)])
        watch(start + len(block), total)
    return np.concatenate(found)


@eqx.filter_jit
def _evaluate(
    loss: Loss, plane: Plane, both: Float[Array, "point two"], batch: int
) -> Float[Array, " point"]:
    def one(place):
        return loss(plane.at(place[0], place[1]))

    return jax.lax.map(one, both, batch_size=batch)


@eqx.filter_jit
def values_at(loss: Loss, stacked) -> Float[Array, " snapshot"]:
    """The loss at many parameters, stacked along a first axis, one after the other."""
    return jax.lax.map(loss, stacked)


def _cast(tree, precision: str):
    def cast(leaf):
        return leaf.astype(precision) if eqx.is_inexact_array(leaf) else leaf

    return jax.tree.map(cast, tree)

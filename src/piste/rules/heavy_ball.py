r"""Rules with one momentum: gradient descent, sign descent and Muon on a heavy ball.

All three carry $m \leftarrow \beta m + g$, as Kunstner et al. (2023) and PyTorch do: at
rest in a constant gradient it is $g/(1-\beta)$, so a learning rate with momentum is to be
compared with one that is $1-\beta$ times as large without.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Float

from piste.values import option

from ._base import AbstractDescent, rule


class Momentum(NamedTuple):
    """What a heavy ball remembers: its momentum, in the shape of the weights."""

    momentum: Any


def _heavy_ball(
    learning_rate: Any, decay: Any, direction: Callable[[Array], Array]
) -> optax.GradientTransformation:
    """Move against a direction that each array of the momentum gives by itself."""

    def init(params):
        return Momentum(jax.tree.map(jnp.zeros_like, params))

    def update(updates, state, params=None):
        momentum = jax.tree.map(lambda m, g: decay * m + g, state.momentum, updates)
        moves = jax.tree.map(lambda m: -learning_rate * direction(m), momentum)
        return moves, Momentum(momentum)

    return optax.GradientTransformation(init, update)


@rule("momentum")
class MomentumGD(AbstractDescent):
    r"""Gradient descent with momentum, $m \leftarrow \beta m + g$ and then
    $w \leftarrow w - \eta m$.
    """  # noqa: D205

    odd = True
    entrywise = True
    along_gradient = True
    learning_rate: float = option(default=0.01, greater_than=0)
    r"""Step size, $\eta$."""
    decay: float = option(default=0.9, minimum=0, less_than=1)
    r"""Decay of the momentum, $\beta$."""

    def transform(self, norm: Callable) -> optax.GradientTransformation:
        """The update as an optax transformation."""
        return _heavy_ball(self.learning_rate, self.decay, lambda m: m)


@rule("sign-momentum")
class SignMomentum(AbstractDescent):
    r"""Sign descent with momentum, $m \leftarrow \beta m + g$ and then
    $w \leftarrow w - \eta\,\mathrm{sgn}(m)$.

    Here $\mathrm{sgn}(0)=0$, and nothing is divided: a weight without gradient stays.
    """  # noqa: D205

    odd = True
    entrywise = True
    equal_steps = True
    learning_rate: float = option(default=1e-4, greater_than=0)
    r"""Step size, $\eta$."""
    decay: float = option(default=0.9, minimum=0, less_than=1)
    r"""Decay of the momentum, $\beta$."""

    def transform(self, norm: Callable) -> optax.GradientTransformation:
        """The update as an optax transformation."""
        return _heavy_ball(self.learning_rate, self.decay, jnp.sign)


@rule("muon")
class Muon(AbstractDescent):
    r"""Orthogonalised momentum (Jordan et al. 2024), without Nesterov's look ahead.

    $m \leftarrow \beta m + g$, $W \leftarrow W - \eta\,UV^\top$ with $m = U\Sigma V^\top$.
    The last two axes of an array are a matrix, axes before them (heads, layers, classes)
    count matrices; a vector or a scalar is a matrix of one row, so it moves by
    $m/\|m\|$. The singular value decomposition is exact, not Newton–Schulz's five steps,
    whose singular values lie between about 0.7 and 1.2; directions without momentum
    (singular values that are rounding errors) do not move, so that there is no 0/0.

    The update of an entry depends on all others of its matrix. It promises oddness
    alone, and trains in the full form.
    """

    odd = True
    learning_rate: float = option(default=0.01, greater_than=0)
    r"""Step size, $\eta$: the spectral norm of a step, whatever the shape."""
    decay: float = option(default=0.95, minimum=0, less_than=1)
    r"""Decay of the momentum, $\beta$."""

    def transform(self, norm: Callable) -> optax.GradientTransformation:
        """The update as an optax transformation."""
        return _heavy_ball(self.learning_rate, self.decay, polar_factor)


def polar_factor(matrix: Float[Array, "*any"]) -> Float[Array, "*any"]:
    r"""The partial isometry $UV^\top$ of a matrix $U\Sigma V^\top$, or of each of several.

    Over the directions whose singular value is not a rounding error of the largest one;
    0 for a matrix of zeros. Vectors and scalars are matrices of one row.

    >>> polar_factor(jnp.array([[3.0, 0.0], [0.0, -2.0]])).tolist()
    [[1.0, 0.0], [0.0, -1.0]]
    """
    shape = matrix.shape
    if matrix.ndim < 2:
        return polar_factor(matrix.reshape(1, -1)).reshape(shape)
    if 0 in shape:
        return matrix
    largest = jnp.abs(matrix).max((-2, -1), keepdims=True)
    # Near 1: squares of small numbers underflow in the decomposition.
    scaled = matrix / jnp.where(largest == 0, 1, largest)
    left, values, right = jnp.linalg.svd(scaled, full_matrices=False)
    rounding = max(shape[-2:]) * jnp.finfo(matrix.dtype).eps
    kept = values > rounding * values.max(-1, keepdims=True)
    return (left * kept[..., None, :]) @ right

"""Rules with memory: Adam and Lion."""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Int

from piste.values import option

from ._base import AbstractDescent, rule
from .descent import clipped


class AdamState(NamedTuple):
    """The count of steps, the first moment, and the root of the second."""

    count: Int[Array, ""]
    first: Any
    root: Any


@rule("adam")
class Adam(AbstractDescent):
    r"""Adam, $w \leftarrow w - \eta\,\hat m/(\sqrt{\hat v} + \epsilon)$ with $0/0 := 0$.

    With $\beta_1=\beta_2=\epsilon=0$ it is SignGD to the last bit. The second moment is
    carried as its root, because squares of small gradients underflow. Weight decay is
    decoupled from the moments (AdamW, Loshchilov and Hutter 2019).
    """

    learning_rate: float = option(default=1e-4, greater_than=0)
    r"""Step size, $\eta$."""
    b1: float = option(default=0.9, minimum=0, less_than=1)
    r"""Decay of the first moment, $\beta_1$."""
    b2: float = option(default=0.999, minimum=0, less_than=1)
    r"""Decay of the second moment, $\beta_2$."""
    eps: float = option(default=1e-8, minimum=0)
    r"""Added to the root of the second moment, $\epsilon$."""
    clip: float = option(default=0.0, minimum=0)
    """Norm to which a longer gradient is cut; 0 for never."""
    weight_decay: float = option(default=0.0, minimum=0)
    r"""Share of a weight that a step takes away, in units of $\eta$."""

    @property
    def odd(self) -> bool:
        """Whether opposite gradients give opposite updates: not if weights decay."""
        return self.weight_decay == 0

    @property
    def entrywise(self) -> bool:
        """Whether weights without a gradient stay: not if they decay."""
        return self.weight_decay == 0

    def transform(self, norm: Callable) -> optax.GradientTransformation:
        """The update as an optax transformation."""

        def init(params):
            zeros = jax.tree.map(jnp.zeros_like, params)
            return AdamState(jnp.zeros((), int), zeros, zeros)

        def update(updates, state, params=None):
            updates = clipped(updates, norm, self.clip)
            count = state.count + 1
            first = jax.tree.map(self._first, updates, state.first)
            root = jax.tree.map(self._root, updates, state.root)
            steps = jax.tree.map(lambda m, r: self._step(m, r, count), first, root)
            return self._decayed(steps, params), AdamState(count, first, root)

        return optax.GradientTransformation(init, update)

    def _decayed(self, steps, params):
        if params is None:  # whoever has no weights at hand must not want them to decay
            return steps
        decay = self.learning_rate * self.weight_decay
        return jax.tree.map(lambda step, weight: step - decay * weight, steps, params)

    def _first(self, gradient, first):
        return self.b1 * first + (1 - self.b1) * gradient

    def _root(self, gradient, root):
        return jnp.hypot(self.b2**0.5 * root, (1 - self.b2) ** 0.5 * gradient)

    def _step(self, first, root, count):
        count = count.astype(first.dtype)
        mean = first / (1 - jnp.power(self.b1, count))
        scale = root / jnp.sqrt(1 - jnp.power(self.b2, count)) + self.eps
        ratio = jnp.where(scale == 0, 0, mean / jnp.where(scale == 0, 1, scale))
        return -self.learning_rate * ratio


@rule("lion")
class Lion(AbstractDescent):
    r"""Lion: the sign of an interpolated momentum (Chen et al. 2023), no weight decay."""

    odd = True
    entrywise = True
    equal_steps = True
    learning_rate: float = option(default=1e-4, greater_than=0)
    r"""Step size, $\eta$."""
    b1: float = option(default=0.9, minimum=0, less_than=1)
    r"""Weight of the momentum inside the sign, $\beta_1$."""
    b2: float = option(default=0.99, minimum=0, less_than=1)
    r"""Decay of the momentum, $\beta_2$."""

    def transform(self, norm: Callable) -> optax.GradientTransformation:
        """The update as an optax transformation."""
        return optax.lion(self.learning_rate, self.b1, self.b2, weight_decay=0.0)

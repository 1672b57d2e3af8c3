"""Rules without memory: gradient, sign gradient and normalised gradient descent."""

import dataclasses
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax

from piste.errors import field_error
from piste.values import option

from ._base import AbstractDescent, Surroundings, rule


def clipped(gradient: Any, norm: Callable, maximum: Any) -> Any:
    """The gradient, cut to a norm of ``maximum`` where it is longer; 0 is no limit."""
    length = norm(gradient)
    cut = (maximum > 0) & (length > maximum)
    scale = jnp.where(cut, maximum / jnp.where(cut, length, 1), 1).astype(length.dtype)
    return jax.tree.map(lambda part: scale * part, gradient)


@rule("gd")
class GD(AbstractDescent):
    r"""Gradient descent, $w \leftarrow w - \eta\nabla L$."""

    odd = True
    entrywise = True
    along_gradient = True
    learning_rate: float = option(default=0.1, greater_than=0)
    r"""Step size, $\eta$, in its unit."""
    unit: str = option(default="absolute", choices=("absolute", "curvature"))
    r"""What the step size is measured in: 1, or $1/\lambda$ with $\lambda$ the largest
    curvature at the start (of the Gauss–Newton matrix where the loss is a square)."""

    def transform(self, norm: Callable) -> optax.GradientTransformation:
        """The update as an optax transformation."""
        return optax.sgd(self.learning_rate)

    @property
    def measures_curvature(self) -> bool:
        """Whether the step size is in units of it."""
        return self.unit == "curvature"

    def settle(self, form: Surroundings) -> "GD":
        """Turn a rate in units of the curvature at the start into a plain one."""
        if self.unit == "absolute":
            return self
        curvature = float(_curvature(form))
        if not 0 < curvature < np.inf:
            expected = f"must be absolute, the curvature at the start is {curvature:g}"
            raise field_error("rule.unit", self.unit, expected)
        rate = self.learning_rate / curvature
        return dataclasses.replace(self, learning_rate=rate, unit="absolute")

    def time_per_step(self) -> float:
        """Give the length of a step, which is an Euler step of the flow."""
        return self.learning_rate


@jax.jit
def _curvature(form: Surroundings):
    return form.curvature()


@rule("signgd")
class SignGD(AbstractDescent):
    r"""Sign gradient descent, $w \leftarrow w - \eta\,\mathrm{sgn}(\nabla L)$.

    Here $\mathrm{sgn}(0)=0$: a weight without gradient stays.
    """

    odd = True
    entrywise = True
    equal_steps = True
    sign_of_gradient = True
    learning_rate: float = option(default=1e-4, greater_than=0)
    r"""Step size, $\eta$."""

    def transform(self, norm: Callable) -> optax.GradientTransformation:
        """The update as an optax transformation."""
        return optax.sign_sgd(self.learning_rate)


def _near_one(gradient: Any) -> Any:
    """The gradient times a power of two that brings its largest entry near 1: exact."""
    largest = jnp.stack([jnp.abs(part).max() for part in jax.tree.leaves(gradient)])
    _, power = jnp.frexp(largest.max())
    return jax.tree.map(lambda part: jnp.ldexp(part, -power), gradient)


@rule("normalised-gd")
class NormalisedGD(AbstractDescent):
    r"""Normalised gradient descent, $w \leftarrow w - \eta\nabla L/\|\nabla L\|$.

    The norm is over all weights together, so $\eta$ is the Euclidean length of a step.
    """

    odd = True
    entrywise = True
    along_gradient = True
    learning_rate: float = option(default=0.01, greater_than=0)
    r"""Length of a step, $\eta$."""

    def transform(self, norm: Callable) -> optax.GradientTransformation:
        """The update as an optax transformation; ``norm`` measures a gradient."""

        def init(params):
            return optax.EmptyState()

        def update(updates, state, params=None):
            updates = _near_one(updates)  # squares of small numbers underflow
            length = norm(updates)
            scale = -self.learning_rate / jnp.where(length == 0, 1, length)
            return jax.tree.map(lambda part: scale * part, updates), state

        return optax.GradientTransformation(init, update)

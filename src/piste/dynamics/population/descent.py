r"""Gradient descent on the population loss in $W$ and $V$, with curvature on its path."""

import math
from dataclasses import dataclass

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from piste.models.one_hot import OneHotWeights
from piste.probes.curvature import hessian_extremes

from .listed import Listed


@eqx.filter_jit
def largest_curvature(population: Listed, weights: OneHotWeights) -> Float[Array, ""]:
    r"""$\lambda_{max}$ of the Hessian of $\mathcal{L}(W, V)$, by Lanczos iteration."""
    found = hessian_extremes(lambda given: jax.grad(_loss)(given, population), weights)
    return found.largest


def _loss(weights: OneHotWeights, population: Listed) -> Float[Array, ""]:
    return population.loss(weights.attention, weights.value)


@eqx.filter_jit
def descend(
    population: Listed, weights: OneHotWeights, learning_rate: Float[Array, ""] | float
) -> OneHotWeights:
    r"""One step, $(W, V) \leftarrow (W, V) - \eta\nabla\mathcal{L}$."""
    slope = jax.grad(_loss)(weights, population)
    return jax.tree.map(lambda w, g: w - learning_rate * g, weights, slope)


@eqx.filter_jit
def least_margin(population: Listed, weights: OneHotWeights) -> Float[Array, ""]:
    """The least lead of a label over all sequences; positive if all are right."""
    margins = population.label_margins(weights.attention, weights.value)
    possible = population.probability[:, None] > 0
    return jnp.where(possible, margins, jnp.inf).min()


@dataclass(frozen=True)
class Descent:
    """A descent to the first perfect classification."""

    learning_rate: float
    steps: int | None
    """The first perfect step, or none within the limit."""
    curvatures: tuple[float, ...]
    r"""$\lambda_{max}$ at every step of the path, the last included."""
    margins: tuple[float, ...]
    weights: OneHotWeights

    @property
    def steepest(self) -> float:
        """The largest curvature on the path."""
        return max(self.curvatures)


def descend_to_perfection(
    population: Listed,
    weights: OneHotWeights,
    *,
    limit: int = 1000,
    attempts: int = 8,
) -> Descent:
    r"""Descend with $\eta = 1/\max\lambda_{max}$ of the path until all labels are right.

    The path depends on $\eta$, so a descent that met a larger curvature than it assumed
    is repeated with that one.
    """
    assumed = float(largest_curvature(population, weights))
    for _ in range(attempts):
        found = descend_with(population, weights, 1 / assumed, limit)
        # Written so that a curvature that is not a number ends the attempts.
        if not found.steepest > assumed * (1 + 1e-9):
            break
        # A little more, so that the next path is not a rounding error short.
        assumed = 1.02 * found.steepest
    return found


def descend_with(
    population: Listed, weights: OneHotWeights, learning_rate: float, limit: int
) -> Descent:
    """Descend with a given step until all labels are right, at most ``limit`` steps."""
    curvatures, margins = [], []
    for step in range(limit + 1):
        curvatures.append(float(largest_curvature(population, weights)))
        margins.append(float(least_margin(population, weights)))
        # A descent that left the finite numbers is not perfect, whatever its margin.
        sound = math.isfinite(curvatures[-1])
        if not sound or margins[-1] > 0 or step == limit:
            break
        weights = descend(population, weights, learning_rate)
    reached = step if sound and margins[-1] > 0 else None
    return Descent(learning_rate, reached, tuple(curvatures), tuple(margins), weights)

r"""Gradient descent on the population loss, with the curvature along its path.

Theorem 2 descends on $W$ and $V$ (:class:`JointLoss`), the first result of the paper on
$W$ alone with $V = cP$ (:class:`AttentionLoss`).
"""

import abc
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PyTree

from piste.probes import Probe, hessian_extremes
from piste.rules import GD
from piste.training import (
    AbstractForm,
    Chunk,
    Plan,
    Stop,
    System,
    at_rates,
    train,
)

from ..models import OneHotWeights
from .flow_problem import FlowData
from .listed import ListedPopulation

CHUNK = 8
"""Steps between two looks at whether all labels are right: many descents end at once."""


class AbstractLoss(eqx.Module):
    """A loss with what a descent needs to know of it.

    Data are fields, so that they are arguments of the compiled programs: XLA folds
    constants wrongly now and then, and a whole program is NaN.
    """

    @abc.abstractmethod
    def loss(self, params: Any) -> Float[Array, ""]:
        r"""$\mathcal{L}$ at some parameters."""

    @abc.abstractmethod
    def margin(self, params: Any) -> Float[Array, ""]:
        """The smallest lead of a label; positive if all labels are right."""

    @abc.abstractmethod
    def curvature(self, params: Any) -> Float[Array, ""]:
        r"""$\lambda_{max}$ of the Hessian."""


class JointLoss(AbstractLoss):
    r"""$\mathcal{L}(W, V)$ as a function of both matrices."""

    population: ListedPopulation

    def loss(self, params: OneHotWeights) -> Float[Array, ""]:
        r"""$\mathcal{L}(W, V)$."""
        return self.population.loss(params.attention, params.value)

    def margin(self, params: OneHotWeights) -> Float[Array, ""]:
        """The smallest lead of a label over the sequences of positive probability."""
        margins = self.population.label_margins(params.attention, params.value)
        possible = jnp.asarray(self.population.probability)[:, None] > 0
        return jnp.where(possible, margins, jnp.inf).min()

    def curvature(self, params: OneHotWeights) -> Float[Array, ""]:
        """By Lanczos iteration."""
        return hessian_extremes(jax.grad(self.loss), params).largest


class AttentionLoss(AbstractLoss):
    r"""$\mathcal{L}(W, cP)$ as a function of all entries of $W$."""

    data: FlowData
    """Of a population that lists its sequences: a score for each entry of $W$."""

    def __check_init__(self):
        assert (self.data.entries == 1).all(), "the Hessian needs every entry of W"

    def loss(self, params: Float[Array, "key query"]) -> Float[Array, ""]:
        r"""$\mathcal{L}(W, cP)$."""
        cases = self.data.cases
        return (cases.weight * cases.losses(params, self.data.scale)).sum()

    def margin(self, params: Float[Array, "key query"]) -> Float[Array, ""]:
        """The smallest lead of a label-determining token's score."""
        return self.data.cases.margin(params)

    def curvature(self, params: Float[Array, "key query"]) -> Float[Array, ""]:
        """From the whole Hessian, which has a block for each column of $W$.

        A tangent that moves one row moves one entry of every column, so its product
        holds a column of every block.
        """

        def product(key):
            tangent = jnp.zeros_like(params).at[key].set(1)
            return jax.jvp(jax.grad(self.loss), (params,), (tangent,))[1]

        blocks = jax.lax.map(product, jnp.arange(len(params)))
        return jnp.linalg.eigvalsh(blocks.transpose(2, 0, 1)).max()


class DescentView(eqx.Module):
    """A loss, and where a descent on it is."""

    objective: AbstractLoss
    params: PyTree


CURVATURE = Probe(
    "curvature",
    r"$\lambda_{\max}$",
    "largest eigenvalue of the Hessian",
    lambda view: view.objective.curvature(view.params),
)
MARGIN = Probe(
    "margin",
    "margin",
    "smallest lead of a label",
    lambda view: view.objective.margin(view.params),
)


class DescentForm(AbstractForm):
    """Parameters of a loss, and where they start."""

    objective: AbstractLoss
    start: PyTree

    def initial(self):
        """Where the descent starts."""
        return self.start

    def loss_and_gradient(self, params, step=0):
        """Differentiate the loss."""
        return jax.value_and_grad(self.objective.loss)(params)

    def view(self, params):
        """The loss, and the parameters now."""
        return DescentView(self.objective, params)

    def test_view(self, params):
        """The same: there is no test data."""
        return self.view(params)

    def probes(self):
        """The largest curvature and the smallest margin."""
        return (CURVATURE, MARGIN)


@eqx.filter_jit
def _curvature(objective: AbstractLoss, params: Any) -> Float[Array, ""]:
    return objective.curvature(params)


@dataclass(frozen=True)
class Descent:
    """A descent to the first perfect classification."""

    learning_rate: float
    steps: int | None
    """The first perfect step, or none within the limit."""
    curvatures: tuple[float, ...]
    r"""$\lambda_{max}$ at every step of the path, the last included."""
    margins: tuple[float, ...]
    params: Any

    @property
    def max_curvature(self) -> float:
        """The largest curvature on the path; not a number if any is not."""
        known = all(map(math.isfinite, self.curvatures))
        return max(self.curvatures) if known else math.nan


def descend_to_perfection(
    objective: AbstractLoss,
    params: Any,
    *,
    share: float = 1.0,
    limit: int = 1000,
    attempts: int = 8,
) -> Descent:
    r"""Descend with $\eta = 1/\max\lambda_{max}$ of the path until all labels are right.

    The path depends on $\eta$, so a descent that met a larger curvature than it assumed
    is repeated with that one. ``share`` makes the steps that much smaller.
    """
    assumed = float(_curvature(objective, params))
    for _ in range(attempts):
        descent = descend_at(objective, params, share / assumed, limit)
        # Written so that a curvature that is not a number ends the attempts.
        if not descent.max_curvature > assumed * (1 + 1e-9):
            break
        # A little more, so that the next path is not a rounding error short.
        assumed = 1.02 * descent.max_curvature
    return descent


def descend_at(
    objective: AbstractLoss, params: Any, learning_rate: float, limit: int
) -> Descent:
    """Descend at a learning rate until all labels are right, at most ``limit`` steps."""
    chunks = [*_descent(objective, params, learning_rate, limit, CHUNK, _has_ended)]
    curvatures, margins = (
        np.concatenate([chunk.records[name] for chunk in chunks])
        for name in ("curvature", "margin")
    )
    # A descent that left the finite numbers is not perfect, whatever its margin.
    perfect = math.isfinite(curvatures[-1]) and margins[-1] > 0
    return Descent(
        learning_rate,
        len(margins) - 1 if perfect else None,
        tuple(curvatures.tolist()),
        tuple(margins.tolist()),
        chunks[-1].state.params,
    )


def _has_ended(records: dict[str, np.ndarray]) -> np.ndarray:
    return ~np.isfinite(records["curvature"]) | (records["margin"] > 0)


def descent_states(
    objective: AbstractLoss, params: Any, learning_rate: float, limit: int
) -> Iterator[Chunk]:
    """Descend step by step, from step 0 on; curvature and margin at each of them."""
    return _descent(objective, params, learning_rate, limit, chunk=1, stop=None)


def _descent(
    objective: AbstractLoss,
    params: Any,
    learning_rate: float,
    limit: int,
    chunk: int,
    stop: Stop | None,
) -> Iterator[Chunk]:
    rule = at_rates(GD(), jnp.asarray(learning_rate))
    system = System(DescentForm(objective, params), rule)
    plan = Plan(np.arange(limit + 1), np.zeros(limit + 1, bool), chunk)
    return train(system, plan, system.start(), stop=stop)

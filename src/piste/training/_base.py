"""A form: one way to write down a model on its data, and train it."""

import abc
from dataclasses import dataclass
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Float, Int, PyTree

from piste.probes import Probe
from piste.probes.curvature import hessian_extremes


class AbstractForm(eqx.Module):
    """Data and weights of a run in one arithmetic: pure functions of the parameters.

    All forms of a model give the same training; they differ in what they store, in
    speed and in rounding.
    """

    @abc.abstractmethod
    def initial(self) -> PyTree:
        """The parameters before training."""

    @abc.abstractmethod
    def loss_and_gradient(
        self, params: PyTree, step: Int[Array, ""] | int = 0
    ) -> tuple[Float[Array, ""], PyTree]:
        """The training loss, and the gradient as the rule is to see it.

        The step matters only where every step has a batch of its own.
        """

    def evaluation_loss(self, params: PyTree) -> Float[Array, ""]:
        """The loss as a fixed function of the parameters, whatever the step's batch."""
        return self.loss_and_gradient(params)[0]

    def gradient(self, params: PyTree) -> PyTree:
        """The gradient of that fixed function; its derivative is the Hessian."""
        return self.loss_and_gradient(params)[1]

    @abc.abstractmethod
    def view(self, params: PyTree) -> Any:
        """What the probes see of the training data."""

    @abc.abstractmethod
    def test_view(self, params: PyTree) -> Any:
        """What the probes see of the test data; the training data where there is none."""

    @abc.abstractmethod
    def probes(self) -> tuple[Probe, ...]:
        """What can be measured in this form."""

    def apply(self, params: PyTree, updates: PyTree) -> PyTree:
        """Add a rule's updates to the parameters."""
        return optax.apply_updates(params, updates)

    def norm(self, gradient: PyTree) -> Float[Array, ""]:
        """Euclidean norm of the gradient of all weights."""
        squares = [jnp.sum(part**2) for part in jax.tree.leaves(gradient)]
        return jnp.sqrt(sum(squares, start=jnp.zeros((), squares[0].dtype)))

    def curvature(self, params: PyTree) -> Float[Array, ""]:
        """The largest curvature of the loss: of its Hessian, by Lanczos iteration."""
        return hessian_extremes(self.gradient, params).largest

    def unit(self) -> Float[Array, ""] | float:
        """The natural size of a change of a weight: the unit of absolute tolerances."""
        return 1.0

    def stiff(self, time: float) -> bool:
        """Whether the flow over a time needs an implicit solver."""
        return False

    def shares(self) -> int:
        """Devices that the work is shared out over; rounding depends on how many."""
        return 1

    def placed(self, state: "State") -> "State":
        """The state on the devices where a step leaves it: one program, not two."""
        return state

    def compiler_options(self) -> dict[str, int | bool]:
        """What the compiler of a chunk of training should be told."""
        return {}


class State(eqx.Module):
    """What the next step needs."""

    params: PyTree
    rule: PyTree
    step: Int[Array, ""]
    diverged: Int[Array, ""]
    """First step with a loss that is not finite or a flow that failed, or −1."""
    still: Int[Array, ""]
    """The first of the last records that all have the same weights; −1 if they move."""


@dataclass(frozen=True)
class InitialState:
    """What a run begins with: training data, test data and initial weights."""

    data: Any
    test: Any
    weights: Any

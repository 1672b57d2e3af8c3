"""A form: one way to write down a model on its data, and train it."""

import abc
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Float, Int, PyTree

from piste.probes import Probe


class AbstractForm(eqx.Module):
    """Data and weights of a run in one arithmetic: pure functions of the parameters.

    All forms of a model give the same training; they differ in what they store, in
    speed and in rounding.
    """

    @abc.abstractmethod
    def initial(self) -> PyTree:
        """The parameters before training."""

    @abc.abstractmethod
    def loss_and_gradient(self, params: PyTree) -> tuple[Float[Array, ""], PyTree]:
        """The training loss, and the gradient as the rule is to see it."""

    @abc.abstractmethod
    def view(self, params: PyTree) -> Any:
        """What the probes see of the training data."""

    @abc.abstractmethod
    def test_view(self, params: PyTree) -> Any:
        """What the probes see of the test data."""

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


class State(eqx.Module):
    """What the next step needs."""

    params: PyTree
    rule: PyTree
    step: Int[Array, ""]
    diverged: Int[Array, ""]
    """First step with a loss that is not finite, or −1."""

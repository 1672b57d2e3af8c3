"""A form: one way to write down a model on its data, and train it."""

import abc
from dataclasses import dataclass
from typing import Any

import equinox as eqx
from jaxtyping import Array, Float, Int, PyTree

from piste.probes import Probe


class AbstractForm(eqx.Module):
    """Data and weights of a run in one arithmetic: pure functions of the parameters.

    All forms of a model give the same training; they differ in what they store, in
    speed and in rounding. What some forms can do besides is in ``abilities.py``.
    """

    @abc.abstractmethod
    def initial(self) -> PyTree:
        """Give the parameters before training."""

    @abc.abstractmethod
    def loss_and_gradient(
        self, params: PyTree, step: Int[Array, ""] | int = 0
    ) -> tuple[Float[Array, ""], PyTree]:
        """Compute the training loss, and the gradient as the rule is to see it.

        The step matters only where every step has a batch of its own.
        """

    @abc.abstractmethod
    def view(self, params: PyTree) -> Any:
        """Give what the probes see of the training data."""

    @abc.abstractmethod
    def test_view(self, params: PyTree) -> Any:
        """Give what the probes see of the test data; the training data without any."""

    @abc.abstractmethod
    def probes(self) -> tuple[Probe, ...]:
        """Give what can be measured in this form."""


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

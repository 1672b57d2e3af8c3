"""The plainest form: the weights are the parameters, and a loss is differentiated."""

import abc
from collections.abc import Callable
from typing import Any, ClassVar, TypeVar

import equinox as eqx
import jax
from jaxtyping import Array, Float, PyTree

from piste.experiment import Experiment
from piste.probes import RARELY, Probe

from ._base import AbstractForm, InitialState
from .forms import form

V = TypeVar("V", bound="LossView")


class LossView(eqx.Module):
    """Weights with data, as the model and the task draw them, and their loss.

    This is all that a plain form needs: :func:`autodiff_form` makes one of it.
    """

    weights: PyTree
    data: PyTree

    @abc.abstractmethod
    def loss(self) -> Float[Array, ""]:
        """The loss of these weights on these data."""


class AutodiffForm(AbstractForm):
    """All weights as parameters; everything else is said by the class of the view."""

    view_class: ClassVar[type[LossView]]
    weights: PyTree
    data: PyTree
    test: PyTree

    @classmethod
    def build(
        cls, experiment: Experiment, start: InitialState, pad_for_batching: bool
    ) -> "AutodiffForm":
        """The form of a run; training data that stand for a test set are none."""
        test = None if start.test is start.data else start.test
        return cls(start.weights, start.data, test)

    def initial(self):
        """The weights as they were drawn."""
        return self.weights

    def loss_and_gradient(self, params, step=0):
        """Differentiate the view's loss."""
        return jax.value_and_grad(lambda weights: self.view(weights).loss())(params)

    def view(self, params):
        """The weights now, with the training data."""
        return self.view_class(params, self.data)

    def test_view(self, params):
        """The weights now, with the test data if there are any."""
        return self.view_class(params, self.data if self.test is None else self.test)

    def probes(self):
        """The loss on the training data, and on the test data if there are any."""
        return _LOSSES[:1] if self.test is None else _LOSSES


def _loss(view: LossView) -> Float[Array, ""]:
    return view.loss()


_LOSSES = (
    Probe("train_loss", "$L$", "training loss", _loss),
    Probe("test_loss", "$L_{test}$", "test loss", _loss, along=RARELY, on_test=True),
)


def autodiff_form(
    name: str, *, for_task: Any, for_model: Any, **more: Any
) -> Callable[[type[V]], type[V]]:
    """Register a form by its view alone: a :class:`LossView`.

    The loss is measured, also on the test data where the task has some;
    :func:`piste.probes.probe` adds whatever else there is to see. ``more`` is as for
    :func:`form`.
    """

    def add(view: type[V]) -> type[V]:
        # A class of its own in the view's module: the code of a run is that of the view.
        about = {"__module__": view.__module__, "view_class": view}
        kind = type(f"{view.__name__}Form", (AutodiffForm,), about)
        form(name, for_task=for_task, for_model=for_model, views=view, **more)(kind)
        return view

    return add

"""The multi-head layer on token regression, with gradients by autodiff."""

import dataclasses

import equinox as eqx
import jax

from piste.attention import KERNELS
from piste.experiment import Experiment
from piste.probes import jacobian_extremes
from piste.training import AbstractForm, InitialState, form

from ..models import (
    MATRICES,
    KernelLayer,
    KernelWeights,
    draw_data_and_weights,
    multi_head,
    squared_loss,
)
from ..probes import RegressionView, regression_probes
from ..tasks import RegressionData, TokenRegression
from .needs import regression_needs


@jax.jit
def _draw(task, model, seed):
    return draw_data_and_weights(task, model, seed=seed)


def _draw_initial_state(experiment: Experiment, loaded) -> InitialState:
    """Draw data and weights together, because targets may depend on the weights."""
    data, weights = _draw(experiment.task, experiment.model, experiment.seed)
    return InitialState(data, data, weights)


@form(
    "full",
    for_task=TokenRegression,
    for_model=KernelLayer,
    draw=_draw_initial_state,
    needs=regression_needs,
    views=RegressionView,
)
class RegressionForm(AbstractForm):
    """The trained matrices as parameters; all others keep their initial values."""

    weights: KernelWeights
    data: RegressionData
    kernel: str = eqx.field(static=True)
    train: str = eqx.field(static=True)

    @classmethod
    def build(
        cls, experiment: Experiment, start: InitialState, pad_for_batching: bool
    ) -> "RegressionForm":
        """Build the form of a run; all seeds have the same shapes."""
        assert isinstance(experiment.model, KernelLayer)
        return cls.of(experiment.model, start.data, start.weights)

    @staticmethod
    def of(
        model: KernelLayer, data: RegressionData, weights: KernelWeights
    ) -> "RegressionForm":
        """Build the form of a model from its data and its initial weights."""
        return RegressionForm(weights, data, model.kernel, model.train)

    def initial(self):
        """Trained matrices by name."""
        names = (MATRICES[letter] for letter in self.train)
        return {name: getattr(self.weights, name) for name in names}

    def loss_and_gradient(self, params, step=0):
        """Differentiate the squared error of all sequences."""
        return jax.value_and_grad(self._loss)(params)

    def _loss(self, params):
        return squared_loss(KERNELS[self.kernel], self.merged(params), self.data)

    def merged(self, params) -> KernelWeights:
        """Put the trained matrices among those that stay fixed."""
        return dataclasses.replace(self.weights, **params)

    def curvature(self, params):
        r"""$\sigma^2_{max}(J)$, the largest curvature of the Gauss–Newton matrix."""

        def outputs(params):
            kernel, weights = KERNELS[self.kernel], self.merged(params)
            return jax.vmap(lambda x: multi_head(kernel, weights, x))(self.data.tokens)

        return jacobian_extremes(outputs, params, self.data.targets.size).largest

    def view(self, params):
        """View of the current layer, its initial weights and its data."""
        weights = self.merged(params)
        return RegressionView(weights, self.weights, self.data, self.kernel, self.train)

    def test_view(self, params):
        """Same view, because there is no test data."""
        return self.view(params)

    def probes(self):
        """Probes of the loss, its gradient, features, Jacobians and trained matrices."""
        return regression_probes(self.train)

"""The multi-head layer on token regression: some matrices, gradients by autodiff."""

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
    begin,
    multi_head,
    squared_loss,
)
from ..probes import RegressionView, regression_probes
from ..tasks import RegressionData, TokenRegression
from .needs import regression_needs


@jax.jit
def _draw(task, model, seed):
    return begin(task, model, seed=seed)


def _start(experiment: Experiment, loaded) -> InitialState:
    """Data and weights together: targets may depend on the weights."""
    data, weights = _draw(experiment.task, experiment.model, experiment.seed)
    return InitialState(data, data, weights)


@form(
    "full",
    for_task=TokenRegression,
    for_model=KernelLayer,
    draw=_start,
    needs=regression_needs,
)
class RegressionForm(AbstractForm):
    """The trained matrices as parameters; all others stay where they began."""

    weights: KernelWeights
    data: RegressionData
    kernel: str = eqx.field(static=True)
    train: str = eqx.field(static=True)

    @classmethod
    def build(
        cls, experiment: Experiment, start: InitialState, pad_for_batching: bool
    ) -> "RegressionForm":
        """The form of a run; all seeds have the same shapes."""
        assert isinstance(experiment.model, KernelLayer)
        return cls.of(experiment.model, start.data, start.weights)

    @staticmethod
    def of(
        model: KernelLayer, data: RegressionData, weights: KernelWeights
    ) -> "RegressionForm":
        """The form of a model on the data and the weights that it begins with."""
        return RegressionForm(weights, data, model.kernel, model.train)

    def initial(self):
        """The trained matrices by name."""
        names = (MATRICES[letter] for letter in self.train)
        return {name: getattr(self.weights, name) for name in names}

    def loss_and_gradient(self, params, step=0):
        """Differentiate the squared error of all sequences."""
        return jax.value_and_grad(self._loss)(params)

    def _loss(self, params):
        return squared_loss(KERNELS[self.kernel], self.merged(params), self.data)

    def merged(self, params) -> KernelWeights:
        """All matrices, the trained ones as they are now."""
        return dataclasses.replace(self.weights, **params)

    def curvature(self, params):
        r"""$\sigma^2_{max}(J)$, the largest curvature of the Gauss–Newton matrix."""

        def outputs(params):
            kernel, weights = KERNELS[self.kernel], self.merged(params)
            return jax.vmap(lambda x: multi_head(kernel, weights, x))(self.data.tokens)

        return jacobian_extremes(outputs, params, self.data.targets.size).largest

    def view(self, params):
        """The layer now, where it began, and its data."""
        now = self.merged(params)
        return RegressionView(now, self.weights, self.data, self.kernel, self.train)

    def test_view(self, params):
        """The same: there is no test data."""
        return self.view(params)

    def probes(self):
        """The loss, its gradient, features, Jacobians and what is trained."""
        return regression_probes(self.train)

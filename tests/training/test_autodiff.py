"""A form that is a loss: its gradient, its probes, and whose code it is."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from piste.experiment import Experiment
from piste.models import AbstractModel, model
from piste.papers.kernels.forms.regression import RegressionForm
from piste.papers.kernels.models import KernelLayer
from piste.papers.kernels.tasks import TokenRegression
from piste.rules import GD
from piste.store import inputs_of, run_in_memory
from piste.tasks import AbstractTask, task
from piste.training import AbstractForm, LossView, autodiff_form, build, form
from piste.training.abilities import largest_curvature
from support.families import forgotten


@pytest.fixture
def line():
    """A task, a model and a loss of a straight line; what ``datasets`` gives is free."""
    with forgotten():

        @task("points")
        class Points(AbstractTask):
            tested: str = "apart"

            def datasets(self, loaded, *, seed):
                train, test = (
                    np.array([[1.0, 2.0], [2.0, 5.0]]),
                    np.array([[3.0, 6.0]]),
                )
                return train, {"apart": test, "same": train, "none": None}[self.tested]

        @model("line")
        class Line(AbstractModel):
            def draw_weights(self, task, *, key):
                return {"slope": np.zeros(()), "shift": np.zeros(())}

        @autodiff_form("full", for_task=Points, for_model=Line)
        class Squares(LossView):
            def loss(self):
                x, y = self.data.T
                error = self.weights["slope"] * x + self.weights["shift"] - y
                return jnp.mean(error**2) / 2

        yield lambda tested: Experiment(Points(tested), Line(), GD(0.1), steps=3)


def test_it_is_gradient_descent_on_the_loss(line):
    run = run_in_memory(line("apart"))
    slope = shift = 0.0
    x, y = np.array([1.0, 2.0]), np.array([2.0, 5.0])
    for step in range(4):
        error = slope * x + shift - y
        np.testing.assert_allclose(run.train_loss[step], (error**2).mean() / 2)
        slope, shift = slope - 0.1 * (error * x).mean(), shift - 0.1 * error.mean()
    assert float(run.test_loss[0]) == 18.0


@pytest.mark.parametrize("tested", ["same", "none"])
def test_training_data_are_no_test_data(line, tested):
    run = run_in_memory(line(tested))
    assert "test_loss" not in run and run.sizes["step"] == 4


def test_it_is_a_form_like_any_other(line):
    system = build(line("apart"))
    assert isinstance(system.form, AbstractForm)
    assert system.form.view_class.__module__ == type(system.form).__module__ == __name__
    with jax.enable_x64(True):
        largest = float(largest_curvature(system.form, system.form.initial()))
    gram = np.array([[2.5, 1.5], [1.5, 1.0]])
    np.testing.assert_allclose(largest, np.linalg.eigvalsh(gram)[-1], rtol=1e-6)


def test_code_of_a_form_counts_where_its_build_is_inherited():
    experiment = Experiment(TokenRegression(), KernelLayer(), GD())
    assert inputs_of(experiment).code == ""
    with forgotten():
        kinds = {"for_task": TokenRegression, "for_model": KernelLayer}

        @form("mine", **kinds, rank=lambda experiment: 0)
        class Mine(RegressionForm):
            pass

        assert inputs_of(experiment).code != ""
    assert inputs_of(experiment).code == ""

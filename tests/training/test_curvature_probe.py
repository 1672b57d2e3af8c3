"""Curvature along any run: the ends of the Hessian's spectrum, against a dense one."""

import jax
import numpy as np
import pytest
from jax.flatten_util import ravel_pytree

from piste import training
from piste.experiment import Experiment, Schedule
from piste.papers.decision_lists.models import OneHot
from piste.papers.decision_lists.tasks import DecisionLists
from piste.papers.kernels.models import KernelLayer
from piste.papers.kernels.tasks import TokenRegression
from piste.rules import GD
from piste.store import run_in_memory
from support.tiny import Tiny, TinyAttention

RECORD = Schedule(dense=4, chunk=4, test_every=4, curvature=True)
RUNS = {
    "tiny-attention": (Tiny(samples=3), TinyAttention(width=2, init_scale=2.0)),
    "one-hot": (DecisionLists(5, 2, 2), OneHot(init_scale=0.5)),
    "kernel-layer": (
        TokenRegression(sequences=2, length=2, dimension=3),
        KernelLayer(heads=2, width=2, kernel="gaussian"),
    ),
}


def experiment(name: str) -> Experiment:
    task, model = RUNS[name]
    rule = GD(learning_rate=0.01)
    return Experiment(task=task, model=model, rule=rule, steps=4, record=RECORD)


@pytest.mark.parametrize("name", RUNS)
def test_the_probe_is_the_dense_hessian_s_ends(name):
    run = run_in_memory(experiment(name))
    form = training.build(experiment(name)).form
    flat, unravel = ravel_pytree(form.initial())

    def loss(vector):
        return form.loss_and_gradient(unravel(vector))[0]

    ends = np.linalg.eigvalsh(jax.jit(jax.hessian(loss))(flat))[[0, -1]]
    np.testing.assert_allclose(run.hessian_extremes[0], ends, rtol=1e-6, atol=1e-9)
    assert run.hessian_extremes.dims == ("test_step", "end")

"""Stages of a regression by hand."""

import numpy as np
import xarray as xr

from piste.claims import Status, stages
from piste.papers.kernels import stages as convergence


def test_stages_of_a_regression():
    steps = [0, 1, 2, 4, 8, 16, 32]
    loss = xr.DataArray([4.0, 1e-1, 1e-3, 1e-9, 1e-9, 1e-9, 1e-9], dims="step")
    run = xr.Dataset({"train_loss": loss, "gradient_norm": loss * 0}, {"step": steps})
    found = stages(run)
    assert (found.step("falling"), found.step("converged")) == (2, 4)
    short = stages(run.isel(step=slice(4)))
    assert not short.stages and short.boundaries["falling"].status == Status.TOO_SHORT
    still = convergence.detect(run.assign(train_loss=loss * 0 + 1))
    assert np.isnan(still.step("falling"))
    assert [(s.name, s.end, s.open) for s in still.stages] == [("fitting", 32, True)]
    nothing = convergence.detect(run.assign(train_loss=loss * 0))
    assert nothing.boundaries["falling"].status == Status.DOES_NOT_APPLY

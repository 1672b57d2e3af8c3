"""Training from small random weights, on margins with known answers."""

import math

import numpy as np
import pytest
import xarray as xr

from piste.papers.decision_lists.results.random_weights import (
    first_perfect_steps,
    joint_verdict,
)
from support.decision_lists import HOLDS, OPEN, VIOLATED

NAN = math.nan


def runs(margins, losses=None) -> xr.Dataset:
    margins = np.atleast_2d(np.asarray(margins, float))
    losses = np.geomspace(1, 0.1, margins.shape[1]) if losses is None else losses
    both = {"margin": margins, "train_loss": np.broadcast_to(losses, margins.shape)}
    data = xr.Dataset({name: (("cell", "step"), v) for name, v in both.items()})
    return data.assign_coords(step=5 * np.arange(margins.shape[1]))


FLAT = [1.0, 0.5, 0.5, 0.5]


@pytest.mark.parametrize(
    ("data", "outcome"),
    [
        (runs([[-1, 0.5, 0.4, 1], [-1, -1, -1, 1]]), HOLDS),
        (runs([[-1, 0.5, 0.4, 1], [-1, -1, -1, -0.1]]), OPEN),  # still learning
        (runs([[-1, 0.5, 0.4, 1], [-1, -1, -1, -0.1]], FLAT), VIOLATED),
        (runs([[-1, -1, -1, -1]], FLAT), VIOLATED),
        (runs([[NAN, NAN, NAN, NAN]]), OPEN),
        (runs([[-1, 0.5, 1, 1], [-1, NAN, NAN, NAN]]), OPEN),
        (runs([[1, 1, 1, 1]]), OPEN),  # nothing to learn
        (runs([[1, 1, -1, -1]]), OPEN),
        (runs([[0.5]]), OPEN),
        (runs(np.zeros((1, 0))), OPEN),
        (runs(np.zeros((0, 4))), OPEN),
        (runs([[-1, -1, -1, -1]], [NAN] * 4), OPEN),
    ],
)
def test_small_random_weights(data, outcome):
    verdict = joint_verdict("here", data)
    assert verdict.outcome == outcome, verdict.sentence()
    assert verdict.margin is None


def test_a_run_that_never_is_perfect_is_counted():
    data = runs([[-1.0, 0.5, 0.4], [-1.0, -0.5, -0.1]])
    steps = first_perfect_steps(data)
    np.testing.assert_array_equal(steps, [5, NAN])
    none = first_perfect_steps(runs(np.zeros((2, 0))))
    assert np.isnan(none).all()

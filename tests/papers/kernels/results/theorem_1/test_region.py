"""Nearly convex, and moving a bit: both are asked for, and computed as runs have them."""

import dataclasses

import numpy as np
import pytest

from piste.claims import Outcome
from piste.papers.kernels import presets
from piste.papers.kernels.results.theorem_1.region import Region, relative_move
from piste.store import run_in_memory
from support.kernel_verdicts import GOOD, outcomes

MOVES = "Weights move a bit in the nearly convex region"


@pytest.mark.parametrize(
    ("changed", "outcome"),
    [
        ({"query_distance": 1.0}, Outcome.VIOLATED),
        ({"value_distance": 0.2}, Outcome.VIOLATED),
        ({"curvature_min": -0.2}, Outcome.VIOLATED),
        ({"loss": 1.0}, Outcome.INCONCLUSIVE),  # no run reaches zero loss
        ({"curvature_max": 0.0}, Outcome.INCONCLUSIVE),
        ({"curvature_min": np.nan}, Outcome.INCONCLUSIVE),
    ],
)
def test_a_bit_and_nearly_convex_are_both_asked_for(changed, outcome):
    data = GOOD["region"]
    changed = {name: 0 * data[name] + value for name, value in changed.items()}
    assert set(outcomes(MOVES, region=data.assign(changed))) == {outcome}


def test_weights_that_stay_where_they_are_do_not_move_a_bit():
    data = GOOD["region"]
    still = {f"{name}_distance": 0 * data.loss for name in ("query", "key", "value")}
    assert set(outcomes(MOVES, region=data.assign(still))) == {Outcome.VIOLATED}


def test_movement_by_hand():
    data = GOOD["region"].isel(cell=[0])
    # Each matrix moves 0.01; the norms are 1, 1 and 0.
    assert relative_move(data) == pytest.approx(0.01 * np.sqrt(3 / 2))
    assert relative_move(data, "query") == pytest.approx(0.01)
    assert np.isnan(relative_move(data, "value"))  # it starts at zero


@pytest.mark.slow
def test_movement_and_curvature_are_those_of_the_run():
    data = Region((4,), seeds=1, steps=3).part(0)
    experiment = dataclasses.replace(presets.thm_1_softmax(), seed=100, steps=3)
    model = dataclasses.replace(experiment.model, heads=4)
    record = dataclasses.replace(experiment.record, test_every=1, curvature=True)
    run = run_in_memory(dataclasses.replace(experiment, model=model, record=record))
    for name in ("query", "key", "value"):
        moved = run[f"{name}_distance"].sel(step=data.step).values
        np.testing.assert_allclose(data[f"{name}_distance"][0], moved, rtol=1e-6)
    ends = run.hessian_extremes.sel(test_step=data.step.values).values
    np.testing.assert_allclose(data.curvature_min[0], ends[:, 0], rtol=1e-6)
    np.testing.assert_allclose(data.curvature_max[0], ends[:, 1], rtol=1e-6)

"""Theorem 2 on descents with known numbers, much of it made to fool the judges."""

import math

import numpy as np
import pytest
import xarray as xr

from piste.papers.decision_lists.results.theorem_2 import all_sequences, support
from piste.papers.decision_lists.theory import CONDITIONS
from support.decision_lists import HOLDS, OPEN, UNMET, VIOLATED, dataset
from support.evidence import evidence_of

NAN = math.nan


JOINT = {
    "vocabulary": 64,
    "length": 32,
    "list_bound": 2,
    "possible_sets": 200,
    "delta": 0.01,
    "epsilon": 6.0,
    "scale": 1e6,
    "initial_loss": 3.5,
    "progress": 2.3,
    "learning_rate": 0.5,
    "shortest": 100.0,
    "longest": 1000.0,
    "perfect_step": 6.0,
    "start_size": 0.0,
    "other_sets": 300,
    "all_sets_step": 16.0,
    "last_step": 16,
    "tokens_right": 0.9999,
    "sets_right": 0.997,
    "repeated_tokens_right": 0.2,
    "repeated_right": 0.0,
    "travel": 4.6,
    "travel_needed": 27.0,
}


def joint(changes, met=None, curvature=(1.0, 2.0, 1.5)) -> xr.Dataset:
    """A descent with some numbers changed, and some conditions met or not."""
    sides, dims = np.ones((1, len(CONDITIONS))), ("cell", "condition")
    holds = {name: 1.0 for name in CONDITIONS} | (met or {})
    data = dataset(JOINT | changes).assign_coords(condition=list(CONDITIONS))
    return data.assign(
        curvature=(("cell", "step"), [list(curvature)]),
        met=(dims, [list(holds.values())]),
        left=(dims, sides),
        right=(dims, sides),
    )


SOLVABLE, _, _, SMALLEST_PROGRESS, SMALL_STEP = CONDITIONS


@pytest.mark.parametrize(
    ("data", "on_support", "on_sets", "on_all"),
    [
        (joint({}), HOLDS, HOLDS, VIOLATED),
        # The theorem says every T: the longest is not what counts.
        (
            joint({"perfect_step": 500.0, "all_sets_step": 500.0}),
            VIOLATED,
            VIOLATED,
            VIOLATED,
        ),
        (joint({"perfect_step": NAN, "all_sets_step": NAN}), OPEN, OPEN, VIOLATED),
        (joint({"perfect_step": 0.0, "all_sets_step": 0.0}), OPEN, OPEN, VIOLATED),
        (joint({"all_sets_step": NAN}), HOLDS, OPEN, VIOLATED),
        (joint({"initial_loss": NAN}), OPEN, OPEN, OPEN),
        # NaN is no proof that c has no solution, which an infinite c is.
        (joint({"scale": NAN}, {SOLVABLE: 0}), OPEN, OPEN, OPEN),
        (
            joint({"scale": np.inf, "shortest": NAN}, {SOLVABLE: 0}),
            UNMET,
            UNMET,
            UNMET,
        ),
        (joint({}, {SMALLEST_PROGRESS: 0}), UNMET, UNMET, UNMET),
        (joint({}, {SMALL_STEP: NAN}), UNMET, UNMET, UNMET),
        (joint({"start_size": 0.1}), UNMET, UNMET, UNMET),
        (joint({"delta": 0.0}), UNMET, UNMET, UNMET),
        (joint({"shortest": NAN}), OPEN, OPEN, OPEN),
        (joint({"travel_needed": 4.0}), HOLDS, HOLDS, OPEN),
        (joint({"travel": NAN}), HOLDS, HOLDS, OPEN),
    ],
)
def test_theorem_2(data, on_support, on_sets, on_all):
    evidence = evidence_of({"theorem-2": data})
    (verdict,) = support.CLAIMS[0].judge(evidence)
    assert verdict.outcome == on_support, verdict.sentence()
    found = all_sequences.CLAIMS[0].judge(evidence)
    assert [v.outcome for v in found] == [on_sets, on_all]


def test_theorem_2_says_both_ends_of_its_interval():
    (verdict,) = support.CLAIMS[0].judge(evidence_of({"theorem-2": joint({})}))
    assert verdict.numbers["shortest T"] == 100 and verdict.numbers["longest T"] == 1000
    assert verdict.margin == pytest.approx(0.94)


def test_a_curvature_that_grows_after_perfection_is_a_condition_that_is_not_met():
    data = joint({}, curvature=(1.0, 2.0, 2.1))
    found = all_sequences.CLAIMS[0].judge(evidence_of({"theorem-2": data}))
    assert found[0].outcome == UNMET
    assert [c.name for c in found[0].conditions if not c.met] == [
        "η ≤ 1/λ_max up to there"
    ]

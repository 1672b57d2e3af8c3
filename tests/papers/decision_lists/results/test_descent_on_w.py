"""Descent on W against the flow's bound in steps."""

import math

import pytest

from piste.papers.decision_lists.results.descent_on_w import descent_verdict
from support.decision_lists import FLOW, HOLDS, OPEN, UNMET, VIOLATED, dataset

NAN = math.nan


DESCENT = FLOW | {
    "share": 1.0,
    "limit": 100,
    "learning_rate": 0.5,
    "max_curvature": 2.0,
    "first_curvature": 1.0,
    "descent_start_size": 0.0,
    "steps": 4.0,
    "last_step": 4,
    "descent_time": 2.0,
}


@pytest.mark.parametrize(
    ("changes", "outcome"),
    [
        ({}, HOLDS),
        ({"steps": 10.0}, HOLDS),
        ({"steps": 11.0}, VIOLATED),
        ({"steps": NAN, "last_step": 10}, VIOLATED),
        ({"steps": NAN, "last_step": 9}, OPEN),
        ({"steps": NAN, "last_step": NAN}, OPEN),
        ({"steps": 0.0}, OPEN),
        ({"learning_rate": NAN}, OPEN),
        ({"max_curvature": NAN}, OPEN),
        ({"bound": NAN}, OPEN),
        ({"max_curvature": 2.1}, UNMET),
        ({"learning_rate": -0.5}, UNMET),
        ({"descent_start_size": 0.1}, UNMET),
        ({"value_scale": 9.0}, UNMET),
    ],
)
def test_descent_on_w(changes, outcome):
    verdict = descent_verdict(dataset(DESCENT | changes).isel(cell=0))
    assert verdict.outcome == outcome, verdict.sentence()
    if not changes:
        assert verdict.predicted.endswith("= 10")
        assert verdict.numbers["η t*/t* of the flow"] == 2
    # After one step the ratio would say nothing.
    one = dataset(DESCENT | {"steps": 1.0}).isel(cell=0)
    assert "η t*/t* of the flow" not in descent_verdict(one).numbers

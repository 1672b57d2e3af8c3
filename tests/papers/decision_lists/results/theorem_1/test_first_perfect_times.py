"""Theorem 1 on instances with known numbers, much of it made to fool the judge."""

import math

import numpy as np
import pytest

from piste.papers.decision_lists.results.theorem_1.first_perfect_times import (
    flow_verdict,
)
from support.decision_lists import (
    END,
    FLOW,
    HOLDS,
    LIMIT,
    OPEN,
    UNMET,
    VIOLATED,
    dataset,
)

NAN = math.nan


@pytest.mark.parametrize(
    ("changes", "outcome"),
    [
        ({}, HOLDS),
        ({"time": 5.1}, VIOLATED),
        ({"time": np.inf, "outcome": END, "ended": 5.0}, VIOLATED),
        # A solver that gave up before the bound shows nothing.
        ({"time": np.inf, "outcome": LIMIT, "ended": 0.3}, OPEN),
        ({"time": np.inf, "outcome": END, "ended": 4.9}, OPEN),
        ({"time": np.inf, "outcome": END, "ended": NAN}, OPEN),
        ({"time": NAN}, OPEN),
        ({"time": -1.0}, OPEN),
        ({"time": 0.0}, OPEN),
        ({"bound": NAN}, OPEN),
        ({"bound": np.inf}, OPEN),
        ({"start_size": NAN}, OPEN),
        ({"start_size": 0.1}, UNMET),
        ({"value_scale": 11.0}, UNMET),
        ({"delta": 0.0}, UNMET),
        ({"gamma": 0.0}, UNMET),
    ],
)
def test_theorem_1_on_an_instance(changes, outcome):
    verdict = flow_verdict(dataset(FLOW | changes).isel(cell=0))
    assert verdict.outcome == outcome, verdict.sentence()
    if outcome == HOLDS:
        assert verdict.margin == pytest.approx(0.8)


@pytest.mark.parametrize("name", ["start_size", "value_scale", "delta", "ended"])
def test_theorem_1_without_a_record_of_what_was_run(name):
    late = {"time": np.inf, "outcome": END} if name == "ended" else {}
    verdict = flow_verdict(dataset(FLOW | late, name).isel(cell=0))
    assert verdict.outcome == OPEN

"""Whether the sizes of a run leave room for Theorem 2."""

import dataclasses

import pytest
import xarray as xr

from piste.papers.decision_lists import presets
from piste.papers.decision_lists.results.theorem_2.short_sequences import room_verdict
from piste.papers.decision_lists.tasks import DecisionLists
from piste.values import to_json
from support.decision_lists import OPEN, UNMET


@pytest.mark.parametrize(
    ("task", "outcome", "words"),
    [
        (DecisionLists(6, 3, 2), UNMET, "no ε and A meet the conditions"),
        (DecisionLists(40, 19, 1), OPEN, "ε and A exist at this size"),
        (DecisionLists(40, 18, 1), UNMET, "the smallest n for m = 1 is 19"),
        (DecisionLists(40, 30, 1, distribution="iid"), UNMET, "no scale c"),
    ],
)
def test_short_sequences(task, outcome, words):
    run = xr.Dataset(
        attrs={"experiment": to_json(dataclasses.replace(presets.thm_1(), task=task))}
    )
    verdict = room_verdict(run)
    assert verdict.outcome == outcome and words in verdict.measured

"""V alone under uniform attention, on cosines and shares with known answers."""

import math

import numpy as np
import pytest
import xarray as xr

from piste.papers.decision_lists import presets
from piste.papers.decision_lists.results import value_alone
from piste.papers.decision_lists.tasks import DecisionLists
from support.decision_lists import HOLDS, OPEN, VIOLATED
from support.evidence import evidence_of

NAN = math.nan


def alone(cosine, accuracy=None, losses=None) -> xr.Dataset:
    cosine = np.asarray(cosine, float)
    accuracy = 0.4 * np.ones(cosine.size) if accuracy is None else accuracy
    losses = np.geomspace(2, 1, cosine.size) if losses is None else losses
    series = {
        "value_cosine_centred": cosine,
        "value_cosine": cosine,
        "accuracy": accuracy,
        "train_loss": losses,
    }
    data = xr.Dataset({n: (("cell", "step"), [list(v)]) for n, v in series.items()})
    return data.assign_coords(step=np.arange(cosine.size), seed=("cell", [0]))


@pytest.mark.parametrize(
    ("data", "turned", "needed"),
    [
        (alone([0.0, 0.5, 0.9]), HOLDS, HOLDS),
        (alone([0.0, 0.5, 0.7]), VIOLATED, HOLDS),
        (alone([0.9, 0.5, 0.0]), OPEN, HOLDS),
        (alone([0.9, 0.9, 0.9]), OPEN, HOLDS),
        (alone([0.0, NAN, NAN]), OPEN, HOLDS),
        (alone([0.0, 0.5, 0.9], accuracy=[0.1, NAN, 0.4]), HOLDS, OPEN),
        (alone([0.0, 0.5, 0.9], accuracy=[NAN] * 3), HOLDS, OPEN),
        (alone([0.0, 0.5, 0.9], accuracy=[0.1, 1.0, 0.4]), HOLDS, VIOLATED),
        # What was not trained shows nothing.
        (alone([0.0, 0.5, 0.9], accuracy=[0.0] * 3, losses=[2.0] * 3), OPEN, OPEN),
        (alone([0.0, 0.5, 0.9], losses=[NAN] * 3), OPEN, OPEN),
        (alone([0.9]), OPEN, OPEN),
        (alone([]), OPEN, OPEN),
    ],
)
def test_value_alone(data, turned, needed, monkeypatch):
    monkeypatch.setattr(value_alone, "ceiling", lambda seed: 0.5)
    claims = value_alone.CLAIMS
    found = [claims[i].judge(evidence_of({"value-alone": data}))[0] for i in (0, 1)]
    assert [v.outcome for v in found] == [turned, needed]
    # Shares and cosines have a ceiling, so a distance to it would say nothing.
    assert [v.margin for v in found] == [None, None]


def test_without_a_ceiling_attention_is_not_needed(monkeypatch):
    monkeypatch.setattr(value_alone, "ceiling", lambda seed: 1.0)
    claim = value_alone.CLAIMS[1]
    (verdict,) = claim.judge(evidence_of({"value-alone": alone([0.0, 0.5, 0.9])}))
    assert verdict.outcome == OPEN


def test_the_ceiling_is_that_of_the_task_that_is_trained():
    assert presets.value_alone().task == DecisionLists(8, 3, 2)
    assert 1 / 3 < value_alone.ceiling(0) < 1

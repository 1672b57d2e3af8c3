"""Whether perfection is kept: counted family by family, and drawn where it is lost."""

import math

import numpy as np
import pytest
import xarray as xr

from piste.papers.decision_lists.results.instances import RandomInstances
from piste.papers.decision_lists.results.theorem_1 import persistence
from piste.papers.decision_lists.results.theorem_1.persistence import Persistence
from support.decision_lists import FLOW, HOLDS, LIMIT, OPEN, VIOLATED, dataset
from support.evidence import evidence_of

NAN = math.nan


KEPT = FLOW | {
    "lost_from": NAN,
    "lost_to": NAN,
    "unknown_records": 0,
    "last_margin": 1.0,
    "horizon": 100.0,
    "resolution": 0.0023,
}
LOST = {"lost_from": 3.5, "lost_to": 49.0}


@pytest.mark.parametrize(
    ("changes", "outcome", "words"),
    [
        ({}, HOLDS, "0 of 1 lose it (95 %: 0.00% to 97.50%)"),
        (LOST, VIOLATED, "(8, 3, 2) from 3.5 to 49 t*"),
        (LOST | {"unknown_records": 7}, VIOLATED, "1 of 1"),
        ({"unknown_records": 7}, OPEN, "1 not followed"),
        ({"last_margin": NAN}, OPEN, "1 not followed"),
        ({"outcome": LIMIT}, OPEN, "1 not followed"),
        ({"unknown_records": NAN}, OPEN, "1 not followed"),
    ],
)
def test_perfection_is_kept(changes, outcome, words):
    (claim,) = persistence.CLAIMS
    (verdict,) = claim.judge(evidence_of({"persistence": dataset(KEPT | changes)}))
    assert verdict.outcome == outcome and words in verdict.measured
    assert "uniform sets, L 8, n 3, M 2" in verdict.instance
    assert "0.23%" in verdict.predicted


def test_families_are_judged_apart_and_a_chosen_instance_has_no_share():
    (claim,) = persistence.CLAIMS
    both = xr.concat(
        [dataset(KEPT), dataset(KEPT | LOST | {"distribution": "dirichlet-support"})],
        "cell",
    )
    chosen = dataset(
        KEPT | LOST | {"distribution": "dirichlet-support", "vocabulary": 24}
    )
    found = claim.judge(evidence_of({"persistence": both, "persistence-found": chosen}))
    assert [v.outcome for v in found] == [HOLDS, VIOLATED, VIOLATED]
    assert found[1].instance.startswith("some sets, Dirichlet weights")
    assert "%" in found[1].measured and "%" not in found[2].measured
    assert "chosen" in found[2].measured
    # One that keeps it after all shows nothing: it was chosen because it does not.
    kept = dataset(KEPT | {"distribution": "dirichlet-support", "vocabulary": 24})
    found = claim.judge(evidence_of({"persistence-found": kept}))
    assert found[0].outcome == OPEN
    unknown = evidence_of({"persistence": dataset(KEPT, "unknown_records")})
    assert claim.judge(unknown)[0].outcome == OPEN
    empty = dataset(KEPT).isel(cell=slice(0))
    assert [v.outcome for v in claim.judge(evidence_of({"persistence": empty}))] == [
        OPEN
    ]


def test_a_lost_order_is_found_between_two_records():
    draws = RandomInstances(count=1)
    path = Persistence(draws, horizon=3.0, records=5)
    found = path.summary(np.array([1.0, -0.1, 0.0, 0.5, 0.7]))
    assert (found["lost_from"], found["lost_to"]) == tuple(path.multiples()[[1, 2]])
    assert found["unknown_records"] == 0 and found["last_margin"] == 0.7
    kept = path.summary(np.array([1.0, 1.0, np.nan, np.nan, np.nan]))
    assert np.isnan(kept["lost_from"]) and kept["unknown_records"] == 3

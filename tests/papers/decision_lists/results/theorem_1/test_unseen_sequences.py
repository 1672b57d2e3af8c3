"""Sets of probability 0 after the flow: right, not right yet, or tied for ever."""

import math

import pytest
import xarray as xr

from piste.papers.decision_lists.results.theorem_1 import unseen_sequences
from piste.papers.decision_lists.results.theorem_1.unseen_sequences import MEASURES
from support.decision_lists import FLOW, HOLDS, OPEN, VIOLATED, dataset
from support.evidence import evidence_of

NAN = math.nan


def unseen(all_sets, sets=(1.0, 1.0, 1.0), tied=False, others=9) -> xr.Dataset:
    row = FLOW | {"distribution": "support", "other_sets": others, "tied": tied}
    looks = dict(zip(MEASURES, (all_sets, sets, sets, sets), strict=True))
    data = dataset(row).assign_coords(multiple=[1.01, 10.0, 100.0])
    return data.assign({n: (("cell", "multiple"), [list(v)]) for n, v in looks.items()})


@pytest.mark.parametrize(
    ("data", "outcome"),
    [
        (unseen((1, 2, 3)), HOLDS),
        (unseen((-1, -1, 3), (0.7, 0.7, 1)), HOLDS),
        (unseen((-1, -2, -3), (0.7, 0.7, 0.7)), OPEN),
        (unseen((-1, -2, -3), (0.7, 0.7, 0.7), tied=True), VIOLATED),
        # Rounding makes a lead out of a tie.
        (unseen((0, 1e-17, 1e-16), (0.7, 0.7, 0.7)), OPEN),
        (unseen((NAN, NAN, NAN)), OPEN),
        (unseen((1, 2, 3), others=0), OPEN),
        (unseen((3, 2, -1)), OPEN),
    ],
)
def test_sets_of_probability_0(data, outcome):
    (claim,) = unseen_sequences.CLAIMS
    (verdict,) = claim.judge(evidence_of({"unseen": data}))
    assert verdict.outcome == outcome, verdict.sentence()

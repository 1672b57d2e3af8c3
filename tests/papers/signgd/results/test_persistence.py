"""The stages beyond the paper: what counts as lost, and what leaves it open."""

import pytest

from papers.signgd.judging import variant
from piste.claims import Outcome, Status
from piste.papers.signgd.results.persistence import judge_variant


@pytest.mark.parametrize(
    ("status", "outcome"),
    [
        (Status.FOUND, Outcome.HOLDS),
        (Status.LOST, Outcome.VIOLATED),
        (Status.NOT_REACHED, Outcome.VIOLATED),
        (Status.TOO_SHORT, Outcome.INCONCLUSIVE),
        (Status.NOT_MEASURED, Outcome.INCONCLUSIVE),
    ],
)
def test_what_persists(status, outcome):
    assert judge_variant(variant(status)).outcome == outcome

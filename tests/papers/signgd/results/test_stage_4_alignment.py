"""When the alignments of stage IV begin: judged, and no finer than the records."""

import dataclasses

import pytest

from papers.signgd.judging import judge_one
from piste.claims import Boundary, Outcome, Status
from piste.papers.signgd.results.stage_4_alignment import judge_successions
from piste.papers.signgd.stages import detect


def test_the_slides_order_of_turns_is_judged_and_not_assumed(run):
    claim = "IV: one alignment begins when the other is complete"
    judgement = judge_one(run, claim)
    timeline = detect(run)
    turns = [timeline.step(name) for name in ("IVb starts", "IVc starts")]
    done = [timeline.step(name) for name in ("IVa is o(1)", "IVb ends")]
    outcomes = [verdict.outcome for verdict in judgement.verdicts]
    assert outcomes == [
        Outcome.HOLDS if t >= d else Outcome.VIOLATED
        for t, d in zip(turns, done, strict=True)
    ]


@pytest.mark.parametrize(
    ("turn", "outcome"),
    [
        ((300, 320, 340), Outcome.HOLDS),
        ((200, 260, 320), Outcome.INCONCLUSIVE),  # done between 200 and 300
        ((100, 150, 200), Outcome.VIOLATED),
    ],
)
def test_turns_are_no_finer_than_their_records(run, turn, outcome):
    since, met, until = turn
    timeline = detect(run)
    coarse = {
        "IVa is o(1)": Boundary("", "", Status.FOUND, "", 300, 200),
        "IVb starts": Boundary("", "", Status.FOUND, "", met, since, until),
    }
    boundaries = timeline.boundaries | coarse
    timeline = dataclasses.replace(timeline, boundaries=boundaries)
    assert judge_successions(run, timeline)[0].outcome == outcome

"""Verdicts say what happened, on both sides of a threshold."""

import json

import pytest

from piste.claims import Claim, Judgement, Outcome, Verdict, compare, judge


@pytest.mark.parametrize(
    ("measured", "limits", "outcome", "margin"),
    [
        (0.5, {"most": 1.0}, Outcome.HOLDS, 0.5),
        (1.5, {"most": 1.0}, Outcome.VIOLATED, -0.5),
        (3.0, {"least": 2.0}, Outcome.HOLDS, 0.5),
        (1.0, {"least": 2.0}, Outcome.VIOLATED, -0.5),
        (2.0, {"least": 2.0}, Outcome.HOLDS, 0.0),
    ],
)
def test_compare(measured, limits, outcome, margin):
    verdict = compare("seed 0", measured, predicted="", **limits)
    assert verdict.outcome == outcome
    assert verdict.margin == pytest.approx(margin)


def judgement(*outcomes):
    verdicts = tuple(Verdict("i", outcome, "p", "m") for outcome in outcomes)
    return Judgement(Claim("name", "statement", lambda evidence: verdicts), verdicts)


def test_words_count_mixed_instances():
    mixed = judgement(Outcome.HOLDS, Outcome.VIOLATED, Outcome.UNMET, Outcome.HOLDS)
    assert mixed.words() == "holds 2 of 3" and mixed.in_part
    assert judgement(Outcome.VIOLATED, Outcome.VIOLATED).words() == "violated"
    assert judgement(Outcome.UNMET).words() == "conditions unmet"


def test_signs_differ_without_colour():
    assert len({outcome.sign for outcome in Outcome}) == len(Outcome)


def test_judge_gives_plain_data():
    claim = judgement(Outcome.HOLDS).claim
    (found,) = judge([claim], {})
    data = json.loads(json.dumps(found.to_json()))
    assert data["verdict"] == "holds" and data["instances"][0]["predicted"] == "p"

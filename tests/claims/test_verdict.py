"""Verdicts say what happened, on both sides of a threshold."""

import json

import numpy as np
import pytest
import xarray as xr

from piste.claims import (
    Claim,
    Condition,
    Judgement,
    Judgements,
    Outcome,
    Verdict,
    compare,
    compare_pairs,
    compare_range,
    decide,
    differences,
    judge,
    sign_test,
)
from piste.errors import InputError


@pytest.mark.parametrize(
    ("measured", "limits", "outcome", "margin"),
    [
        (0.5, {"maximum": 1.0}, Outcome.HOLDS, 0.5),
        (1.5, {"maximum": 1.0}, Outcome.VIOLATED, -0.5),
        (3.0, {"minimum": 2.0}, Outcome.HOLDS, 0.5),
        (1.0, {"minimum": 2.0}, Outcome.VIOLATED, -0.5),
        (2.0, {"minimum": 2.0}, Outcome.HOLDS, 0.0),
    ],
)
def test_compare(measured, limits, outcome, margin):
    verdict = compare("seed 0", measured, predicted="", **limits)
    assert verdict.outcome == outcome
    assert verdict.margin == pytest.approx(margin)


LIMITS = ({"maximum": 1.0}, {"minimum": -1.0})


@pytest.mark.parametrize("limits", LIMITS)
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_a_number_that_is_none_never_agrees(limits, bad):
    for measured in (bad, [0.0, bad], np.array([[0.0, bad], [0.5, 0.5]])):
        verdict = compare("run", measured, predicted="", **limits)
        assert verdict.outcome == Outcome.INCONCLUSIVE and verdict.margin is None
    assert "1 of 4 numbers" in verdict.measured


@pytest.mark.parametrize("limits", LIMITS)
def test_nothing_at_all_never_agrees(limits):
    verdict = compare("run", [], predicted="", **limits)
    assert verdict.outcome == Outcome.INCONCLUSIVE
    assert verdict.measured == "nothing was measured"


def test_of_several_numbers_the_worst_decides():
    assert (
        compare("i", [0.5, 2.0], maximum=1.0, predicted="").outcome == Outcome.VIOLATED
    )
    assert compare("i", [0.5, 2.0], minimum=0.4, predicted="").outcome == Outcome.HOLDS
    assert (
        compare("i", [0.5, 2.0], minimum=1.0, predicted="").outcome == Outcome.VIOLATED
    )


def test_conditions_come_before_needs_and_both_before_the_number():
    asked = Condition("HD ≥ Nn", False, "4 against 8")
    trained = Condition("training loss ≤ 0.01", False, "0.3")
    for holds in (0.0, 2.0):
        unmet = compare(
            "i", holds, maximum=1.0, predicted="", conditions=[asked], needs=[trained]
        )
        assert unmet.outcome == Outcome.UNMET and "HD ≥ Nn" in unmet.measured
        early = compare("i", holds, maximum=1.0, predicted="", needs=[trained])
        assert early.outcome == Outcome.INCONCLUSIVE
        assert "needs training loss ≤ 0.01: 0.3" in early.measured
        assert early.margin is None and early.conditions == (trained,)
    said = decide("i", True, predicted="", measured="yes", needs=[trained])
    assert said.outcome == Outcome.INCONCLUSIVE and said.measured.startswith("yes (")


def test_a_bounded_quantity_and_a_limit_of_zero_have_no_margin():
    share = compare("i", 1.0, minimum=0.9, predicted="", bounded=True)
    assert share.outcome == Outcome.HOLDS and share.margin is None
    assert compare("i", -1.0, maximum=0.0, predicted="").margin is None


def test_what_records_leave_open_is_inconclusive():
    ends = [(0.1, 0.2), (0.2, 0.9), (0.8, 0.9)]
    found = [compare_range("i", *e, maximum=0.5, predicted="") for e in ends]
    outcomes = [verdict.outcome for verdict in found]
    assert outcomes == [Outcome.HOLDS, Outcome.INCONCLUSIVE, Outcome.VIOLATED]
    assert "too coarse" in found[1].measured and found[1].margin is None
    assert found[0].measured == "between 0.1 and 0.2"
    upward = [compare_range("i", *e, minimum=0.5, predicted="").outcome for e in ends]
    assert upward == [Outcome.VIOLATED, Outcome.INCONCLUSIVE, Outcome.HOLDS]
    missing = compare_range("i", np.nan, np.nan, maximum=0.5, predicted="")
    assert missing.outcome == Outcome.INCONCLUSIVE


def recorded(values, steps=None):
    steps = range(len(values)) if steps is None else steps
    return xr.DataArray(np.array(values, float), dims="step", coords={"step": steps})


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (recorded([1, np.nan]), recorded([1, np.nan])),
        (recorded([1, 2, 3]), recorded([1, 2])),
        (recorded([1, 2]), recorded([1, 2], [0, 5])),
        (recorded([]), recorded([])),
    ],
)
def test_series_that_cannot_be_compared_do_not_agree(first, second):
    verdict = compare("i", differences(first, second), maximum=0.0, predicted="")
    assert verdict.outcome == Outcome.INCONCLUSIVE


def test_series_that_can():
    same = differences(recorded([1, 2]), recorded([1, 2]))
    assert compare("i", same, maximum=0.0, predicted="").outcome == Outcome.HOLDS
    other = differences(recorded([1, 2]), recorded([1, 2.5]))
    assert compare("i", other, maximum=0.0, predicted="").outcome == Outcome.VIOLATED


def test_sign_test_by_hand():
    found = sign_test([1, 1, 1, 5, 2, np.nan], [2, 2, 2, 1, 2, 3])
    assert (found.lower, found.higher, found.ties, found.missing) == (3, 1, 1, 1)
    assert found.p_value() == pytest.approx(2 * (1 + 4) / 16)
    assert found.p_value("lower") == pytest.approx(5 / 16)
    assert found.p_value("higher") == pytest.approx(15 / 16)
    assert (
        "one-sided" in found.summary_text("lower")
        and "two-sided" in found.summary_text()
    )


def test_lists_of_other_lengths_have_no_pairs():
    with pytest.raises(InputError, match="first = 1 numbers: must be as long"):
        sign_test([1.0], [])


def test_three_of_three_is_called_what_it_is():
    found = compare_pairs("i", [1, 1, 1], [2, 2, 2], predicted="x", side="lower")
    assert "one-sided sign test, p = 0.125)" in found.measured
    assert found.measured.endswith("; 5 that all agree would decide")
    found = compare_pairs("i", [1] * 6, [2] * 6, predicted="x")
    assert found.measured.endswith("p = 0.0312)")


@pytest.mark.parametrize(
    ("lower", "higher", "side", "outcome"),
    [
        (3, 0, "lower", Outcome.INCONCLUSIVE),  # p = 0.125
        (5, 0, "lower", Outcome.HOLDS),  # p = 0.031
        (5, 0, "two-sided", Outcome.INCONCLUSIVE),  # p = 0.0625
        (6, 0, "two-sided", Outcome.HOLDS),
        (0, 6, "two-sided", Outcome.VIOLATED),
        (0, 5, "lower", Outcome.VIOLATED),
        (0, 0, "two-sided", Outcome.INCONCLUSIVE),
    ],
)
def test_a_split_that_chance_could_make_decides_nothing(lower, higher, side, outcome):
    first = [0.0] * lower + [2.0] * higher
    verdict = compare_pairs("i", first, [1.0] * len(first), predicted="x", side=side)
    assert verdict.outcome == outcome


def test_a_pair_without_a_number_is_no_evidence():
    first = [0.0] * 9 + [np.nan]
    verdict = compare_pairs("i", first, [1.0] * 10, predicted="x")
    assert verdict.outcome == Outcome.INCONCLUSIVE
    assert "1 without a number" in verdict.measured


def judgement(*outcomes):
    verdicts = tuple(Verdict("i", outcome, "p", "m") for outcome in outcomes)
    return Judgement(Claim("name", "statement", lambda evidence: verdicts), verdicts)


def test_words_count_mixed_instances():
    mixed = judgement(Outcome.HOLDS, Outcome.VIOLATED, Outcome.UNMET, Outcome.HOLDS)
    assert mixed.summary_text() == "holds 2 of 3, 1 conditions unmet" and mixed.in_part
    half = judgement(Outcome.HOLDS, Outcome.INCONCLUSIVE)
    assert half.summary_text() == "holds 1 of 1, 1 inconclusive" and not half.in_part
    assert half.outcome == Outcome.INCONCLUSIVE
    assert judgement().summary_text() == "inconclusive: nothing to judge"
    assert judgement(Outcome.VIOLATED, Outcome.VIOLATED).summary_text() == "violated"
    assert judgement(Outcome.UNMET).summary_text() == "conditions unmet"


def test_signs_differ_without_colour():
    assert len({outcome.sign for outcome in Outcome}) == len(Outcome)


def test_judge_gives_plain_data():
    claim = judgement(Outcome.HOLDS).claim
    (found,) = judge([claim], {})
    data = json.loads(json.dumps(found.to_json()))
    assert data["verdict"] == "holds" and data["instances"][0]["predicted"] == "p"


def test_judgements_print_as_a_table():
    found = Judgements([judgement(Outcome.HOLDS), judgement(Outcome.VIOLATED)])
    lines = str(found).splitlines()
    assert lines[0].split("  ")[0] == "claim" and "margin" in lines[0]
    assert [line.split()[1] for line in lines[1:]] == ["✓", "✗"]
    assert repr(found[0]) == str(Judgements(found[:1]))
    odd = Judgement(Claim("<b>", "", lambda evidence: ()), ())
    assert "&lt;b&gt;" in odd._repr_html_() and "<b>" not in odd._repr_html_()
    assert isinstance(judge([odd.claim], {}), Judgements)

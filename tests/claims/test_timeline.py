"""Crossings on series whose answer is known by construction."""

import numpy as np
import pytest
import xarray as xr

from piste.claims import Crossing, Status, Turning, stages
from piste.claims.stage_rules import Span, find_boundaries, timeline_of


def series(values, steps=None):
    steps = np.arange(len(values)) if steps is None else steps
    return xr.DataArray(np.array(values, float), dims="step", coords={"step": steps})


def find(values, steps=None, rule=None, found=None, **options):
    rule = rule or Crossing("x", "x", "x", 1.0, **options)
    return rule.find(xr.Dataset({"x": series(values, steps)}), found or {})


def test_a_crossing_must_last_and_says_how_long():
    assert find([0, 0, 2, 2, 2, 2]).met == 2
    assert find([0, 0, 2, 2, 2, 2]).sentence() == (
        "x: 0 at t = 1, then 2 at t = 2 (threshold 1)"
    )
    # Three records are needed however short the time is.
    short = find([0, 0, 0, 0, 2, 2])
    assert short.status == Status.TOO_SHORT and short.step is None
    assert short.evidence == (
        "2 at t = 4 (threshold 1), but too few records to tell: 2, and it must last "
        "over 3 records"
    )
    # A quarter of the time that it took: 100 must last to 125.
    late = find([0, 2, 2, 2], [0, 100, 110, 120])
    assert late.status == Status.TOO_SHORT and "t = 125" in late.evidence
    assert find([0, 2, 2, 2], [0, 100, 110, 125]).met == 100


def test_one_record_on_the_right_side_is_no_boundary():
    flicker = find([0, 2, 0, 0, 0, 0])
    assert flicker.status == Status.LOST and flicker.step is None
    assert (
        "2 at t = 1 (threshold 1), but 0 at t = 2 and 0 at the end" == flicker.evidence
    )
    assert find([0, 2, 0, 2, 2, 2]).met == 3
    assert find([0, 2, 0, 0, 0, 0], to_end=False, lasts=1.0).status == Status.LOST
    passing = find([0, 2, 2, 2, 2, 0, 0], to_end=False, lasts=1.0)
    assert passing.met == 1 and find([0, 2, 2, 2, 2, 0, 0]).status == Status.LOST


@pytest.mark.parametrize("threshold", [0.0, 1.0])
def test_a_strict_rule_must_be_above_its_threshold_and_not_only_reach_it(threshold):
    data = xr.Dataset({"x": series(threshold + np.array([-1, 0, 0.5, 0.5, 0.5]))})
    reached = Crossing("x", "x", "x", threshold).find(data, {})
    above = Crossing("x", "x", "x", threshold, strict=True).find(data, {})
    assert (reached.met, above.met) == (1, 2)
    assert f"(threshold {threshold:g})" in above.evidence


def test_a_strict_rule_above_zero_agrees_with_the_smallest_positive_threshold():
    tiny = float(np.finfo(float).tiny)
    for values in ([-1, 0, 0, 1e-300, 1, 2], [0, 0, 0, 0], [-1, 1, 2, 3], [1, 0, 1, 0]):
        data = xr.Dataset({"x": series(values)})
        strict = Crossing("x", "x", "x", 0.0, strict=True).find(data, {})
        smallest = Crossing("x", "x", "x", tiny).find(data, {})
        assert (strict.met, strict.status) == (smallest.met, smallest.status)


def test_what_is_not_reached_says_how_near_it_came():
    low = find([0.1, 0.699, 0.2], [0, 212, 600])
    assert low.evidence == "at most 0.699 at t = 212, threshold 1, up to t = 600"
    high = find([5, 2, 3], [0, 7, 9], rising=False)
    assert high.evidence == "at least 2 at t = 7, threshold 1, up to t = 9"
    assert {low.status, high.status} == {Status.NOT_REACHED}
    assert find([1, 2, 2, 2]).evidence == "1 at t = 0 already (threshold 1)"


def test_the_resolution_of_the_records_is_part_of_a_boundary():
    coarse = find([0, 0, 2, 2, 2, 2], [0, 500, 1000, 1500, 2000, 2500])
    assert coarse.when() == "between 500 and 1,000"
    assert find([0, 0, 2, 2, 2, 2]).when() == "2"


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_what_is_no_number_is_not_measured(bad):
    for place in range(4):
        values = [0.0, 2.0, 2.0, 2.0]
        values[place] = bad
        found = find(values)
        assert found.status == Status.NOT_MEASURED and found.met is None
        assert f"t = {place}" in found.evidence
    assert find([]).status == Status.NOT_MEASURED
    missing = Crossing("x", "x", "y", 1.0).find(xr.Dataset({"x": series([1.0])}), {})
    assert missing.evidence == "not measured: the run has no y"


def test_of_two_windows_the_one_in_order_counts():
    rule = Crossing("b", "b", "x", 1.0, to_end=False, lasts=0.0, after=("a",))
    first = find([0, 0, 0, 0, 2, 2, 2, 2, 2, 2])
    values = [2, 2, 2, 0, 0, 0, 2, 2, 2, 0]
    assert find(values, rule=rule, found={"a": first}).step == 6
    early = find([2, 2, 2, 0, 0, 0, 0, 0, 0, 0], rule=rule, found={"a": first})
    assert early.status == Status.OUT_OF_ORDER and early.met == 0


def test_order_is_kept():
    first = find([0, 0, 0, 2, 2, 2, 2])
    rule = Crossing("b", "b", "x", 1.0, after=("a",))
    early = find([0, 2, 2, 2, 2, 2, 2], rule=rule, found={"a": first})
    assert early.status == Status.OUT_OF_ORDER and (early.met, early.step) == (1, None)
    assert early.evidence.endswith("before a (t = 3)")
    missing = find([0, 2, 2, 2], rule=rule, found={"a": find([0, 0, 0])})
    assert missing.status == Status.NEEDS_EARLIER and missing.step is None
    assert missing.evidence.startswith("needs a, which was not found")
    same = find([0, 0, 0, 2, 2, 2, 2], rule=rule, found={"a": first})
    assert same.status == Status.FOUND


def test_two_between_the_same_records_may_have_come_in_either_order():
    steps = [0, 100, 200, 300, 400]
    first = find([0, 2, 2, 2, 2], steps)
    rule = Crossing("b", "b", "x", 1.0, after=("a",))
    same = find([0, 2, 2, 2, 2], steps, rule=rule, found={"a": first})
    assert same.status == Status.TOO_COARSE and (same.met, same.step) == (100, None)
    assert same.evidence.endswith("in the same gap of the records as a")
    later = find([0, 0, 2, 2, 2], steps, rule=rule, found={"a": first})
    assert later.status == Status.FOUND and later.when() == "between 100 and 200"


def test_a_stage_that_is_called_as_its_boundary_shows_why_it_is_missing():
    loss = series(np.linspace(1, 0.5, 9))
    run = xr.Dataset({"train_loss": loss, "gradient_norm": loss})
    found = stages(run)
    assert found.missing["falling"] == "needs the end of fitting: not reached"
    assert "at least 0.5 at t = 8" in found.boundaries["falling"].evidence
    assert found.missing["converged"] != found.missing["falling"]


def turn(values, steps=None):
    rule = Turning("x", "x", "x", "a")
    return find(values, steps, rule=rule, found={"a": find([2, 2, 2])})


def test_a_turn_is_a_fall_and_a_rise_that_stays():
    assert turn([0, -1, -2, -1, 3]).met == 2
    assert "still falling" in turn([0, -1, -2, -3]).evidence
    late = turn([-3, -2, -1, 0])
    assert late.evidence.endswith("the end of a: it does not fall after that")
    # A noise that freezes (its gradient underflowed) has not turned.
    frozen = turn([0, -1, -2, -1.9999, -1.9999, -1.9999])
    assert frozen.status == Status.NOT_REACHED and "stands still" in frozen.evidence
    # Nor has one that rises and falls back, and it does not stand still.
    back = turn([0, -1, -2, -1, -1.95])
    assert back.status == Status.NOT_REACHED and "does not stay up" in back.evidence
    assert turn([np.nan, -1, -2, -1]).status == Status.NOT_MEASURED


def test_a_turn_that_has_only_begun_is_not_told_from_a_standstill():
    begun = turn([0, -1, -2, -1.99, -1.95])
    assert begun.status == Status.TOO_SHORT and begun.met is None
    assert begun.evidence == (
        "lowest at t = 2 (-2), and only 0.05 higher at t = 4: it must rise by 10 %, and "
        "the run is too short to tell"
    )


def test_a_turn_lies_on_either_side_of_the_lowest_record():
    """Recorded every 40 steps it looks lowest at 560, and is at 574."""
    t = np.arange(0, 1201, 40)
    coarse = turn(np.abs(t - 574.0) - 600, t)
    assert coarse.met == 560 and coarse.when() == "between 520 and 600"
    t = np.arange(0, 1201)
    assert turn(np.abs(t - 574.0) - 600, t).when() == "574"
    assert turn([0, -1, -2, -1, 3], [0, 1, 2, 3, 9]).when() == "2"
    assert turn([0, -1, -2, -1, 3], [0, 1, 2, 5, 9]).when() == "between 1 and 5"
    assert turn([0, -1, -2, -1, 3], [0, 1, 7, 8, 9]).when() == "between 1 and 8"


def test_a_run_without_stages_is_a_good_run():
    timeline = stages(xr.Dataset({"odd": series([1, 2])}))
    assert timeline.stages == () and "no stages are defined" in str(timeline)
    assert "no stages" in timeline._repr_html_() and len(timeline.frame()) == 0


# --- stages of no length, stages that last, and what is said of them ------------------


def spans(*given: Span, **boundaries):
    """The timeline of some spans between crossings of 1 by series of numbers."""
    steps = boundaries.pop("steps", None)
    length = max(len(values) for values in boundaries.values())
    steps = np.arange(length) if steps is None else steps
    data = {name: series(values, steps) for name, values in boundaries.items()}
    rules = [Crossing(name, name, name, 1.0) for name in boundaries]
    found = find_boundaries(rules, xr.Dataset(data))
    return timeline_of(given, found, int(steps[-1]))


ONE_AND_TWO = Span("one", "before a", end="a"), Span("two", "from a to b", "a", "b")


def test_a_stage_that_is_over_at_the_start_is_no_stage():
    timeline = spans(*ONE_AND_TWO, a=[2, 2, 2, 2], b=[0, 2, 2, 2])
    assert [stage.name for stage in timeline.stages] == ["two"]
    assert timeline.missing["one"] == (
        "it is over before it begins: a: 2 at t = 0 already (threshold 1)"
    )
    assert [row[0] for row in timeline.rows()] == ["one", "two"]
    assert str(timeline).splitlines()[0].startswith("one  not found: it is over")


def test_a_stage_lasts_longer_than_the_records_are_apart():
    values = [0, 2, 2, 2]
    timeline = spans(*ONE_AND_TWO, a=values, b=values, steps=np.arange(0, 40, 10))
    assert [stage.name for stage in timeline.stages] == ["one"]
    assert timeline.missing["two"] == (
        "it begins and ends between 0 and 10: the records are too coarse to show it"
    )
    timeline = spans(*ONE_AND_TWO, a=values, b=values)
    assert timeline.missing["two"] == "it begins and ends at t = 1"


@pytest.mark.parametrize("values", [[0, 0, 0, 0], [0, 2, 2, 0]])
def test_a_state_that_a_run_never_leaves_is_open_to_the_end(values):
    timeline = spans(Span("one", "before a", end="a", stays=True), a=values)
    (stage,) = timeline.stages
    assert stage.when() == "t = 0 … 3 (end of the run)"
    timeline = spans(Span("one", "before a", end="a", stays=True), a=[0, 0, 2, 2])
    assert not timeline.stages and "too few records" in timeline.missing["one"]
    alone = spans(Span("one", "before a", end="a", stays=True), a=[0])
    assert alone.missing == {"one": "there is no record after t = 0"}


def test_a_stage_does_not_need_itself():
    steps = xr.DataArray(np.arange(5), dims="step")
    loss = xr.DataArray([3.0, 2, 4, 5, 6], dims="step", coords={"step": steps})
    run = xr.Dataset({"train_loss": loss, "gradient_norm": loss})
    timeline = stages(run)
    assert [(s.name, s.open) for s in timeline.stages] == [("fitting", True)]
    assert timeline.missing["falling"] == "needs the end of fitting: not reached"
    zero = stages(0 * run)
    assert not zero.stages and "the loss starts at 0" in zero.missing["fitting"]
    assert stages(run.where(steps > 0)).boundaries["falling"].evidence == (
        "not a finite number at t = 0"
    )


def test_a_classifier_that_never_leaves_its_plateau_has_one():
    timeline = stages(classifier([0.7, 0.69, 0.72, 0.69]))
    assert [stage.name for stage in timeline.stages] == ["plateau"]
    assert timeline.stages[0].when() == "t = 0 … 3 (end of the run)"


def classifier(losses, task="text") -> xr.Dataset:
    loss = series(losses)
    about = {"experiment": {"task": {"type": task}}}
    return xr.Dataset({"train_loss": loss, "train_accuracy": 0 * loss}, attrs=about)


def test_what_guessing_costs_depends_on_the_number_of_classes():
    losses = [2.3, 2.3, 0.8, 0.6, 0.6, 0.6, 0.6]
    two, ten = (classifier(losses, name) for name in ("text", "labelled-digits"))
    assert stages(two).boundaries["leaves"].step == 3
    assert stages(ten).boundaries["leaves"].step == 2
    assert "ln 10 − 0.05" in stages(ten).boundaries["leaves"].meaning
    for unknown in (two.assign_attrs(experiment={}), classifier(losses, "foreign")):
        assert not stages(unknown).stages
        assert "the number of classes is not known" in stages(unknown).note


def test_a_random_batch_is_not_all_sequences():
    margin = series([-1, 1, 1, 1])
    run = xr.Dataset({"margin": margin, "accuracy": abs(margin)})
    assert "sequences that can occur" in stages(run).boundaries["perfect"].meaning
    sampled = stages(run.assign(loss_error=abs(margin)))
    assert "of one random batch" in sampled.boundaries["perfect"].meaning
    assert all("of one random batch" in stage.title for stage in sampled.stages)

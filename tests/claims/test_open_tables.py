"""Stage detectors and claims that a user brings, and what becomes of their mistakes."""

import numpy as np
import pytest
import xarray as xr

from piste.claims import (
    DETECTORS,
    RUN_CLAIMS,
    Outcome,
    Timeline,
    claim,
    compare,
    judge_run,
    stage_detector,
    stages,
)
from piste.errors import InputError
from support.families import forgotten

LOSS = xr.Dataset({"train_loss": ("step", [1.0, 0.5, 0.1])}, {"step": [0, 1, 2]})


@pytest.fixture(autouse=True)
def tables():
    """What a test adds is gone after it."""
    with forgotten():
        yield


def test_ours_are_in_the_table_and_no_two_read_the_same_probes():
    assert sorted(DETECTORS) == [
        "convergence to zero loss",
        "four stages of sign descent",
        "perfect classification",
        "plateau of a classifier",
    ]
    needs = [frozenset(detector.needs) for detector in DETECTORS.values()]
    assert not any(one < other for one in needs for other in needs)


def test_a_run_that_nobody_knows_has_no_stages():
    assert stages(LOSS).note == "no stages are defined for what this run measures"


def test_a_brought_detector_finds_the_stages_of_runs_that_measure_enough():
    @stage_detector("mine", needs=("train_loss",))
    def mine(trajectory):
        return Timeline((), {}, {}, note=f"{trajectory.sizes['step']} records")

    assert stages(LOSS).note == "3 records"
    other = LOSS.rename(train_loss="loss")
    assert stages(other).note.startswith("no stages are defined")


def test_what_was_added_last_comes_first():
    ours = DETECTORS["plateau of a classifier"]
    run = LOSS.assign(train_accuracy=LOSS.train_loss)
    run = run.assign_attrs(experiment={"task": {"type": "text"}})
    assert ours.fits(run) and stages(run).boundaries

    @stage_detector("mine", needs=("train_accuracy",))
    def mine(trajectory):
        return Timeline((), {}, {}, note="mine")

    assert stages(run).note == "mine"


@pytest.mark.parametrize(
    ("detect", "note"),
    [
        (lambda run: 1 / 0, "stage detector 'mine' fails (ZeroDivisionError: division"),
        (
            lambda run: None,
            "stage detector 'mine' gives a NoneType, must be a Timeline",
        ),
    ],
)
def test_a_detector_that_fails_is_a_note(detect, note):
    stage_detector("mine", needs=("train_loss",))(detect)
    assert stages(LOSS).note.startswith(note)


@pytest.mark.parametrize("add", [stage_detector, claim])
def test_names_and_needs_are_checked(add):
    more = {"statement": "s"} if add is claim else {}
    add("mine", needs=("train_loss",), **more)(lambda run: None)
    for name, needs, line in [
        ("mine", ("train_loss",), "= mine: is the name of another one already"),
        (" ", ("train_loss",), "must be a few words"),
        ("other", "train_loss", "must say which probes it needs, not 'train_loss'"),
        ("other", (), "must say which probes it needs"),
    ]:
        with pytest.raises(InputError, match=line):
            add(name, needs=needs, **more)(falls)
    assert "other" not in DETECTORS and "other" not in RUN_CLAIMS


def falls(trajectory):
    share = float(trajectory.train_loss[-1] / trajectory.train_loss[0])
    return compare("this run", share, maximum=0.5, predicted="below a half")


def test_a_brought_claim_is_judged_on_runs_that_measure_enough():
    claim("falls", statement="the loss halves", needs=("train_loss",))(falls)
    (judgement,) = judge_run(LOSS)
    assert judgement.outcome == Outcome.HOLDS
    flat = LOSS.assign(train_loss=xr.ones_like(LOSS.train_loss))
    assert judge_run(flat)[0].outcome == Outcome.VIOLATED
    assert judge_run(LOSS * np.nan)[0].outcome == Outcome.INCONCLUSIVE
    assert judge_run(LOSS.rename(train_loss="loss")) == []


def test_a_claim_that_fails_is_inconclusive():
    claim("bad", statement="s", needs=("train_loss",))(lambda run: 1 / 0)
    (judgement,) = judge_run(LOSS)
    assert judgement.outcome == Outcome.INCONCLUSIVE
    assert "ZeroDivisionError" in judgement.verdicts[0].measured

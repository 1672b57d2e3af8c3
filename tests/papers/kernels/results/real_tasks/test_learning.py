"""Whether a task is learnt, and where a loss stays that does not leave ln 2."""

import math

import pytest

from piste.claims import Outcome
from support.kernel_evidence import curves
from support.kernel_runs import trained, verdicts


@pytest.mark.parametrize(
    ("losses", "outcome", "words"),
    [
        ((0.69, 0.5, 0.4), Outcome.HOLDS, "at step 100"),
        ((0.75, 0.69, 0.7), Outcome.VIOLATED, "stays at ln 2 from step 100 on"),
        (
            (0.693, 0.691, 0.694),
            Outcome.VIOLATED,
            "stays at ln 2 from step 0 on: 0.6910 to 0.6940",
        ),
        (
            (0.69, 0.9, 1.3),
            Outcome.VIOLATED,
            "the loss rises above ln 2: 1.3 at the end",
        ),
        (
            (0.69, 0.5, 0.5, 0.68),
            Outcome.VIOLATED,
            "is 0.5 to 0.69, and 0.68 at the end",
        ),
        ((0.69, math.nan, 0.4), Outcome.INCONCLUSIVE, "a loss at every record"),
        ((0.69, 0.69, math.nan), Outcome.INCONCLUSIVE, "is no number at step 200"),
        ((0.1, 0.1, 0.1), Outcome.INCONCLUSIVE, "a loss of guessing at first: 0.1"),
    ],
)
def test_pathfinder_says_where_the_loss_goes(losses, outcome, words):
    found, _ = verdicts("leaves", pathfinder=[trained("gaussian", 1, losses)])
    assert found.outcome == outcome and words in found.measured
    assert ("stays at ln 2" in found.measured) == (words[:5] == "stays")


def test_a_run_that_has_just_left_ln_2_does_not_tell():
    run = trained("gaussian", 1, (0.69, 0.69, 0.69, 0.5)).isel(step=slice(5))
    found, _ = verdicts("leaves", pathfinder=[run])
    assert found.outcome == Outcome.INCONCLUSIVE
    assert "too few records to tell: 2" in found.measured


def test_a_diverged_run_does_not_stay_at_ln_2():
    run = trained("softmax", 0, (0.69, 0.69), diverged=150)
    found, missing = verdicts("leaves", pathfinder=[run])
    assert (
        found.outcome == Outcome.INCONCLUSIVE
        and "diverged at step 150" in found.measured
    )
    assert (missing.instance, missing.measured) == ("gaussian", "no run")


def test_learnt_needs_both_kernels_and_a_start_without_knowledge():
    (found, missing) = verdicts("learnt", imdb=[curves("softmax", 0)])
    assert found.outcome == Outcome.HOLDS and found.margin is None
    assert missing.outcome == Outcome.INCONCLUSIVE
    known = curves("softmax", 0).assign(test_accuracy=("test_step", [0.9] * 6))
    found, _ = verdicts("learnt", imdb=[known])
    assert found.outcome == Outcome.INCONCLUSIVE

"""All claims on a run that shows them, and on all that should not fool them."""

import pytest
import xarray as xr

from papers.signgd.judging import SPOILS, judge_runs, spoilt
from piste.claims import Outcome

SHOWN = {
    "I: mean value noise grows linearly",
    "II: signs align, evenly split",
    "III: majority voting",
    "training loss ≤ ε in O(log 1/ε)",
    "test loss stays Θ(1)",
    "the value memorises noise",
    "attention goes to the noise token",
}
"""Claims that hold on the run: what must not hold on a spoilt copy of it."""
READS = {
    "I: mean value noise grows linearly": ("value_noise",),
    "II: signs align, evenly split": ("query_noise", "key_noise"),
    "III: majority voting": ("query_signal", "key_signal"),
    "training loss ≤ ε in O(log 1/ε)": ("train_loss",),
    "test loss stays Θ(1)": ("test_loss", "train_loss"),
    "the value memorises noise": ("value_noise",),
    "attention goes to the noise token": (
        "attention_noise_signal",
        "attention_signal_signal",
    ),
}
"""What each of these claims is about."""
STILL_TRUE = {
    # The statement is symmetric in the sign.
    ("II: signs align, evenly split", "negative"),
    ("III: majority voting", "negative"),
}


def words(*runs: xr.Dataset) -> dict[str, str]:
    return {
        name: judgement.summary_text() for name, judgement in judge_runs(*runs).items()
    }


def test_the_run_shows_what_the_paper_says(run):
    judged = words(run)
    assert {name for name in SHOWN if judged[name] == "holds"} == SHOWN


@pytest.mark.parametrize("how", SPOILS)
@pytest.mark.parametrize("claim", sorted(SHOWN))
def test_no_claim_holds_on_what_does_not_show_it(run, claim, how):
    if (claim, how) in STILL_TRUE:
        pytest.skip("still true")
    assert words(spoilt(run, READS[claim], SPOILS[how]))[claim] != "holds"


def test_short_runs_are_inconclusive_not_wrong(run):
    early = run.sel(step=slice(0, 60), test_step=slice(0, 60))
    for name, judgement in judge_runs(early).items():
        for verdict in judgement.verdicts:
            late = name not in (
                "I: mean value noise grows linearly",
                "I: other quantities stay near their start",
                "II: signs align, evenly split",
                "II: value noise grows, signals stay",
                "Table 1: independent at first, then aligned",
            )
            assert not late or verdict.outcome == Outcome.INCONCLUSIVE, verdict


def test_another_kernel_is_not_judged_by_its_weights(run):
    experiment = run.attrs["experiment"]
    model = experiment["model"] | {"kernel": "gaussian-mean"}
    other = run.assign_attrs(experiment=experiment | {"model": model})
    judged = words(other)
    assert judged["attention goes to the noise token"] == "inconclusive"
    assert judged["IV: s₁₁ is still ½ when s₂₁ = o(1)"] == "inconclusive"


def test_no_verdict_says_nan_or_draws_a_conclusion_from_it(run):
    short = run.isel(step=slice(0, 3), test_step=slice(0, 1))
    for judgement in judge_runs(short).values():
        for verdict in judgement.verdicts:
            assert verdict.outcome == Outcome.INCONCLUSIVE
            assert "nan" not in verdict.measured, verdict.sentence()


def test_conditions_that_compare_two_numbers_have_both(run):
    (verdict,) = judge_runs(run)["the value memorises noise"].verdicts
    (trained,) = verdict.conditions
    assert trained.met and trained.left == run.train_loss[-1] < trained.right == 0.01

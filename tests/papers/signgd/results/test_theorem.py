"""The theorem: even decades however coarse the records are, and runs that have trained."""

import numpy as np
import pytest
import xarray as xr

from papers.signgd.judging import judge_one, judge_runs, verdicts_of
from piste.claims import Outcome
from piste.papers.signgd.results import theorem
from piste.papers.signgd.results._series import first_time_below
from piste.papers.signgd.results.theorem import ratio_range

FAST = "training loss ≤ ε in O(log 1/ε)"


def test_an_untrained_run_says_which_number_would_decide(run):
    early = run.sel(step=slice(0, 100), test_step=slice(0, 100))
    judged = {name: j.verdicts[0] for name, j in judge_runs(early).items()}
    for name in ("test loss stays Θ(1)", "the value memorises noise"):
        assert "needs a training loss ≤ 0.01" in judged[name].measured
    assert "needs a training loss ≤ 0.001" in judged[FAST].measured


def test_coarse_records_do_not_make_decades_even(run):
    coarse = run.sel(step=run.step.values[run.step.values % 400 == 0])
    assert judge_one(coarse, FAST).summary_text() == "inconclusive"
    # Exactly the kind of loss that the old rule was fooled by: 1/t, seen at four records.
    steps = np.array([0, 10, 500, 1000, 1500, 2000])
    loss = xr.DataArray(
        [0.7, 0.2, 0.09, 0.009, 0.0009, 0.0008], dims="step", coords={"step": steps}
    )
    times = [first_time_below(loss, level) for level in (0.1, 0.01, 0.001)]
    low, high = ratio_range(times)
    assert low < 0.75 and high > 1.25


def test_a_span_of_times_contains_the_true_ratio():
    rng = np.random.default_rng(0)
    for _ in range(200):
        true = np.sort(rng.uniform(0, 1000, 3))
        spans = [(t - rng.uniform(0, 30), t + rng.uniform(0, 30)) for t in true]
        low, high = ratio_range(spans)
        ratio = (true[2] - true[1]) / (true[1] - true[0])
        assert low <= ratio <= high


def sparsity(train_loss: float) -> xr.Dataset:
    s = np.array([25, 50, 100, 200])
    arrays = {
        "value_signal": (("cell", "step"), 1 / np.sqrt(s)[:, None]),
        "value_noise": (("cell", "step", "sample"), np.ones((4, 1, 2))),
        "train_loss": (("cell", "step"), np.full((4, 1), train_loss)),
    }
    return xr.Dataset(arrays, {"step": [9], "noise_coordinates": ("cell", s)})


@pytest.mark.parametrize(
    ("loss", "outcome"),
    [
        (0.005, Outcome.HOLDS),
        (0.1, Outcome.INCONCLUSIVE),
        (np.nan, Outcome.INCONCLUSIVE),
    ],
)
def test_a_limit_needs_runs_that_have_trained(loss, outcome):
    name = "the value does not learn the signal"
    evidence = {"sparsity": sparsity(loss)}
    (verdict,) = verdicts_of(theorem.CLAIMS, name, evidence)
    assert verdict.outcome == outcome
    untrained = "needs training losses ≤ 0.01" in verdict.measured
    assert outcome == Outcome.HOLDS or untrained

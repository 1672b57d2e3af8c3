"""Which kernel is the faster: one test over the seeds, and runs that decide nothing."""

import math

import pytest

from piste.claims import Outcome
from piste.errors import InputError
from piste.papers.kernels.results.real_tasks.learning import accuracy_table
from support.evidence import evidence_of
from support.kernel_runs import pairs_of, trained, verdicts


@pytest.mark.parametrize(
    ("seeds", "last", "outcome", "p"),
    [
        (3, 0.3, Outcome.INCONCLUSIVE, "p = 0.125"),
        (5, 0.3, Outcome.HOLDS, "p = 0.0312"),
        (5, 0.6, Outcome.VIOLATED, "p = 1"),
        (1, 0.3, Outcome.INCONCLUSIVE, "p = 0.5"),
    ],
)
def test_faster_is_told_by_one_test_over_the_seeds(seeds, last, outcome, p):
    for found in verdicts("fast, IMDb", imdb=pairs_of((0.69, 0.5, last), seeds=seeds)):
        assert found.outcome == outcome
        assert f"one-sided sign test, {p})" in found.measured
        told = "5 that all agree would decide" in found.measured
        assert told == (seeds < 5)


def test_test_losses_are_compared_beside_training_losses():
    runs = pairs_of((0.69, 0.5, 0.3), seeds=5)
    runs = [
        run.assign(test_loss=run.test_loss + (run.attrs["name"][0] == "g"))
        for run in runs
    ]
    train, test = verdicts("fast, IMDb", imdb=runs)
    assert train.instance == "training loss, 5 of 5 pairs"
    assert test.instance == "test loss, 5 of 5 pairs"
    assert (train.outcome, test.outcome) == (Outcome.HOLDS, Outcome.VIOLATED)


@pytest.mark.parametrize("how", ["diverged", "shorter", "not a number"])
def test_a_run_that_broke_off_decides_nothing(how):
    runs = pairs_of((0.69, 0.4, 0.3), seeds=6)
    broken = {
        "diverged": trained("gaussian", 5, (0.69, 0.4, 0.3), diverged=100),
        "shorter": trained("gaussian", 5, (0.69, 0.1)),
        "not a number": trained("gaussian", 5, (0.69, math.nan, 0.3)),
    }[how]
    found = verdicts("fast, IMDb", imdb=[*runs[:-1], broken])
    assert {v.outcome for v in found} == {Outcome.INCONCLUSIVE}
    assert "1 without a number" in found[0].measured


def test_runs_that_differ_in_more_than_kernel_and_seed_are_not_paired():
    runs = pairs_of((0.69, 0.5, 0.3), seeds=5)
    runs[3].attrs["experiment"] = runs[3].attrs["experiment"] | {"steps": 7}
    with pytest.raises(
        InputError, match="runs: differ in steps; must be equal but for"
    ):
        verdicts("fast, IMDb", imdb=runs)
    with pytest.raises(InputError, match="runs: differ in steps"):
        accuracy_table(evidence_of({"imdb": runs}))


def test_nothing_is_faster_where_nothing_is_learnt():
    stuck = pairs_of([math.log(2)] * 3, [math.log(2) + 0.001] * 3, seeds=6)
    found = verdicts("fast, Pathfinder", pathfinder=stuck)
    assert {v.outcome for v in found} == {Outcome.UNMET}

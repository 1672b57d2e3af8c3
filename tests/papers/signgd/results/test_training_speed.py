"""Whose training loss is lower for good, on losses whose answer is known."""

import numpy as np
import pytest
import xarray as xr

from papers.signgd.judging import verdicts_of
from piste.claims import Outcome
from piste.papers.signgd.results.training_speed import CLAIMS, crossover_step

STEPS = np.arange(0, 2001, 10)
NORMALISED = "SignGD trains faster than normalised GD"


def losses(*curves) -> xr.Dataset:
    """A sweep with these training losses, one cell each."""
    data = {"train_loss": (("cell", "step"), np.array([c(STEPS) for c in curves]))}
    return xr.Dataset(data, {"step": STEPS})


def exponential(rate):
    return lambda t: 0.7 * np.exp(-rate * t)


def test_crossover_is_for_good():
    first = losses(lambda t: np.where(t == 500, 9.0, exponential(0.01)(t)))
    second = losses(lambda t: 0.7 / (1 + t / 10))
    assert crossover_step(first.train_loss[0], second.train_loss[0]) == 510


def test_faster_depends_on_the_other_rule():
    signgd = losses(exponential(0.005))
    slow, quick = losses(exponential(0.001)), losses(exponential(0.05))
    for other, outcome in ((slow, Outcome.HOLDS), (quick, Outcome.VIOLATED)):
        evidence = {"signgd": signgd, "normalised-gd": other}
        (verdict,) = verdicts_of(CLAIMS, NORMALISED, evidence)
        assert verdict.outcome == outcome


@pytest.mark.parametrize(
    ("diverged", "outcome"), [(-1, Outcome.INCONCLUSIVE), (50, Outcome.HOLDS)]
)
def test_a_loss_that_is_missing_is_not_behind(diverged, outcome):
    other = losses(lambda t: np.where(t < 50, 0.9, np.nan))
    other = other.assign_coords(diverged=("cell", [diverged]))
    evidence = {"signgd": losses(exponential(0.005)), "normalised-gd": other}
    (verdict,) = verdicts_of(CLAIMS, NORMALISED, evidence)
    assert verdict.outcome == outcome

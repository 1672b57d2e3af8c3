"""SignGD beside GD and normalised GD: whose training loss is lower, and from when on.

All on dense noise at SNR ½, seed by seed on the same data.
"""

import numpy as np
import xarray as xr

from piste.claims import Claim, Condition, Verdict, decide, lasting, spread
from piste.reproduction import Evidence

from ..thresholds import LEAD_DEADLINE


def crossover_step(first: xr.DataArray, second: xr.DataArray) -> float:
    """The recorded step from which the first loss is below the second for good."""
    # A rule that has diverged is behind.
    below = lasting(first.values < np.nan_to_num(second.values, nan=np.inf))
    return float(first.step.values[np.argmax(below)]) if below.any() else np.nan


def cells_by_rate(sweep: xr.Dataset) -> dict[float, xr.Dataset]:
    """The cells of each learning rate, in the order of the sweep."""
    rates = sweep.learning_rate.values
    return {rate: sweep.isel(cell=rates == rate) for rate in dict.fromkeys(rates)}


def _judge_against_gd(evidence: Evidence) -> list[Verdict]:
    signgd, gd = evidence.dataset("signgd"), evidence.dataset("gd")
    return [
        _judge_faster(signgd, cells, f"GD, rate {rate:g}")
        for rate, cells in cells_by_rate(gd).items()
    ]


def _judge_against_normalised_gd(evidence: Evidence) -> list[Verdict]:
    signgd, other = evidence.dataset("signgd"), evidence.dataset("normalised-gd")
    return [_judge_faster(signgd, other, "normalised GD")]


def _judge_faster(signgd: xr.Dataset, other: xr.Dataset, rule: str) -> Verdict:
    """The median over seeds of the crossover decides."""
    deadline = LEAD_DEADLINE * int(signgd.step[-1])
    steps = spread(
        crossover_step(signgd.train_loss.isel(cell=i), other.train_loss.isel(cell=i))
        for i in range(signgd.sizes["cell"])
    )
    never = steps["runs"] - steps["reached"]
    measured = f"from t = {steps['median']:g} (median)"
    if never:
        measured = f"never in {never} of {steps['runs']} seeds"
    return decide(
        f"against {rule}",
        not never and steps["median"] <= deadline,
        predicted=f"SignGD's training loss is below for good from t ≤ {deadline:g}",
        measured=measured,
        margin=None if never else 1 - steps["median"] / deadline,
        numbers={
            "SignGD's final loss": _final_loss(signgd),
            "the other's final loss": _final_loss(other),
        },
        needs=[
            _has_all_losses("SignGD", signgd),
            _has_all_losses(rule, other, may_diverge=True),
        ],
    )


def _final_loss(sweep: xr.Dataset) -> float:
    return float(sweep.train_loss.isel(step=-1).median())


def _has_all_losses(
    rule: str, sweep: xr.Dataset, may_diverge: bool = False
) -> Condition:
    """A rule has a loss at every record, or up to where it diverged if it may."""
    finite = np.isfinite(sweep.train_loss)
    if may_diverge and "diverged" in sweep.coords:
        ended = (sweep.diverged >= 0) & (sweep.step >= sweep.diverged)
        finite = finite | ended
    return Condition(f"losses of {rule} that are numbers", bool(finite.all()))


CLAIMS = (
    Claim(
        "SignGD trains faster than GD",
        "At the same signal-to-noise ratio, SignGD trains faster than GD.",
        _judge_against_gd,
        needs=("signgd", "gd"),
        figure="rules",
        remark="It depends on GD's learning rate; each instance gives the crossover step.",
    ),
    Claim(
        "SignGD trains faster than normalised GD",
        "The same against normalised GD with SignGD's own step length (not in the paper).",
        _judge_against_normalised_gd,
        needs=("signgd", "normalised-gd"),
        figure="rules",
    ),
)

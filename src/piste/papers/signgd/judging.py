"""What the claims of this paper share: judging each seed, fitting, reaching."""

from collections.abc import Callable

import numpy as np
import xarray as xr

from piste.claims import Condition, Outcome, Timeline, Verdict, detect


def each(judge_one: Callable[[xr.Dataset, Timeline], Verdict]):
    """Judge every seed of the study ``stages`` by itself."""

    def judge(evidence) -> list[Verdict]:
        return [judge_one(run, detect(run)) for run in evidence["stages"]]

    return judge


def about(run: xr.Dataset) -> dict:
    """The instance and the run of a verdict on one seed."""
    return {"instance": f"seed {run.attrs['seed']}", "runs": (run.attrs["name"],)}


def undecided(run: xr.Dataset, needed: str, found: str) -> Verdict:
    """The verdict where a run does not reach what is to be measured."""
    return Verdict(
        **about(run),
        outcome=Outcome.INCONCLUSIVE,
        predicted=needed,
        measured=found,
        conditions=(Condition(needed, False, found),),
    )


def reaches(loss: xr.DataArray, level: float) -> float:
    """The first recorded step at which a loss is at most ``level``."""
    below = loss.step.values[loss.values <= level]
    return float(below[0]) if below.size else np.nan


def fit(x: np.ndarray, y: np.ndarray) -> dict[str, float]:
    """Slope and R² of a straight line."""
    slope, intercept = np.polyfit(x, y, 1)
    rest = y - slope * x - intercept
    return {"slope": float(slope), "r2": float(1 - rest.var() / y.var())}

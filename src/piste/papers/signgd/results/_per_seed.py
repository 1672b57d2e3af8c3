"""Judge every seed of the study ``stages`` by itself."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import xarray as xr

from piste.claims import Timeline, Verdict, undecided
from piste.reproduction import Evidence

from ..stages import detect

JudgeSeed = Callable[[xr.Dataset, Timeline], Verdict | Sequence[Verdict]]
"""Judges one run, given its stages."""


def each_seed(judge_seed: JudgeSeed) -> Callable[[Evidence], list[Verdict]]:
    """Make a judge of all seeds out of a judge of one.

    A seed with a number that is not finite is inconclusive, whatever the claim.
    """

    def judge(evidence: Evidence) -> list[Verdict]:
        verdicts: list[Verdict] = []
        for index, gap in enumerate(evidence.of_each("stages", first_gap)):
            run = evidence.runs("stages")[index]
            if gap:
                verdicts.append(undecided(predicted="–", why=gap, **of_seed(run)))
                continue
            made = judge_seed(run, evidence.timeline("stages", index, detect))
            verdicts += [made] if isinstance(made, Verdict) else made
        return verdicts

    return judge


def first_gap(run: xr.Dataset) -> str:
    """Name a probe that is not finite at some record, and the record; else nothing."""
    for name, series in run.data_vars.items():
        time = str(series.dims[0])
        others = [d for d in series.dims if d != time]
        bad = ~(abs(series).max(others, skipna=False) < np.inf).values
        if bad.any():
            first = run[time].values[np.argmax(bad)]
            return f"{name} is not a finite number at t = {first:,}"
    return ""


def of_seed(run: xr.Dataset, quantity: str = "") -> dict[str, Any]:
    """The instance and the run of a verdict on one seed, or on one quantity of it."""
    label = run.attrs.get("label", f"seed {run.attrs['seed']}")
    return {
        "instance": f"{label}, {quantity}" if quantity else label,
        "runs": (run.attrs["name"],),
    }

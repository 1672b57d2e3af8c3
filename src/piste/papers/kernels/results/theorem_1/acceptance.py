"""The case that attains the rate of Theorem 1's bound: log f falls by 2ηβ per step.

Targets lie along the left singular vector of σ_min(B₀), all heads weigh the same, and W^V
alone is trained (see ``theory.py``).
"""

import dataclasses

import numpy as np
import pandas as pd
import xarray as xr

from piste.claims import Claim, Condition, Verdict, compare
from piste.reproduction import Evidence, Table
from piste.values import option, value

from ...models import KernelLayer
from ...presets import REGRESSION
from ...theory import ATTAINED_RATE
from ...thresholds import MAX_RATE_DEVIATION, MIN_LOG_FALL
from .._descents import LOSS, descend, draw_starts, recorded_steps, theorem_1_constants
from ..cells import by_shape, check_not_empty, missing_data_verdicts
from ._constants import CONSTANTS, conditions, constants, kernels_and_heads


@value
class Acceptance:
    """The rate of log f for both kernels over H, where the bound's rate is attained."""

    heads: tuple[int, ...] = option(default=(4, 8, 16), minimum=1)
    """Numbers of heads, H."""
    seeds: int = option(default=8, minimum=1)
    first_seed: int = option(default=100, minimum=0)
    steps: int = option(default=3000, minimum=2)

    def __post_init__(self):
        check_not_empty(heads=self.heads)

    def parts(self) -> int:
        """One for every kernel and number of heads."""
        return len(kernels_and_heads(self.heads))

    def part(self, index: int) -> xr.Dataset:
        """Train W^V and regress log f on t."""
        kernel, heads = kernels_and_heads(self.heads)[index]
        seeds = range(self.first_seed, self.first_seed + self.seeds)
        model = KernelLayer(heads=heads, kernel=kernel, output="equal")
        task = dataclasses.replace(REGRESSION, targets="hardest")
        start = draw_starts(task, model, seeds)
        theorem = theorem_1_constants(kernel, *start)
        times, rates = recorded_steps(self.steps, 32), theorem.learning_rate
        losses = descend(kernel, "V", start, rates, times, (LOSS,))["loss"]
        slopes = [-np.polyfit(times, np.log(row / row[0]), 1)[0] for row in losses]
        measured = {
            "measured_rate": ("cell", np.array(slopes)),
            "loss": (("cell", "step"), losses),
        }
        return xr.Dataset(constants(theorem, kernel, seeds) | measured, {"step": times})


def rate_ratio(runs: xr.Dataset) -> np.ndarray:
    """Measured logarithmic rate in units of ηβ; NaN where a loss is no number."""
    known = np.isfinite(runs.loss).all("step") & (runs.loss > 0).all("step")
    return (runs.measured_rate / (runs.eta * runs.beta)).where(known).values


def _judge(evidence: Evidence) -> list[Verdict]:
    data = evidence.dataset("acceptance")
    predicted = f"rate/(ηβ) within {MAX_RATE_DEVIATION:g} of {ATTAINED_RATE:.2f}"
    needed = [*CONSTANTS, "beta", "measured_rate", "loss"]
    if missing := missing_data_verdicts(data, needed, predicted):
        return missing
    return [
        _verdict(shape.words, shape.cells, f"{predicted} for every seed")
        for shape in by_shape(data)
    ]


def _verdict(name: str, runs: xr.Dataset, predicted: str) -> Verdict:
    measured = rate_ratio(runs)
    fall = ATTAINED_RATE * runs.eta * runs.beta * float(runs.step[-1])
    beyond_rounding = Condition(
        "a fall of log f beyond rounding",
        bool((fall > MIN_LOG_FALL).all()),
        f"least {float(fall.min()):.2g}",
        float(fall.min()),
        MIN_LOG_FALL,
    )
    return compare(
        name,
        np.abs(measured - ATTAINED_RATE),
        maximum=MAX_RATE_DEVIATION,
        predicted=predicted,
        needs=(beyond_rounding,),
        conditions=conditions(runs),
        numbers={
            "seeds": measured.size,
            "least": float(measured.min()),
            "largest": float(measured.max()),
        },
    )


CLAIMS = (
    Claim(
        "The bound's rate is attained",
        "With targets along the left singular vector of σ_min(B₀), equal heads and W^V "
        "alone, log f falls by 2ηβ per step.",
        _judge,
        needs=("acceptance",),
        figure="acceptance",
        remark=(
            "Twice the bound's rate, because f is the square of what shrinks. The "
            "rate is the slope of log f over all recorded steps."
        ),
    ),
)


def _rates(evidence: Evidence) -> pd.DataFrame:
    rows = [
        {
            "kernel": kernel,
            "HD/Nn": ratio,
            "seeds": runs.sizes["cell"],
            "mean": float(rate_ratio(runs).mean()),
            "least": float(rate_ratio(runs).min()),
            "largest": float(rate_ratio(runs).max()),
        }
        for kernel, ratio, runs in by_shape(evidence.dataset("acceptance"))
    ]
    return pd.DataFrame(rows)


TABLES = (
    Table(
        "acceptance",
        "The rate of log f in units of ηβ, where the bound's rate is attained.",
        _rates,
        ("acceptance",),
    ),
)

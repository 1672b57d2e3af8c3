"""Runs of Theorem 1 over the number of heads: some thousand steps, or as many as it takes.

A run is summed up by what is left of its loss, what each reading of the bound promises,
and the largest loss beside the bound.
"""

import numpy as np
import xarray as xr

from piste.reproduction import Evidence
from piste.values import option, value

from ...models import KernelLayer
from ...presets import REGRESSION
from ...theory import ConvergenceTheorem
from ...thresholds import BOUND_ROUNDING, MAX_PROMISED_SHARE, ROUNDING_FLOOR
from .._descents import (
    LOSS,
    descend,
    draw_starts,
    recorded_steps,
    theorem_1_constants,
    value_floors,
)
from ..cells import check_not_empty, labels
from ._constants import bounds, constants, kernels_and_heads

TRAINED_MATRICES = ("V", "QKV")
"""What is trained for Theorem 1, in this order: W^V alone, and all three matrices."""


@value
class Transition:
    """Theorem 1 over H for both kernels: W^V alone, and W^Q, W^K, W^V."""

    heads: tuple[int, ...] = option(default=(1, 2, 3, 4, 5, 6, 8, 16), minimum=1)
    """Numbers of heads, H."""
    seeds: int = option(default=8, minimum=1)
    first_seed: int = option(default=100, minimum=0)
    steps: int = option(default=3000, minimum=1)
    dense: int = option(default=32, minimum=1)
    """Every step is recorded up to here, later ones at growing distances."""

    def __post_init__(self):
        check_not_empty(heads=self.heads)

    def parts(self) -> int:
        """One for every kernel and number of heads."""
        return len(kernels_and_heads(self.heads))

    def part(self, index: int) -> xr.Dataset:
        """Train all seeds of one kernel and H, once for each set of matrices."""
        kernel, heads = kernels_and_heads(self.heads)[index]
        seeds = range(self.first_seed, self.first_seed + self.seeds)
        start = draw_starts(REGRESSION, KernelLayer(heads=heads), seeds)
        theorem = theorem_1_constants(kernel, *start)
        times, rates = recorded_steps(self.steps, self.dense), theorem.learning_rate
        shared = (
            constants(theorem, kernel, seeds)
            | bounds(theorem, times)
            | {"floor": ("cell", value_floors(kernel, *start))}
        )
        batches: list[xr.Dataset] = []
        for train in TRAINED_MATRICES:
            losses = descend(kernel, train, start, rates, times, (LOSS,))["loss"]
            own = {"train": labels(train, seeds), "loss": (("cell", "step"), losses)}
            batches.append(xr.Dataset(shared | own, {"step": times}))
        return xr.concat(batches, "cell")


@value
class PromisedRuns:
    """The runs of :class:`Transition`, until the bound promises half of the loss.

    Runs have different lengths, so a cell has a summary and no path.
    """

    heads: tuple[int, ...] = option(default=(4, 5, 6, 8, 16), minimum=1)
    """Numbers of heads, H."""
    seeds: int = option(default=8, minimum=1)
    first_seed: int = option(default=100, minimum=0)
    max_steps_v: int = option(default=300_000, minimum=1)
    """Most steps of W^V alone, which are cheap: its kernel matrix does not change."""
    max_steps_qkv: int = option(default=30_000, minimum=1)
    """Most steps of W^Q, W^K, W^V."""

    def __post_init__(self):
        check_not_empty(heads=self.heads)

    def parts(self) -> int:
        """One for every kernel and number of heads."""
        return len(kernels_and_heads(self.heads))

    def part(self, index: int) -> xr.Dataset:
        """Train all seeds of one kernel and H, once for each set of matrices."""
        kernel, heads = kernels_and_heads(self.heads)[index]
        seeds = range(self.first_seed, self.first_seed + self.seeds)
        start = draw_starts(REGRESSION, KernelLayer(heads=heads), seeds)
        theorem = theorem_1_constants(kernel, *start)
        shared, rates = constants(theorem, kernel, seeds), theorem.learning_rate
        batches: list[xr.Dataset] = []
        for train in TRAINED_MATRICES:
            times = recorded_steps(self._steps(theorem, train), 32)
            run = descend(kernel, train, start, rates, times, (LOSS,))
            losses = xr.DataArray(run["loss"], dims=("cell", "step"))
            path = xr.Dataset(bounds(theorem, times) | {"loss": losses})
            steps = ("cell", np.full(len(seeds), times[-1]))
            own = {"train": labels(train, seeds), "steps": steps}
            batches.append(xr.Dataset(shared | own).merge(summarise(path)))
        return xr.concat(batches, "cell")

    def _steps(self, theorem: ConvergenceTheorem, train: str) -> int:
        longest = {"V": self.max_steps_v, "QKV": self.max_steps_qkv}[train]
        return steps_to_test(theorem, longest)


def steps_to_test(theorem: ConvergenceTheorem, longest: int) -> int:
    """Steps after which the bound is a test for every seed that can be one in time."""
    needed = np.asarray(theorem.steps_to_promise(MAX_PROMISED_SHARE))
    in_time = needed[needed <= longest]
    return int(np.ceil(in_time.max())) if in_time.size else longest


# --- what is read off the runs ---------------------------------------------------------


def transition_runs(evidence: Evidence) -> xr.Dataset:
    """Study "transition" with the summary of every run."""
    data = evidence.dataset("transition")
    return data.drop_vars("step").merge(summarise(data))


def promised_runs(evidence: Evidence) -> xr.Dataset:
    """Study "promised", which has summaries only."""
    return evidence.dataset("promised")


def summarise(path: xr.Dataset) -> xr.Dataset:
    """What is left of the loss, what each bound promises, and the largest f/bound."""
    first, last = path.isel(step=0, drop=True), path.isel(step=-1, drop=True)
    summary = {"share": last.loss / first.loss}
    for name in ("bound", "stacked_bound"):
        summary[f"{name}_promise"] = last[name] / first[name]
        summary[f"{name}_excess"] = largest_excess(path.loss, path[name])
    return xr.Dataset(summary)


def largest_excess(loss: xr.DataArray, bound: xr.DataArray) -> xr.DataArray:
    """The largest f/bound of every cell after the start, where it is 1 by definition.

    Below rounding of f₀ no loss can follow a bound: records there do not count. NaN where
    one is not a number, unless another is above the bound: that one decides.
    """
    first = loss.isel(step=0, drop=True)
    ratio = (loss / bound).where(~(loss <= ROUNDING_FLOOR * first), 0)
    ratio = ratio.where(first > 0).isel(step=slice(1, None))
    if not ratio.sizes["step"]:
        return xr.full_like(first, np.nan)
    finite = ratio.copy(data=np.isfinite(ratio.values))
    largest = ratio.where(finite).max("step")
    return largest.where(finite.all("step") | (largest > 1 + BOUND_ROUNDING))


def floor_share(cells: xr.Dataset) -> np.ndarray:
    """The least f/f₀ that W^V alone can reach."""
    return (cells.floor / cells.initial_loss).values

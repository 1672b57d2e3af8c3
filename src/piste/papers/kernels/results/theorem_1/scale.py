"""HD ≥ Nn is not enough: Theorem 1's constants over the scale of W^Q and W^K."""

import math

import numpy as np
import pandas as pd
import xarray as xr

from piste.claims import Claim, Verdict, compare, decide
from piste.reproduction import Evidence, Table
from piste.values import option, value

from ...models import KernelLayer
from ...presets import COMPARED_KERNELS, REGRESSION
from ...theory import RESOLVED, requirements
from ...thresholds import MAX_USEFUL_STEPS, USEFUL_SHARE
from .._descents import draw_starts, theorem_1_constants
from ..cells import (
    check_not_empty,
    median,
    missing_data_verdicts,
    select,
    wide_enough,
)
from ._constants import CONSTANTS, constants, least_feature


@value
class Scale:
    r"""The constants of Theorem 1 for scales of $W^Q$ and $W^K$; nothing is trained."""

    scales: tuple[float, ...] = option(default=(0.1, 0.3, 1.0, 3.0), greater_than=0)
    """Scales of W^Q and W^K."""
    heads: int = option(default=8, minimum=1)
    """Number of heads, H."""
    seeds: int = option(default=8, minimum=1)
    first_seed: int = option(default=100, minimum=0)

    def __post_init__(self):
        check_not_empty(scales=self.scales)

    def parts(self) -> int:
        """One for every kernel."""
        return len(COMPARED_KERNELS)

    def part(self, index: int) -> xr.Dataset:
        """Compute the constants of one kernel for all scales and seeds."""
        kernel = COMPARED_KERNELS[index]
        batches: list[xr.Dataset] = []
        seeds = range(self.first_seed, self.first_seed + self.seeds)
        for scale in self.scales:
            model = KernelLayer(heads=self.heads, key_scale=scale)
            start = draw_starts(REGRESSION, model, seeds)
            numbers = constants(theorem_1_constants(kernel, *start), kernel, seeds)
            numbers |= {"key_scale": ("cell", np.full(len(seeds), scale))}
            batches.append(xr.Dataset(numbers))
        return xr.concat(batches, "cell")


def by_scale(data: xr.Dataset) -> list[tuple[str, float, xr.Dataset]]:
    """Kernel, scale, and the cells that have them."""
    return [
        (kernel, scale, cells)
        for kernel in COMPARED_KERNELS
        for scale in sorted(set(data.key_scale.values.tolist()))
        if (cells := select(data, kernel=kernel, key_scale=scale)).sizes["cell"]
    ]


def is_resolved(data: xr.Dataset) -> xr.DataArray:
    """Which cells have a σ_min(B₀) that an SVD can tell from zero."""
    return requirements(data)[RESOLVED]


def shown_feature(data: xr.Dataset) -> xr.DataArray:
    """σ_min(B₀), or what an SVD resolves where that is larger: an upper limit."""
    return data.feature_min.where(is_resolved(data), data.feature_resolution)


# --- the claim -------------------------------------------------------------------------


def _judge(evidence: Evidence) -> list[Verdict]:
    data = evidence.dataset("scale")
    predicted = (
        f"f/f₀ ≤ {USEFUL_SHARE:g} promised in at most {MAX_USEFUL_STEPS:g} steps "
        "(median seed)"
    )
    needed = [*CONSTANTS, "key_scale", "hundredth_steps"]
    if missing := missing_data_verdicts(data, needed, predicted):
        return missing
    return [
        _verdict(f"{kernel}, scale {scale:g}", cells, predicted)
        for kernel, scale, cells in by_scale(data)
    ]


def _verdict(name: str, cells: xr.Dataset, predicted: str) -> Verdict:
    steps = median(cells.hundredth_steps.where(is_resolved(cells), np.inf))
    shared = {
        "predicted": predicted,
        "conditions": (wide_enough(cells),),
        "numbers": {"σ_min(B₀) (median)": float(cells.feature_min.median())},
    }
    if math.isinf(steps):  # β is zero: the bound never promises anything
        return decide(name, False, measured=f"never: {least_feature(cells)}", **shared)
    return compare(name, steps, maximum=MAX_USEFUL_STEPS, **shared)


CLAIMS = (
    Claim(
        "HD ≥ Nn suffices",
        "HD ≥ Nn alone makes the bound useful, whatever the scale of W^Q and W^K.",
        _judge,
        needs=("scale",),
        figure="scale",
        remark=(
            "σ_min(B₀) can collapse where attention is uniform (small scales) and, for the "
            "Gaussian kernel, where it is nearly nothing (large ones)."
        ),
    ),
)


# --- the table -------------------------------------------------------------------------


def _constants(evidence: Evidence) -> pd.DataFrame:
    rows = [
        {
            "kernel": kernel,
            "scale": scale,
            "σ_min(B₀)": median(shown_feature(cells)),
            "resolved": f"{int(is_resolved(cells).sum())} of {cells.sizes['cell']}",
            f"steps promised for f/f₀ = {USEFUL_SHARE:g}": median(
                cells.hundredth_steps
            ),
        }
        for kernel, scale, cells in by_scale(evidence.dataset("scale"))
    ]
    return pd.DataFrame(rows)


def _caption(evidence: Evidence, frame: pd.DataFrame) -> str:
    data = evidence.dataset("scale")
    ratio = float(data.columns[0] / data.rows[0])
    return (
        f"σ_min(B₀) at HD/Nn = {ratio:g} over the scale of W^Q and W^K (median). "
        "Where σ_min is not resolved, the number is what an SVD resolves: a limit."
    )


TABLES = (Table("scale", _caption, _constants, ("scale",)),)

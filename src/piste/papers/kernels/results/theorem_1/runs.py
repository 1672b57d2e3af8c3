"""Theorem 1's runs once more: for as long as its bound needs, and where they go."""

import jax.numpy as jnp
import numpy as np
import xarray as xr

from piste.values import option, value

from .calculations import FORMAT, TRAINED, bounds, constants, loss_only, shapes
from .descents import descend, first_theorem, schedule, starts
from .models import MATRICES, KernelLayer, KernelWeights
from .presets import REGRESSION
from .probes import RegressionView
from .theory import ConvergenceTheorem
from .thresholds import PROMISE, ROUNDING, ROUNDING_FLOOR


@value
class Promised:
    """The runs of ``Transition``, until the bound promises half of the loss, or longest.

    Lengths differ, so a cell has what the judgement needs and no path.
    """

    heads: str = "4 5 6 8 16"
    """Numbers of heads, H, with spaces between."""
    seeds: int = option(default=8, minimum=1)
    first_seed: int = option(default=100, minimum=0)
    longest_v: int = option(default=300_000, minimum=1)
    """Most steps of W^V alone, which are cheap: its kernel matrix does not change."""
    longest_qkv: int = option(default=30_000, minimum=1)
    """Most steps of W^Q, W^K, W^V."""
    format: int = option(default=FORMAT, minimum=FORMAT, maximum=FORMAT)
    """Which numbers a part holds."""

    def __post_init__(self):
        shapes(self.heads)

    def parts(self) -> int:
        """One for every kernel and number of heads."""
        return len(shapes(self.heads))

    def part(self, index: int) -> xr.Dataset:
        """Train all seeds of one kernel and H, twice."""
        kernel, heads = shapes(self.heads)[index]
        seeds = range(self.first_seed, self.first_seed + self.seeds)
        start = starts(REGRESSION, KernelLayer(heads=heads), seeds)
        theorem = first_theorem(kernel, *start)
        same, rates = constants(theorem, kernel, seeds), theorem.learning_rate
        found: list[xr.Dataset] = []
        for place, longest in enumerate((self.longest_v, self.longest_qkv)):
            times = schedule(_steps(theorem, longest), 32)
            run = descend(kernel, TRAINED[place], start, rates, times, loss_only)
            losses = xr.DataArray(run["loss"], dims=("cell", "step"))
            path = xr.Dataset(bounds(theorem, times) | {"loss": losses})
            train = {"train": ("cell", np.full(len(seeds), place))}
            known = xr.Dataset(same | train).assign(steps=("cell", _last(times, seeds)))
            found.append(known.merge(summarised(path)))
        return xr.concat(found, "cell")


def _steps(theorem: ConvergenceTheorem, longest: int) -> int:
    """As many as the slowest seed needs of those that need no more than the longest."""
    needed = np.asarray(theorem.steps_until(PROMISE))
    within = needed[needed <= longest]
    return int(np.ceil(within.max())) if within.size else longest


def _last(times: np.ndarray, seeds: range) -> np.ndarray:
    return np.full(len(seeds), times[-1])


def summarised(path: xr.Dataset) -> xr.Dataset:
    """What is left of the loss, what each bound promises, and the largest f/bound."""
    first, last = path.isel(step=0, drop=True), path.isel(step=-1, drop=True)
    found = {"share": last.loss / first.loss}
    for name in ("bound", "stacked_bound"):
        found[f"{name}_promise"] = last[name] / first[name]
        found[f"{name}_excess"] = excess(path.loss, path[name])
    return xr.Dataset(found)


def excess(loss: xr.DataArray, bound: xr.DataArray) -> xr.DataArray:
    """The largest f/bound of every cell after the start, where it is 1 by definition.

    Below rounding of f₀ no loss can follow a bound: records there do not count. NaN where
    one is not a number, unless another is above the bound as it is: then no record could
    mend it.
    """
    first = loss.isel(step=0, drop=True)
    ratio = (loss / bound).where(~(loss <= ROUNDING_FLOOR * first), 0)
    ratio = ratio.where(first > 0).isel(step=slice(1, None))
    if not ratio.sizes["step"]:
        return xr.full_like(first, np.nan)
    finite = ratio.copy(data=np.isfinite(ratio.values))
    seen = ratio.where(finite).max("step")
    return seen.where(finite.all("step") | (seen > 1 + ROUNDING))


# --- where the runs go ------------------------------------------------------------------


@value
class Region:
    """Theorem 1's runs of all three matrices: how far they move, and how the loss bends."""

    heads: str = "4 8 16"
    """Numbers of heads, H, with spaces between."""
    seeds: int = option(default=8, minimum=1)
    first_seed: int = option(default=100, minimum=0)
    steps: int = option(default=3000, minimum=1)

    def __post_init__(self):
        shapes(self.heads)

    def parts(self) -> int:
        """One for every kernel and number of heads."""
        return len(shapes(self.heads))

    def part(self, index: int) -> xr.Dataset:
        """Train all seeds of one kernel and H; the ends of the Hessian at few steps."""
        kernel, heads = shapes(self.heads)[index]
        seeds = range(self.first_seed, self.first_seed + self.seeds)
        start = starts(REGRESSION, KernelLayer(heads=heads), seeds)
        theorem, times = first_theorem(kernel, *start), schedule(self.steps, 1)
        rates = theorem.learning_rate
        run = descend(kernel, "QKV", start, rates, times, _movement)
        known = constants(theorem, kernel, seeds) | _norms(start[1])
        known |= {"reach": ("cell", np.asarray(theorem.reach))}
        known |= {name: (("cell", "step"), part) for name, part in run.items()}
        return xr.Dataset(known, {"step": times})


def _movement(view: RegressionView) -> dict:
    ends = view.hessian_extremes()
    moved = {f"{name}_distance": view.moved(name) for name in MATRICES.values()}
    return moved | {
        "loss": view.loss(),
        "curvature_least": ends.smallest,
        "curvature_largest": ends.largest,
    }


def _norms(weights: KernelWeights) -> dict:
    r"""$\|W_0\|_F$ of every matrix, all heads together."""

    def norm(matrices):
        return np.asarray(jnp.sqrt((matrices**2).sum((1, 2, 3))))

    each = {name: getattr(weights, name) for name in MATRICES.values()}
    return {f"{name}_norm": ("cell", norm(part)) for name, part in each.items()}

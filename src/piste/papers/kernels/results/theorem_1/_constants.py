"""Theorem 1 in numbers: batches over seeds, a part for each kernel and number of heads."""

import dataclasses
import itertools

import jax
import jax.numpy as jnp
import numpy as np
import xarray as xr

from piste.errors import field_error
from piste.values import option, value

from .descents import descend, first_theorem, floors, schedule, starts
from .models import KernelLayer
from .presets import REGRESSION
from .probes import RegressionView
from .real_presets import KERNELS
from .theory import ConvergenceTheorem

TRAINED = ("V", "QKV")
"""What Theorem 1's sweep trains, in this order."""
FORMAT = 2
"""Raised when a part holds other numbers, so that older parts are not taken for these."""
HUNDREDTH = 0.01
"""The share of the loss whose promise makes a bound useful."""


def numbers(name: str, text: str, kind: type) -> list:
    """Positive numbers with spaces between."""
    try:
        found = [kind(word) for word in text.split()]
    except ValueError:
        found = []
    if not found or min(found) <= 0:
        raise field_error(name, repr(text), "must be positive numbers, spaces between")
    return found


def shapes(heads: str) -> list[tuple[str, int]]:
    """Every kernel with every number of heads: what a part is for."""
    return list(itertools.product(KERNELS, numbers("heads", heads, int)))


def loss_only(view: RegressionView) -> dict:
    """What a descent for Theorem 1 is measured by."""
    return {"loss": view.loss()}


@value
class Transition:
    """Theorem 1 over H for both kernels: W^V alone, and W^Q, W^K, W^V."""

    heads: str = "1 2 3 4 5 6 8 16"
    """Numbers of heads, H, with spaces between."""
    seeds: int = option(default=8, minimum=1)
    first_seed: int = option(default=100, minimum=0)
    steps: int = option(default=3000, minimum=1)
    dense: int = option(default=32, minimum=1)
    """Every step is recorded up to here, later ones ever more thinly."""
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
        theorem, times = first_theorem(kernel, *start), schedule(self.steps, self.dense)
        same = (
            constants(theorem, kernel, seeds)
            | bounds(theorem, times)
            | {"floor": ("cell", floors(kernel, *start))}
        )
        found: list[xr.Dataset] = []
        for place, train in enumerate(TRAINED):
            rates = theorem.learning_rate
            losses = descend(kernel, train, start, rates, times, loss_only)["loss"]
            more = {
                "train": ("cell", np.full(len(seeds), place)),
                "loss": (("cell", "step"), losses),
            }
            found.append(xr.Dataset(same | more, {"step": times}))
        return xr.concat(found, "cell")


@value
class Acceptance:
    r"""Targets along the left singular vector of $\sigma_{min}(B_0)$, equal heads."""

    heads: str = "4 8 16"
    seeds: int = option(default=8, minimum=1)
    first_seed: int = option(default=100, minimum=0)
    steps: int = option(default=3000, minimum=2)
    format: int = option(default=FORMAT, minimum=FORMAT, maximum=FORMAT)
    """Which numbers a part holds."""

    def __post_init__(self):
        shapes(self.heads)

    def parts(self) -> int:
        """One for every kernel and number of heads."""
        return len(shapes(self.heads))

    def part(self, index: int) -> xr.Dataset:
        """Train W^V and regress log f on t."""
        kernel, heads = shapes(self.heads)[index]
        seeds = range(self.first_seed, self.first_seed + self.seeds)
        model = KernelLayer(heads=heads, kernel=kernel, output="equal")
        task = dataclasses.replace(REGRESSION, targets="hardest")
        start = starts(task, model, seeds)
        theorem, times = first_theorem(kernel, *start), schedule(self.steps, 32)
        rates = theorem.learning_rate
        losses = descend(kernel, "V", start, rates, times, loss_only)["loss"]
        slopes = [-np.polyfit(times, np.log(row / row[0]), 1)[0] for row in losses]
        more = {
            "measured_rate": ("cell", np.array(slopes)),
            "loss": (("cell", "step"), losses),
        }
        return xr.Dataset(constants(theorem, kernel, seeds) | more, {"step": times})


@value
class Scale:
    r"""The constants of Theorem 1 for scales of $W^Q$ and $W^K$; nothing is trained."""

    scales: str = "0.1 0.3 1 3"
    heads: int = option(default=8, minimum=1)
    seeds: int = option(default=8, minimum=1)
    first_seed: int = option(default=100, minimum=0)
    format: int = option(default=FORMAT, minimum=FORMAT, maximum=FORMAT)
    """Which numbers a part holds."""

    def __post_init__(self):
        numbers("scales", self.scales, float)

    def parts(self) -> int:
        """One for every kernel."""
        return len(KERNELS)

    def part(self, index: int) -> xr.Dataset:
        """All scales and seeds of one kernel."""
        kernel = KERNELS[index]
        found: list[xr.Dataset] = []
        seeds = range(self.first_seed, self.first_seed + self.seeds)
        for scale in numbers("scales", self.scales, float):
            model = KernelLayer(heads=self.heads, key_scale=scale)
            start = starts(REGRESSION, model, seeds)
            known = constants(first_theorem(kernel, *start), kernel, seeds)
            known |= {"key_scale": ("cell", np.full(len(seeds), scale))}
            found.append(xr.Dataset(known))
        return xr.concat(found, "cell")


def constants(theorem: ConvergenceTheorem, kernel: str, seeds: range) -> dict:
    """What Theorem 1 computes from the start of every seed, by cell."""
    fields = {
        "kernel": np.full(len(seeds), KERNELS.index(kernel)),
        "seed": np.array(seeds),
        "rows": np.full(len(seeds), theorem.rows),
        "columns": np.full(len(seeds), theorem.columns),
        "eta": theorem.learning_rate,
        "beta": theorem.rate,
        "stacked_beta": theorem.stacked_rate,
        "feature_least": theorem.feature_least,
        "feature_resolution": theorem.feature_resolution,
        "head_output_least": theorem.head_output_least,
        "jacobian_largest": theorem.jacobian_largest,
        "initial_loss": theorem.initial_loss,
        "hundredth_steps": theorem.steps_until(HUNDREDTH),
    }
    return {name: ("cell", np.asarray(part)) for name, part in fields.items()}


def bounds(theorem: ConvergenceTheorem, times: np.ndarray) -> dict:
    """Both readings of the bound at the recorded steps, by cell."""
    steps = jnp.asarray(times)
    found = {
        "bound": jax.vmap(lambda one: one.bound(steps))(theorem),
        "stacked_bound": jax.vmap(lambda one: one.stacked_bound(steps))(theorem),
    }
    return {name: (("cell", "step"), np.asarray(b)) for name, b in found.items()}

"""The numbers behind both theorems: batches over seeds, a part for each shape."""

import dataclasses
import itertools

import jax.numpy as jnp
import numpy as np
import xarray as xr

from piste.errors import InputError
from piste.models import KernelLayer
from piste.probes.regression import RegressionView
from piste.theory.kernels import ConvergenceTheorem
from piste.values import field_error, option, value

from .descents import (
    descend,
    first_theorem,
    floors,
    schedule,
    second_theorem,
    starts,
)
from .presets import KERNELS, REGRESSION, TEACHER, layer

TRAINED = ("V", "QKV")
"""What Theorem 1's sweep trains, in this order."""
RATES = (0.05, 0.5)
"""The two η of which Theorem 2's runs take the better one."""


def _numbers(name: str, text: str, kind: type) -> list:
    """Numbers with spaces between."""
    try:
        found = [kind(word) for word in text.split()]
    except ValueError:
        found = []
    if not found or min(found) <= 0:
        raise field_error(name, repr(text), "must be positive numbers, spaces between")
    return found


def _shapes(heads: str) -> list[tuple[str, int]]:
    """Every kernel with every number of heads: what a part is for."""
    return list(itertools.product(KERNELS, _numbers("heads", heads, int)))


def _loss(view: RegressionView) -> dict:
    return {"loss": view.loss()}


@value
class Transition:
    """Theorem 1 over H for both kernels: W^V alone, and W^Q, W^K, W^V."""

    heads: str = "1 2 3 4 5 6 8 16"
    """Numbers of heads, H, with spaces between."""
    seeds: int = option(default=8, least=1)
    first_seed: int = option(default=100, least=0)
    steps: int = option(default=3000, least=1)
    dense: int = option(default=32, least=1)
    """Every step is recorded up to here, later ones ever more thinly."""

    def __post_init__(self):
        _shapes(self.heads)

    def parts(self) -> int:
        """One for every kernel and number of heads."""
        return len(_shapes(self.heads))

    def part(self, index: int) -> xr.Dataset:
        """Train all seeds of one kernel and H, twice."""
        kernel, heads = _shapes(self.heads)[index]
        seeds = range(self.first_seed, self.first_seed + self.seeds)
        start = starts(REGRESSION, KernelLayer(heads=heads), seeds)
        theorem = first_theorem(kernel, *start)
        same = _constants(theorem, kernel, seeds) | {
            "floor": ("cell", floors(kernel, *start))
        }
        times = schedule(self.steps, self.dense)
        found: list[xr.Dataset] = []
        for place, train in enumerate(TRAINED):
            rates = theorem.learning_rate
            losses = descend(kernel, train, start, rates, times, _loss)["loss"]
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
    seeds: int = option(default=8, least=1)
    first_seed: int = option(default=100, least=0)
    steps: int = option(default=3000, least=2)

    def __post_init__(self):
        _shapes(self.heads)

    def parts(self) -> int:
        """One for every kernel and number of heads."""
        return len(_shapes(self.heads))

    def part(self, index: int) -> xr.Dataset:
        """Train W^V and regress log f on t."""
        kernel, heads = _shapes(self.heads)[index]
        seeds = range(self.first_seed, self.first_seed + self.seeds)
        model = KernelLayer(heads=heads, kernel=kernel, output="equal")
        task = dataclasses.replace(REGRESSION, targets="hardest")
        start = starts(task, model, seeds)
        theorem, times = first_theorem(kernel, *start), schedule(self.steps, 32)
        rates = theorem.learning_rate
        losses = descend(kernel, "V", start, rates, times, _loss)["loss"]
        slopes = [-np.polyfit(times, np.log(row / row[0]), 1)[0] for row in losses]
        more = {
            "measured_rate": ("cell", np.array(slopes)),
            "loss": (("cell", "step"), losses),
        }
        return xr.Dataset(_constants(theorem, kernel, seeds) | more, {"step": times})


@value
class Scale:
    r"""The constants of Theorem 1 for scales of $W^Q$ and $W^K$; nothing is trained."""

    scales: str = "0.1 0.3 1 3"
    heads: int = option(default=8, least=1)
    seeds: int = option(default=8, least=1)
    first_seed: int = option(default=100, least=0)

    def __post_init__(self):
        _numbers("scales", self.scales, float)

    def parts(self) -> int:
        """One for every kernel."""
        return len(KERNELS)

    def part(self, index: int) -> xr.Dataset:
        """All scales and seeds of one kernel."""
        kernel = KERNELS[index]
        found: list[xr.Dataset] = []
        seeds = range(self.first_seed, self.first_seed + self.seeds)
        for scale in _numbers("scales", self.scales, float):
            start = starts(
                REGRESSION, KernelLayer(heads=self.heads, key_scale=scale), seeds
            )
            constants = _constants(first_theorem(kernel, *start), kernel, seeds)
            constants |= {"key_scale": ("cell", np.full(len(seeds), scale))}
            found.append(xr.Dataset(constants))
        return xr.concat(found, "cell")


def _constants(theorem: ConvergenceTheorem, kernel: str, seeds: range) -> dict:
    fields = {
        "kernel": np.full(len(seeds), KERNELS.index(kernel)),
        "seed": np.array(seeds),
        "rows": np.full(len(seeds), theorem.rows),
        "columns": np.full(len(seeds), theorem.columns),
        "eta": theorem.learning_rate,
        "beta": theorem.rate,
        "stacked_beta": theorem.stacked_rate,
        "feature_least": theorem.feature_least,
        "head_output_least": theorem.head_output_least,
        "jacobian_largest": theorem.jacobian_largest,
        "initial_loss": theorem.initial_loss,
    }
    return {name: ("cell", np.asarray(part)) for name, part in fields.items()}


def _path(view: RegressionView) -> dict:
    """What Theorem 2 is about, along a descent."""
    values = view.jacobian_values(("query",))
    return {
        "loss": view.loss(),
        "gradient_norm": view.gradient_norm(),
        "jacobian_least": values[-1],
        "jacobian_largest": values[0],
    }


@value
class Queries:
    """Theorem 2's construction and its controls: W^Q alone, the better of two η."""

    cases: str = "8,matched,6 4,matched,6 4,matched,1 4,random,1 4,random,2 4,random,4"
    """H, start and scale of Q and K, with spaces between."""
    seeds: int = option(default=20, least=1)
    first_seed: int = option(default=1000, least=0)
    steps: int = option(default=2000, least=1)
    dense: int = option(default=8, least=1)
    """Every step is recorded up to here, later ones ever more thinly."""

    def __post_init__(self):
        self.layers()

    def layers(self) -> list[KernelLayer]:
        """The layer of every case and kernel."""
        return [layer(k, *case) for case in self._cases() for k in KERNELS]

    def _cases(self) -> list[tuple[int, str, float]]:
        try:
            words = [case.split(",") for case in self.cases.split()]
            return [(int(heads), init, float(scale)) for heads, init, scale in words]
        except ValueError:
            rule = "must be H,start,scale with spaces between"
            raise InputError(f"cases = {self.cases!r}: {rule}") from None

    def parts(self) -> int:
        """One for every case and kernel."""
        return len(self.layers())

    def part(self, index: int) -> xr.Dataset:
        """Train all seeds with both η, and keep the better run of each."""
        model = self.layers()[index]
        seeds = range(self.first_seed, self.first_seed + self.seeds)
        start = starts(TEACHER, model, seeds)
        theorem = second_theorem(model.kernel, *start)
        times = schedule(self.steps, self.dense)
        runs = []
        for rate in RATES:
            rates = jnp.full(len(seeds), rate)
            runs.append(descend(model.kernel, "Q", start, rates, times, _path))
        best = _better([run["loss"] for run in runs])
        return xr.Dataset(
            {
                "heads": ("cell", np.full(len(seeds), model.heads)),
                "matched": ("cell", np.full(len(seeds), model.init == "matched")),
                "key_scale": ("cell", np.full(len(seeds), model.key_scale)),
                "kernel": ("cell", np.full(len(seeds), KERNELS.index(model.kernel))),
                "seed": ("cell", np.array(seeds)),
                "eta": ("cell", np.array(RATES)[best]),
                "largest_share": ("cell", np.asarray(theorem.largest_share)),
                **{
                    name: (
                        ("cell", "step"),
                        np.stack([run[name] for run in runs])[best, range(len(seeds))],
                    )
                    for name in runs[0]
                },
            },
            {"step": times},
        )


def _better(losses: list[np.ndarray]) -> np.ndarray:
    """Which run of each seed ends lower; one that is not finite never does."""
    ends = np.stack([loss[:, -1] for loss in losses])
    return np.where(np.isfinite(ends), ends, np.inf).argmin(0)

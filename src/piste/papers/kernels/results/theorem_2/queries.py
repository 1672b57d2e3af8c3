"""Theorem 2 in numbers: W^Q alone from several starts, both kernels and two step sizes."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import xarray as xr

from piste.errors import InputError
from piste.values import option, value

from .calculations import FORMAT, numbers
from .descents import descend, schedule, second_theorem, starts, teacher_shares
from .models import KernelLayer
from .presets import TEACHER, layer
from .probes import RegressionView, resolution
from .real_presets import KERNELS
from .theory import QueryTheorem


def _path(view: RegressionView) -> dict:
    """What Theorem 2 is about, along a descent."""
    values = view.jacobian_values(("query",))
    shape = view.data.targets.size, view.weights.query.size
    return {
        "loss": view.loss(),
        "gradient_norm": view.gradient_norm(),
        "jacobian_least": values[-1],
        "jacobian_largest": values[0],
        "jacobian_resolution": resolution(values[0], shape),
    }


@value
class Queries:
    """Theorem 2's construction and its controls: W^Q alone, with every η."""

    cases: str = "8,matched,6 4,matched,6 4,matched,1 4,random,1 4,random,2 4,random,4"
    """H, start and scale of Q and K, with spaces between."""
    rates: str = "0.05 0.5"
    """Step sizes η, with spaces between; the better run of each seed is marked."""
    seeds: int = option(default=20, minimum=1)
    first_seed: int = option(default=1000, minimum=0)
    steps: int = option(default=2000, minimum=1)
    dense: int = option(default=8, minimum=1)
    """Every step is recorded up to here, later ones ever more thinly."""
    format: int = option(default=FORMAT, minimum=FORMAT, maximum=FORMAT)
    """Which numbers a part holds."""

    def __post_init__(self):
        self.layers()
        numbers("rates", self.rates, float)

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
        """Train all seeds with every η, and mark the better run of each."""
        model = self.layers()[index]
        seeds = range(self.first_seed, self.first_seed + self.seeds)
        start = starts(TEACHER, model, seeds)
        theorem = second_theorem(model.kernel, *start)
        times = schedule(self.steps, self.dense)
        teacher = teacher_shares(model, *start, seeds)
        same = _about(model, seeds) | {
            "largest_share": ("cell", np.asarray(theorem.largest_share)),
            "teacher_share": ("cell", np.asarray(teacher)),
        }
        found: list[xr.Dataset] = []
        for rate in numbers("rates", self.rates, float):
            each = jnp.full(len(seeds), rate)
            run = descend(model.kernel, "Q", start, each, times, _path)
            run["bound"] = _bound(theorem, run["jacobian_least"], rate, times)
            arrays = {name: (("cell", "step"), part) for name, part in run.items()}
            eta = {"eta": ("cell", np.full(len(seeds), rate))}
            found.append(xr.Dataset(same | eta | arrays, {"step": times}))
        best = better([part.loss.values for part in found])
        marked = [
            part.assign(better=("cell", best == place))
            for place, part in enumerate(found)
        ]
        return xr.concat(marked, "cell")


def _about(model: KernelLayer, seeds: range) -> dict:
    fields = {
        "heads": model.heads,
        "matched": model.init == "matched",
        "key_scale": model.key_scale,
        "kernel": KERNELS.index(model.kernel),
        "rows": TEACHER.sequences * TEACHER.length,
        "columns": model.heads * TEACHER.dimension,
    }
    known = {name: ("cell", np.full(len(seeds), x)) for name, x in fields.items()}
    return known | {"seed": ("cell", np.array(seeds))}


def _bound(
    theorem: QueryTheorem, least: np.ndarray, rate: float, times: np.ndarray
) -> np.ndarray:
    r"""$(1-\eta\beta)^t f_0$ with the smallest β of each path."""
    steps = jnp.asarray(times)

    def one(theorem: QueryTheorem, least):
        along = dataclasses.replace(theorem, jacobian_least=least)
        return along.bound(rate, steps)

    return np.asarray(jax.vmap(one)(theorem, jnp.asarray(least.min(1))))


def better(losses: list[np.ndarray]) -> np.ndarray:
    """Which run of each seed ends lower; one that is not finite never does."""
    ends = np.stack([loss[:, -1] for loss in losses])
    return np.where(np.isfinite(ends), ends, np.inf).argmin(0)

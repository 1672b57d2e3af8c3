"""Runs of Theorem 2: W^Q alone in every case, with both kernels and two step sizes."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pandas as pd
import xarray as xr

from piste.errors import field_error
from piste.probes import Probe
from piste.reproduction import Evidence, Table
from piste.values import option, value

from ...models import KernelLayer
from ...presets import COMPARED_KERNELS, TEACHER, query_layer
from ...probes import RegressionView, resolution
from ...theory import QueryTheorem
from ...thresholds import ZERO_LOSS
from .._descents import (
    LOSS,
    descend,
    draw_starts,
    recorded_steps,
    teacher_shares,
    theorem_2_constants,
)
from ..cells import check_not_empty, final_share, labels
from .cases import (
    CASES,
    Case,
    better_runs_of,
    cases_of,
    is_stalled,
    is_success,
    median_min,
)


@value
class Queries:
    """Theorem 2's construction and its controls: W^Q alone, with every η.

    A case is an entry of ``heads``, of ``inits`` and of ``key_scales``.
    """

    heads: tuple[int, ...] = option(
        default=tuple(case.heads for case in CASES), minimum=1
    )
    """Number of heads of every case, H."""
    inits: tuple[str, ...] = option(
        default=tuple(case.init for case in CASES), choices=("random", "matched")
    )
    """How W^Q and W^K of every case are initialised."""
    key_scales: tuple[float, ...] = option(
        default=tuple(case.key_scale for case in CASES), greater_than=0
    )
    """Scale of W^Q and W^K of every case."""
    rates: tuple[float, ...] = option(default=(0.05, 0.5), greater_than=0)
    """Step sizes η; the better run of each seed is marked."""
    seeds: int = option(default=20, minimum=1)
    first_seed: int = option(default=1000, minimum=0)
    steps: int = option(default=2000, minimum=1)
    dense: int = option(default=8, minimum=1)
    """Every step is recorded up to here, later ones at growing distances."""

    def __post_init__(self):
        check_not_empty(heads=self.heads, rates=self.rates)
        for name in ("inits", "key_scales"):
            given = getattr(self, name)
            if len(given) != len(self.heads):
                expected = f"must have as many values as heads, {len(self.heads)}"
                raise field_error(name, given, expected)

    @classmethod
    def of_cases(cls, *cases: Case, **fields) -> "Queries":
        """Make the calculation of some cases."""
        heads, inits, key_scales = zip(*cases, strict=True)
        return cls(heads=heads, inits=inits, key_scales=key_scales, **fields)

    def layers(self) -> list[KernelLayer]:
        """The layer of every case and kernel."""
        cases = zip(self.heads, self.inits, self.key_scales, strict=True)
        return [query_layer(k, *case) for case in cases for k in COMPARED_KERNELS]

    def parts(self) -> int:
        """One for every case and kernel."""
        return len(self.layers())

    def part(self, index: int) -> xr.Dataset:
        """Train all seeds with every η, and mark the better run of each."""
        model = self.layers()[index]
        seeds = range(self.first_seed, self.first_seed + self.seeds)
        start = draw_starts(TEACHER, model, seeds)
        theorem = theorem_2_constants(model.kernel, *start)
        times = recorded_steps(self.steps, self.dense)
        shared = _describe(model, seeds) | {
            "largest_share": ("cell", np.asarray(theorem.largest_share)),
            "teacher_share": (
                "cell",
                np.asarray(teacher_shares(model, *start, seeds)),
            ),
        }
        batches: list[xr.Dataset] = []
        for rate in self.rates:
            rates = jnp.full(len(seeds), rate)
            run = descend(model.kernel, "Q", start, rates, times, PROBES)
            beta, bound = _along_path(theorem, run["jacobian_min"], rate, times)
            run["bound"] = bound
            series = {name: (("cell", "step"), given) for name, given in run.items()}
            own = {
                "eta": ("cell", np.full(len(seeds), rate)),
                "beta": ("cell", beta),
            }
            batches.append(xr.Dataset(shared | own | series, {"step": times}))
        best = index_of_better([batch.loss.values for batch in batches])
        marked = [
            batch.assign(better=("cell", best == index))
            for index, batch in enumerate(batches)
        ]
        return xr.concat(marked, "cell")


def _jacobian_value(index: int):
    return lambda view: view.jacobian_values(("query",))[index]


def _resolution(view: RegressionView):
    shape = view.data.targets.size, view.weights.query.size
    return resolution(view.jacobian_values(("query",))[0], shape)


PROBES = (
    LOSS,
    Probe(
        "gradient_norm",
        r"$\|\nabla f\|$",
        "norm of the gradient",
        RegressionView.gradient_norm,
    ),
    Probe(
        "jacobian_min",
        r"$\sigma_{\min}(J_Q)$",
        "smallest singular value of the Jacobian of the queries",
        _jacobian_value(-1),
    ),
    Probe(
        "jacobian_max",
        r"$\sigma_{\max}(J_Q)$",
        "largest singular value of the Jacobian of the queries",
        _jacobian_value(0),
    ),
    Probe(
        "jacobian_resolution",
        "",
        "what a singular value decomposition resolves of it",
        _resolution,
    ),
)
"""What is measured along a path."""


def _describe(model: KernelLayer, seeds: range) -> dict:
    """The case, the kernel and the sizes of every cell."""
    numbers = {
        "heads": model.heads,
        "key_scale": model.key_scale,
        "rows": TEACHER.sequences * TEACHER.length,
        "columns": model.heads * TEACHER.dimension,
    }
    cells = {name: ("cell", np.full(len(seeds), x)) for name, x in numbers.items()}
    words = {"kernel": labels(model.kernel, seeds), "init": labels(model.init, seeds)}
    return words | cells | {"seed": ("cell", np.array(seeds))}


def _along_path(
    theorem: QueryTheorem, minima: np.ndarray, rate: float, times: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    r"""β and the bound of every seed, with the smallest $\sigma_{min}(J_Q)$ of its path."""
    steps = jnp.asarray(times)

    def one(theorem: QueryTheorem, minima):
        along = dataclasses.replace(theorem, jacobian_min=minima)
        return along.rate, along.bound(rate, steps)

    beta, bound = jax.vmap(one)(theorem, jnp.asarray(minima.min(1)))
    return np.asarray(beta), np.asarray(bound)


def index_of_better(losses: list[np.ndarray]) -> np.ndarray:
    """Which run of each seed ends lower; one that is not finite never does."""
    ends = np.stack([loss[:, -1] for loss in losses])
    return np.where(np.isfinite(ends), ends, np.inf).argmin(0)


# --- the table -------------------------------------------------------------------------


def success_frame(data: xr.Dataset) -> pd.DataFrame:
    """Every case and kernel: how many seeds succeed, how many stall, and their paths."""
    rows = [
        _row(case.words, kernel, runs)
        for case in cases_of(data)
        for kernel in COMPARED_KERNELS
        if (runs := better_runs_of(data, case, kernel)).sizes["cell"]
    ]
    return pd.DataFrame(rows)


def _row(case: str, kernel: str, runs: xr.Dataset) -> dict:
    row = {
        "case": case,
        "kernel": kernel,
        "runs": runs.sizes["cell"],
        "succeed": int(is_success(runs).sum()),
        "stalled": int(is_stalled(runs).sum()),
        "f_T/f₀": float(np.median(final_share(runs))),
        "‖∇f‖ at T": float(runs.gradient_norm[:, -1].median()),
        "largest weight's share": float(runs.largest_share.mean()),
        "σ_max(J_Q) at 0": float(runs.jacobian_max[:, 0].median()),
    }
    known = runs.jacobian_min > runs.jacobian_resolution
    for record, when in ((0, "0"), (-1, "T")):
        count = int(known[:, record].sum())
        row[f"σ_min(J_Q) at {when}"] = max(median_min(runs, record))
        row[f"resolved at {when}"] = f"{count} of {known.shape[0]}"
    return row


def _success(evidence: Evidence) -> pd.DataFrame:
    return success_frame(evidence.dataset("queries"))


TABLES = (
    Table(
        "success",
        f"Theorem 2: seeds that reach f_T/f₀ < {ZERO_LOSS:g}, and medians over seeds. "
        "Where σ_min is not resolved, the number is what an SVD resolves: a limit.",
        _success,
        ("queries",),
    ),
)

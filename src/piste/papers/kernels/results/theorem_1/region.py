"""Remarks under Theorem 1: the start is nearly convex, and the weights move a bit.

Measured along the runs of all three matrices: the ends of the Hessian's spectrum, and the
distance from the initial weights.
"""

import jax.numpy as jnp
import numpy as np
import pandas as pd
import xarray as xr

from piste.claims import Claim, Condition, Verdict, compare, decide
from piste.probes import Probe
from piste.reproduction import Evidence, Table
from piste.values import option, value

from ...models import MATRICES, KernelLayer, KernelWeights
from ...presets import REGRESSION
from ...thresholds import (
    EIGENVALUE_ROUNDING,
    MAX_NEGATIVE_CURVATURE,
    MAX_RELATIVE_MOVE,
    ZERO_LOSS,
)
from .._descents import LOSS, descend, draw_starts, recorded_steps, theorem_1_constants
from ..cells import (
    by_shape,
    check_not_empty,
    enough_seeds,
    final_share,
    keep,
    median,
    missing_data_verdicts,
)
from ._constants import CONSTANTS, conditions, constants, kernels_and_heads

LETTERS = {name: letter for letter, name in MATRICES.items()}
"""The letter of each matrix by its name."""


@value
class Region:
    """Theorem 1's runs of W^Q, W^K, W^V: how far they move, and how the loss bends."""

    heads: tuple[int, ...] = option(default=(4, 8, 16), minimum=1)
    """Numbers of heads, H."""
    seeds: int = option(default=8, minimum=1)
    first_seed: int = option(default=100, minimum=0)
    steps: int = option(default=3000, minimum=1)

    def __post_init__(self):
        check_not_empty(heads=self.heads)

    def parts(self) -> int:
        """One for every kernel and number of heads."""
        return len(kernels_and_heads(self.heads))

    def part(self, index: int) -> xr.Dataset:
        """Train all seeds of one kernel and H; measure at few steps."""
        kernel, heads = kernels_and_heads(self.heads)[index]
        seeds = range(self.first_seed, self.first_seed + self.seeds)
        start = draw_starts(REGRESSION, KernelLayer(heads=heads), seeds)
        theorem = theorem_1_constants(kernel, *start)
        times, rates = recorded_steps(self.steps, 1), theorem.learning_rate
        run = descend(kernel, "QKV", start, rates, times, PROBES)
        numbers = constants(theorem, kernel, seeds) | _initial_norms(start[1])
        numbers |= {"reach": ("cell", np.asarray(theorem.reach))}
        numbers |= {name: (("cell", "step"), series) for name, series in run.items()}
        return xr.Dataset(numbers, {"step": times})


def _distance(name: str) -> Probe:
    letter = LETTERS[name]
    symbol = rf"$\|W^{letter}_t - W^{letter}_0\|$"
    meaning = f"how far the {name} matrices have moved"
    return Probe(f"{name}_distance", symbol, meaning, lambda view: view.distance(name))


PROBES = (
    *(_distance(name) for name in LETTERS),
    LOSS,
    Probe(
        "curvature_min",
        r"$\lambda_{\min}$",
        "smallest eigenvalue of the Hessian",
        lambda view: view.hessian_extremes().smallest,
    ),
    Probe(
        "curvature_max",
        r"$\lambda_{\max}$",
        "largest eigenvalue of the Hessian",
        lambda view: view.hessian_extremes().largest,
    ),
)
"""What is measured along the runs."""


def _initial_norms(weights: KernelWeights) -> dict:
    r"""$\|W_0\|_F$ of every matrix, all heads together."""

    def norm(matrices):
        return np.asarray(jnp.sqrt((matrices**2).sum((1, 2, 3))))

    each = {name: getattr(weights, name) for name in LETTERS}
    return {f"{name}_norm": ("cell", norm(matrix)) for name, matrix in each.items()}


# --- what is read off the runs ---------------------------------------------------------

NEEDED = [*CONSTANTS, "loss", "curvature_min", "curvature_max", "reach"]
NEEDED += [f"{name}_{what}" for name in LETTERS for what in ("distance", "norm")]


def negative_curvature(runs: xr.Dataset) -> xr.DataArray:
    """−λ_min/λ_max of the Hessian at every record; NaN if no eigenvalue is positive.

    Zero where it is rounding of the largest eigenvalue.
    """
    largest = runs.curvature_max.where(runs.curvature_max > 0)
    share = -runs.curvature_min / largest
    return share.where(~(abs(share) <= EIGENVALUE_ROUNDING), 0)


def distance(runs: xr.Dataset) -> xr.DataArray:
    """‖M_t − M₀‖_F of all three matrices together."""
    squares = [runs[f"{name}_distance"] ** 2 for name in LETTERS]
    return sum(squares[1:], squares[0]) ** 0.5


def initial_norm(runs: xr.Dataset) -> xr.DataArray:
    """‖M₀‖_F of all three matrices together."""
    squares = [runs[f"{name}_norm"] ** 2 for name in LETTERS]
    return sum(squares[1:], squares[0]) ** 0.5


def relative_move(runs: xr.Dataset, name: str = "") -> np.ndarray:
    """‖W_T − W₀‖/‖W₀‖ of every run: of one matrix, or of all three together."""
    if name:
        moved, norm = runs[f"{name}_distance"], runs[f"{name}_norm"]
    else:
        moved, norm = distance(runs), initial_norm(runs)
    return (moved.isel(step=-1) / norm.where(norm > 0)).values


def share_of_reach(runs: xr.Dataset) -> xr.DataArray:
    """How far the weights have moved at the end, of the farthest that β allows."""
    return distance(runs).isel(step=-1) / runs.reach


def move_of_values(runs: xr.Dataset) -> xr.DataArray:
    """‖W_T^V‖/‖M₀‖; W^V starts at zero, so it has no initial norm of its own."""
    return runs.value_distance.isel(step=-1) / initial_norm(runs)


# --- the claims ------------------------------------------------------------------------


def _judge_start(evidence: Evidence) -> list[Verdict]:
    data = evidence.dataset("region")
    predicted = f"−λ_min ≤ {MAX_NEGATIVE_CURVATURE:g} λ_max at t = 0"
    if missing := missing_data_verdicts(data, NEEDED, predicted):
        return missing
    return [
        _starts_convex(shape.words, shape.cells, f"{predicted} in every seed")
        for shape in by_shape(data)
    ]


def _starts_convex(name: str, runs: xr.Dataset, predicted: str) -> Verdict:
    first = negative_curvature(runs).isel(step=0)
    return compare(
        name,
        first.values,
        maximum=MAX_NEGATIVE_CURVATURE,
        predicted=predicted,
        needs=(enough_seeds(runs),),
        conditions=conditions(runs),
        numbers={
            "seeds": runs.sizes["cell"],
            "−λ_min/λ_max (median)": median(first),
            "seeds within": int((first <= MAX_NEGATIVE_CURVATURE).sum()),
        },
    )


def _judge_movement(evidence: Evidence) -> list[Verdict]:
    data = evidence.dataset("region")
    predicted = (
        f"0 < ‖M_T − M₀‖ ≤ {MAX_RELATIVE_MOVE:g} ‖M₀‖ and −λ_min ≤ "
        f"{MAX_NEGATIVE_CURVATURE:g} λ_max at every record, in every seed that reaches "
        "zero loss"
    )
    if missing := missing_data_verdicts(data, NEEDED, predicted):
        return missing
    return [_moves(shape.words, shape.cells, predicted) for shape in by_shape(data)]


def _moves(name: str, runs: xr.Dataset, predicted: str) -> Verdict:
    converged = keep(runs, final_share(runs) < ZERO_LOSS)
    count = f"{converged.sizes['cell']} of {runs.sizes['cell']} seeds"
    moved, bent = relative_move(converged), negative_curvature(converged).values
    finite = bool(np.isfinite(moved).all() and np.isfinite(bent).all())
    known = moved.size > 0 and finite
    # Weights that did not move at all would be no sign of a bit.
    moves_a_bit = known and bool(moved.min() > 0 and moved.max() <= MAX_RELATIVE_MOVE)
    holds = moves_a_bit and bool(bent.max() <= MAX_NEGATIVE_CURVATURE)
    return decide(
        f"{name}, {count} reach zero loss",
        holds,
        predicted=predicted,
        measured=_range("‖M_T − M₀‖/‖M₀‖", moved)
        + _range("; largest −λ_min/λ_max", bent),
        needs=(
            enough_seeds(runs),
            Condition(f"a run with f_T/f₀ < {ZERO_LOSS:g}", moved.size > 0, count),
            Condition("all numbers are finite", known),
        ),
        conditions=conditions(runs),
        numbers=_medians(converged) if known else {},
    )


def _range(name: str, values: np.ndarray) -> str:
    """Smallest and largest over runs; of a path its largest record counts."""
    values = values.max(1) if values.ndim == 2 and values.size else values
    return f"{name} {values.min():.2g} to {values.max():.2g}" if values.size else ""


def _medians(runs: xr.Dataset) -> dict[str, float]:
    by_matrix = {
        f"W^{LETTERS[name]} (median)": median(relative_move(runs, name))
        for name in ("query", "key")
    }
    return by_matrix | {
        "‖W_T^V‖/‖M₀‖ (median)": median(move_of_values(runs)),
        "share of the reach √(2f₀/β) (median)": median(share_of_reach(runs)),
    }


CLAIMS = (
    Claim(
        "The start is in a nearly convex region",
        "The initialisation ensures that the variables start in a nearly convex region.",
        _judge_start,
        needs=("region",),
        figure="region",
        remark=(
            "Ours: the Hessian in W^Q, W^K, W^V has no eigenvalue below minus a tenth "
            "of its largest. The start is that of the study, W^V = 0; the poster's is "
            "not given."
        ),
    ),
    Claim(
        "Weights move a bit in the nearly convex region",
        "Weights need to move a bit in the nearly convex region to converge to a global "
        "solution.",
        _judge_movement,
        needs=("region",),
        figure="region",
        remark="Ours: a bit is a tenth of the start's norm. Both halves must hold.",
    ),
)


# --- the table -------------------------------------------------------------------------


def _movement(evidence: Evidence) -> pd.DataFrame:
    shapes = by_shape(evidence.dataset("region"))
    return pd.DataFrame([_row(*shape) for shape in shapes])


def _row(kernel: str, ratio: float, runs: xr.Dataset) -> dict:
    bent = negative_curvature(runs)
    by_matrix = {
        f"W^{LETTERS[name]} moved/‖W^{LETTERS[name]}₀‖": median(
            relative_move(runs, name)
        )
        for name in ("query", "key")
    }
    return {
        "kernel": kernel,
        "HD/Nn": ratio,
        "seeds": runs.sizes["cell"],
        "reach zero loss": int((final_share(runs) < ZERO_LOSS).sum()),
        "−λ_min/λ_max at 0": median(bent[:, 0]),
        "largest on the way": median(bent.max("step", skipna=False)),
        "at T": median(bent[:, -1]),
        **by_matrix,
        "W^V moved/‖M₀‖": median(move_of_values(runs)),
        "all moved/‖M₀‖": median(relative_move(runs)),
        "of the reach √(2f₀/β)": median(share_of_reach(runs)),
    }


def _caption(evidence: Evidence, frame: pd.DataFrame) -> str:
    last = int(evidence.dataset("region").step[-1])
    return (
        "How the loss bends along Theorem 1's runs of all three matrices, and how far "
        f"they have moved after T = {last:,} steps; medians. W^V starts at 0."
    )


TABLES = (Table("region", _caption, _movement, ("region",)),)

"""The remarks under Theorem 1: the start is nearly convex, and the weights move a bit."""

import numpy as np
import xarray as xr

from piste.claims import Claim, Condition, Verdict, compare, decide
from piste.reproduction import Evidence

from .cells import by_shape, end, enough_seeds, missing_records, subset
from .models import MATRICES
from .theorem_1_claims import CONSTANTS, conditions
from .thresholds import A_BIT, NEARLY_CONVEX, ZERO_LOSS

EIGENVALUE_ROUNDING = 1e-13
"""What rounding leaves of an eigenvalue of 0, in units of the largest."""
LETTERS = {name: letter for letter, name in MATRICES.items()}
NEEDED = [*CONSTANTS, "loss", "curvature_least", "curvature_largest", "reach"]
NEEDED += [f"{name}_{what}" for name in LETTERS for what in ("distance", "norm")]


def bend(part: xr.Dataset) -> xr.DataArray:
    """−λ_min/λ_max of the Hessian at every record; NaN where nothing bends up.

    Zero where it is rounding of the largest eigenvalue.
    """
    largest = part.curvature_largest.where(part.curvature_largest > 0)
    found = -part.curvature_least / largest
    return found.where(~(abs(found) <= EIGENVALUE_ROUNDING), 0)


def distance(part: xr.Dataset) -> xr.DataArray:
    """‖M_t − M₀‖_F of all three matrices together."""
    squares = [part[f"{name}_distance"] ** 2 for name in LETTERS]
    return sum(squares[1:], squares[0]) ** 0.5


def start_norm(part: xr.Dataset) -> xr.DataArray:
    """‖M₀‖_F of all three matrices together."""
    squares = [part[f"{name}_norm"] ** 2 for name in LETTERS]
    return sum(squares[1:], squares[0]) ** 0.5


def movement(part: xr.Dataset, name: str = "") -> np.ndarray:
    """‖W_T − W₀‖/‖W₀‖ of every run: of one matrix, or of all three together."""
    if name:
        moved, norm = part[f"{name}_distance"], part[f"{name}_norm"]
    else:
        moved, norm = distance(part), start_norm(part)
    return (moved.isel(step=-1) / norm.where(norm > 0)).values


def _start(evidence: Evidence) -> list[Verdict]:
    data, predicted = (
        evidence.dataset("region"),
        f"−λ_min ≤ {NEARLY_CONVEX:g} λ_max at t = 0",
    )
    if lacking := missing_records(data, NEEDED, predicted):
        return lacking
    return [
        compare(
            f"{kernel}, HD/Nn = {ratio:g}",
            bend(part).isel(step=0).values,
            most=NEARLY_CONVEX,
            predicted=f"{predicted} in every seed",
            needs=(enough_seeds(part),),
            conditions=conditions(part),
            numbers={
                "seeds": part.sizes["cell"],
                "−λ_min/λ_max (median)": float(np.median(bend(part).isel(step=0))),
                "seeds within": int((bend(part).isel(step=0) <= NEARLY_CONVEX).sum()),
            },
        )
        for kernel, ratio, part in by_shape(data)
    ]


def _moves(evidence: Evidence) -> list[Verdict]:
    data = evidence.dataset("region")
    predicted = (
        f"0 < ‖M_T − M₀‖ ≤ {A_BIT:g} ‖M₀‖ and −λ_min ≤ {NEARLY_CONVEX:g} λ_max at every "
        "record, in every seed that reaches zero loss"
    )
    if lacking := missing_records(data, NEEDED, predicted):
        return lacking
    return [
        _moved(f"{kernel}, HD/Nn = {ratio:g}", part, predicted)
        for kernel, ratio, part in by_shape(data)
    ]


def _moved(name: str, part: xr.Dataset, predicted: str) -> Verdict:
    ended = subset(part, end(part) < ZERO_LOSS)
    count = f"{ended.sizes['cell']} of {part.sizes['cell']} seeds"
    moved, bent = movement(ended), bend(ended).values
    known = moved.size > 0 and bool(
        np.isfinite(moved).all() and np.isfinite(bent).all()
    )
    needs = (
        enough_seeds(part),
        Condition(f"a run with f_T/f₀ < {ZERO_LOSS:g}", moved.size > 0, count),
        Condition("all numbers are finite", known),
    )
    # Weights that did not move at all would be no sign of a bit.
    a_bit = known and bool(moved.min() > 0 and moved.max() <= A_BIT)
    within = a_bit and bool(bent.max() <= NEARLY_CONVEX)
    return decide(
        f"{name}, {count} reach zero loss",
        within,
        predicted=predicted,
        measured=_span("‖M_T − M₀‖/‖M₀‖", moved)
        + _span("; largest −λ_min/λ_max", bent),
        needs=needs,
        conditions=conditions(part),
        numbers=_numbers(ended) if known else {},
    )


def _span(name: str, values: np.ndarray) -> str:
    """The range over runs; of a path its largest record counts."""
    values = values.max(1) if values.ndim == 2 and values.size else values
    return f"{name} {values.min():.2g} to {values.max():.2g}" if values.size else ""


def _numbers(part: xr.Dataset) -> dict[str, float]:
    """Medians over the runs, by matrix; W^V starts at zero and has no relative size."""
    found = {
        f"W^{LETTERS[name]} (median)": float(np.median(movement(part, name)))
        for name in ("query", "key")
    }
    reached = (distance(part).isel(step=-1) / part.reach).values
    return found | {
        "‖W_T^V‖/‖M₀‖ (median)": float(
            (part.value_distance.isel(step=-1) / start_norm(part)).median()
        ),
        "share of the reach √(2f₀/β) (median)": float(np.median(reached)),
    }


CLAIMS = (
    Claim(
        "The start is in a nearly convex region",
        "The initialisation ensures that the variables start in a nearly convex region.",
        _start,
        ("region",),
        "region",
        "Ours: the Hessian in W^Q, W^K, W^V has no eigenvalue below minus a tenth of its "
        "largest. The start is that of the study, W^V = 0; the poster's is not given.",
    ),
    Claim(
        "Weights move a bit in the nearly convex region",
        "Weights need to move a bit in the nearly convex region to converge to a global "
        "solution.",
        _moves,
        ("region",),
        "region",
        "Ours: a bit is a tenth of the start's norm. Both halves must hold.",
    ),
)

"""Theorem 2 on all sequences of positive probability: perfect within its steps."""

import math

import numpy as np
import pandas as pd
import xarray as xr

from piste.claims import Claim, Condition, Verdict, compare, undecided
from piste.reproduction import Evidence, Table

from .._cells import cells, number, size_text
from ._cells import conditions_of, curvature_growth, instance_text, why_unknown
from .descents import STUDY


def support_verdict(cell: xr.Dataset) -> Verdict:
    """Judge the first perfect step of a descent against the shortest T."""
    shortest, longest = number(cell, "shortest"), number(cell, "longest")
    instance = instance_text(cell)
    predicted = (
        f"perfect at some t ≤ T for every T from {shortest:.3g} to {longest:.3g}: "
        f"by the shortest"
    )
    if why := why_unknown(cell):
        return undecided(instance, predicted, why)
    steps = number(cell, "perfect_step")
    return compare(
        instance,
        steps,
        maximum=shortest,
        predicted=predicted,
        needs=(Condition("t* ≥ 1", steps >= 1, _step_text(cell, steps)),),
        conditions=conditions_of(cell),
        numbers={
            "t*": steps,
            "shortest T": shortest,
            "longest T": longest,
            "ε": number(cell, "epsilon"),
            "A": number(cell, "progress"),
            "L₀": number(cell, "initial_loss"),
            "δ": number(cell, "delta"),
            "λ_max grows by": curvature_growth(cell),
        },
    )


def _step_text(cell: xr.Dataset, steps: float) -> str:
    if math.isnan(steps):
        last = number(cell, "last_step")
        return f"not perfect within the {last:.0f} steps that were run"
    return f"{steps:g}"


def _judge(evidence: Evidence) -> list[Verdict]:
    return [support_verdict(cell) for cell in cells(evidence.dataset(STUDY))]


def _table(evidence: Evidence) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "(L, n, m)": size_text(cell),
            "sets": int(cell.possible_sets),
            "conditions": _conditions_text(cell),
            "c": number(cell, "scale"),
            "ε": number(cell, "epsilon"),
            "A": number(cell, "progress"),
            "L₀": number(cell, "initial_loss"),
            "t*": number(cell, "perfect_step"),
            "T from": number(cell, "shortest"),
            "T to": number(cell, "longest"),
            "λ_max grows by": curvature_growth(cell),
        }
        for cell in cells(evidence.dataset(STUDY))
    )


def _conditions_text(cell: xr.Dataset) -> str:
    if np.isnan(number(cell, "initial_loss")):
        return "unknown"
    met = all(condition.met for condition in conditions_of(cell))
    return "all true" if met else "not all"


CLAIMS = (
    Claim(
        "Theorem 2",
        "Gradient descent on W and V from W₀ = 0 and ‖V₀ − cP‖∞ ≤ ε/2 with η ≤ 1/λ_max "
        "is perfect at some step t ≤ T, for every T from 2mL₀/(A²η) to ε/(2η).",
        _judge,
        needs=(STUDY,),
        figure="descents",
        remark=(
            "Perfect on all sequences of positive probability, here some sets. λ_max "
            "is measured at every step of the path by Lanczos iteration; A is as "
            "large as it may be, which makes the shortest T shortest."
        ),
    ),
)
TABLES = (
    Table(
        "theorem-2",
        "Theorem 2: constants, the path, and the first perfect step t*.",
        _table,
        (STUDY,),
    ),
)

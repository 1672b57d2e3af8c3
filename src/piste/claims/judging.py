"""How numbers are judged, once for all claims.

A number that is missing, NaN or infinite never counts as agreement, and neither does a
comparison of nothing: both are inconclusive, and say why.
"""

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np
import xarray as xr

from .verdict import Condition, Outcome, Verdict

Numbers = float | Sequence[float] | np.ndarray | xr.DataArray


def compare(
    instance: str,
    measured: Numbers,
    *,
    maximum: float | None = None,
    minimum: float | None = None,
    predicted: str,
    bounded: bool = False,
    needs: Sequence[Condition] = (),
    conditions: Sequence[Condition] = (),
    numbers: dict[str, float] | None = None,
    runs: tuple[str, ...] = (),
) -> Verdict:
    """Judge one number, or all of several, against a limit from above or from below.

    Of several numbers the worst one decides. ``conditions`` are what the claim asks for:
    one that is not met makes the verdict "conditions unmet", whatever the number.
    ``needs`` are what the run must show for the number to mean anything (that it has
    trained, that its records are fine enough): one that is missing makes the verdict
    inconclusive. A ``bounded`` quantity (a share, an R²) has no margin.
    """
    values = np.asarray(measured, float).ravel()
    limit = maximum if maximum is not None else minimum
    assert limit is not None
    known = _all_finite(values)
    sentence = known.detail if not known.met else _worst(values, maximum is not None)
    room = np.nan
    if known.met:
        room = limit - values.max() if maximum is not None else values.min() - limit
    outcome, missing = _outcome((*needs, known), conditions, bool(room >= 0))
    margin = None
    if outcome in (Outcome.HOLDS, Outcome.VIOLATED) and limit and not bounded:
        margin = float(room / abs(limit))
    return Verdict(
        instance,
        outcome,
        predicted=predicted,
        measured=sentence
        if missing is known or missing is None
        else f"{sentence} ({_why(missing)})",
        margin=margin,
        conditions=(*conditions, *needs),
        numbers=numbers or {},
        runs=runs,
    )


def compare_range(
    instance: str,
    low: float,
    high: float,
    *,
    maximum: float | None = None,
    minimum: float | None = None,
    predicted: str,
    bounded: bool = False,
    unclear: str = "the records are too coarse to tell",
    **more: Any,
) -> Verdict:
    """Judge a number that is known to lie between two others.

    Records have gaps, so a time is known up to one; a mean over seeds has an interval of
    confidence. If the limit lies between both ends the verdict is inconclusive.
    """
    limits = {
        "maximum": maximum,
        "minimum": minimum,
        "bounded": bounded,
        "predicted": predicted,
    }
    ends = [compare(instance, end, **limits, **more) for end in (low, high)]
    worse = ends[1] if maximum is not None else ends[0]
    if {end.outcome for end in ends} == {Outcome.HOLDS, Outcome.VIOLATED}:
        text = f"between {low:.4g} and {high:.4g}: {unclear}"
        return dataclasses.replace(
            worse, outcome=Outcome.INCONCLUSIVE, measured=text, margin=None
        )
    if low == high or worse.outcome in (Outcome.UNMET, Outcome.INCONCLUSIVE):
        return worse
    return dataclasses.replace(worse, measured=f"between {low:.4g} and {high:.4g}")


def decide(
    instance: str,
    holds: bool,
    *,
    predicted: str,
    measured: str,
    needs: Sequence[Condition] = (),
    conditions: Sequence[Condition] = (),
    numbers: dict[str, float] | None = None,
    runs: tuple[str, ...] = (),
    margin: float | None = None,
) -> Verdict:
    """Judge what is no comparison with one limit; needs and conditions as above."""
    outcome, missing = _outcome(needs, conditions, holds)
    sentence = measured if missing is None else f"{measured} ({_why(missing)})"
    if outcome not in (Outcome.HOLDS, Outcome.VIOLATED):
        margin = None
    return Verdict(
        instance,
        outcome,
        predicted=predicted,
        measured=sentence,
        margin=margin,
        conditions=(*conditions, *needs),
        numbers=numbers or {},
        runs=runs,
    )


def undecided(instance: str, predicted: str, why: str, **more: Any) -> Verdict:
    """The verdict where there is nothing to measure, with the reason."""
    return Verdict(
        instance, Outcome.INCONCLUSIVE, predicted=predicted, measured=why, **more
    )


def differences(first: xr.DataArray, second: xr.DataArray) -> np.ndarray:
    """The distance of two recorded series, entry by entry.

    One NaN in place of them where the series have not the same records: two runs of
    which one is shorter do not agree. Two that are NaN alike do not agree either.
    """
    if first.dims != second.dims or first.shape != second.shape:
        return np.array([np.nan])
    shared = [name for name in first.dims if name in first.coords]
    if not all(np.array_equal(first[name], second[name]) for name in shared):
        return np.array([np.nan])
    return np.abs(np.asarray(first, float) - np.asarray(second, float))


def _all_finite(values: np.ndarray) -> Condition:
    name = "all numbers are finite"
    if values.size == 0:
        return Condition(name, False, "nothing was measured")
    bad = int((~np.isfinite(values)).sum())
    if bad and values.size == 1:
        return Condition(
            name, False, "not a number" if np.isnan(values[0]) else "infinite"
        )
    return Condition(name, not bad, f"{bad} of {values.size} numbers are not finite")


def _worst(values: np.ndarray, maximum: bool) -> str:
    worst = values.max() if maximum else values.min()
    if values.size == 1:
        return f"{worst:.4g}"
    return f"{'at most' if maximum else 'at least'} {worst:.4g} over {values.size}"


def _outcome(
    needs: Sequence[Condition], conditions: Sequence[Condition], holds: bool
) -> tuple[Outcome, Condition | None]:
    """The outcome, and the condition that kept it from being decided."""
    for condition in conditions:
        if not condition.met:
            return Outcome.UNMET, condition
    for need in needs:
        if not need.met:
            return Outcome.INCONCLUSIVE, need
    return (Outcome.HOLDS if holds else Outcome.VIOLATED), None


def _why(missing: Condition) -> str:
    detail = f": {missing.detail}" if missing.detail else ""
    return f"needs {missing.name}{detail}"

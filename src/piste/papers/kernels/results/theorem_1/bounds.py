"""Theorem 1: the bound in both readings, and the rate that it attains."""

import numpy as np
import xarray as xr

from piste.claims import Claim, Condition, Outcome, Verdict, compare
from piste.reproduction import Evidence

from .calculations import TRAINED
from .cells import by_shape, chosen, least_words, missing_records, subset
from .long_runs import summarised
from .thresholds import PROMISE, RATIO_SPREAD, RESOLVED_FALL, ROUNDING

CONSTANTS = (
    "kernel seed rows columns eta feature_least feature_resolution head_output_least "
    "jacobian_largest"
).split()
READINGS = {"bound": "beta", "stacked_bound": "stacked_beta"}
"""The two readings of the bound, and the β of each."""


def conditions(part: xr.Dataset) -> tuple[Condition, ...]:
    """What Theorem 1 asks for, with the numbers that decide it."""
    step, least = _step_size(part), float(part.head_output_least.min())
    return (
        wide_enough(part),
        Condition("W_h^O has full rank", least > 0, f"least σ_min = {least:.3g}"),
        Condition("σ_min(B₀) > 0", bool(_resolved(part).all()), least_feature(part)),
        Condition(
            "η = ½/σ²_max(J₀)",
            bool(_is_half(step).all()),
            f"ησ²_max(J₀) = {_span(step, 6)}",
        ),
    )


def _conditions_met(part: xr.Dataset) -> np.ndarray:
    """The same of every run by itself."""
    wide = (part.columns >= part.rows).values & (part.head_output_least > 0).values
    return wide & _resolved(part) & _is_half(_step_size(part))


def _step_size(part: xr.Dataset) -> np.ndarray:
    return (part.eta * part.jacobian_largest**2).values


def _is_half(step: np.ndarray) -> np.ndarray:
    return np.abs(2 * step - 1) <= ROUNDING


def wide_enough(part: xr.Dataset) -> Condition:
    """Theorem 1's condition on the size."""
    rows, columns = int(part.rows[0]), int(part.columns[0])
    return Condition("HD ≥ Nn", columns >= rows, f"{columns} against {rows}")


def _resolved(part: xr.Dataset) -> np.ndarray:
    return (part.feature_least > part.feature_resolution).values


def least_feature(part: xr.Dataset) -> str:
    """The least σ_min(B₀) of some seeds in words."""
    worst = int(np.argmin(part.feature_least.values))
    found = float(part.feature_least[worst]), float(part.feature_resolution[worst])
    return f"least of {part.sizes['cell']} seeds {least_words(*found)}"


# --- the bound ------------------------------------------------------------------------


def is_test(part: xr.Dataset, reading: str) -> np.ndarray:
    """Which runs have a bound that promises enough to be a test."""
    return (part[f"{reading}_promise"] <= PROMISE).values


def is_within(part: xr.Dataset, reading: str) -> np.ndarray:
    """Which runs are below the bound at every record."""
    return (part[f"{reading}_excess"] <= 1 + ROUNDING).values


def outcomes(part: xr.Dataset, reading: str) -> np.ndarray:
    """The outcome of every run.

    A loss above the bound violates it, however little the bound asks for; one below it
    is evidence only if the bound asks for something.
    """
    above = (part[f"{reading}_excess"] > 1 + ROUNDING).values
    held = is_within(part, reading) & is_test(part, reading)
    names = np.where(held, Outcome.HOLDS, Outcome.INCONCLUSIVE)
    names = np.where(above, Outcome.VIOLATED, names)
    return np.where(_conditions_met(part), names, Outcome.UNMET)


def _bound(study: str, reading: str):
    needed = [*CONSTANTS, "train", READINGS[reading]]
    if study == "promised":
        needed += ["share", f"{reading}_promise", f"{reading}_excess"]
    else:
        needed += ["loss", *READINGS]
    predicted = "f ≤ (1 − ηβ)^t f₀ at every record"

    def judge(evidence: Evidence) -> list[Verdict]:
        data = evidence.dataset(study)
        if lacking := missing_records(data, needed, predicted):
            return lacking
        if study == "transition":
            data = data.drop_vars("step").merge(summarised(data))
        return [
            verdict
            for kernel, ratio, part in by_shape(data)
            for place, train in enumerate(TRAINED)
            for verdict in _of_shape(
                f"{kernel}, {train}, HD/Nn = {ratio:g}",
                chosen(part, train=place),
                reading,
            )
        ]

    return judge


def _of_shape(name: str, part: xr.Dataset, reading: str) -> list[Verdict]:
    """A verdict for all runs of a shape that have the same outcome."""
    if not part.sizes["cell"]:
        return []
    found, every = outcomes(part, reading), part.sizes["cell"]
    return [
        _bound_verdict(
            f"{name}, {(found == o).sum()} of {every} seeds", o, runs, reading
        )
        for o in Outcome
        if (runs := subset(part, found == o)).sizes["cell"]
    ]


def _bound_verdict(
    name: str, outcome: Outcome, runs: xr.Dataset, reading: str
) -> Verdict:
    promise = runs[f"{reading}_promise"].values
    worst, share = runs[f"{reading}_excess"].values, runs["share"].values
    said = f"largest f/bound {worst.max():.4g}"
    if not np.isfinite(worst).all():
        said = (
            f"{int((~np.isfinite(worst)).sum())} runs with records that are no number"
        )
    elif outcome == Outcome.INCONCLUSIVE:
        said = f"the bound promises only f_T/f₀ ≤ {promise.min():.3g}"
    asked = f"f ≤ (1 − ηβ)^t f₀ at every record, f_T/f₀ ≤ {_span(promise)} at the last"
    return Verdict(
        name,
        outcome,
        asked,
        said,
        None,
        conditions(runs),
        {
            "(1 − ηβ)^T (median)": float(np.median(promise)),
            "f_T/f₀ (median)": float(np.median(share)),
            "largest f/bound": float(worst.max()),
            "β (median)": float(runs[READINGS[reading]].median()),
            "η (median)": float(runs.eta.median()),
        },
    )


def _span(values: np.ndarray, digits: int = 3) -> str:
    low, high = f"{values.min():.{digits}g}", f"{values.max():.{digits}g}"
    return low if low == high else f"{low} to {high}"


# --- the rate -------------------------------------------------


def _acceptance(evidence: Evidence) -> list[Verdict]:
    data, predicted = evidence.dataset("acceptance"), "rate/(ηβ) within 0.01 of 2.00"
    if lacking := missing_records(
        data, [*CONSTANTS, "beta", "measured_rate", "loss"], predicted
    ):
        return lacking
    found = []
    for kernel, ratio, part in by_shape(data):
        measured = acceptance_ratio(part)
        fall = 2 * part.eta * part.beta * float(part.step[-1])
        need = Condition(
            "a fall of log f beyond rounding",
            bool((fall > RESOLVED_FALL).all()),
            f"least {float(fall.min()):.2g}",
        )
        found.append(
            compare(
                f"{kernel}, HD/Nn = {ratio:g}",
                np.abs(measured - 2),
                most=RATIO_SPREAD,
                predicted=f"{predicted} for every seed",
                needs=(need,),
                conditions=conditions(part),
                numbers={
                    "seeds": measured.size,
                    "least": float(measured.min()),
                    "largest": float(measured.max()),
                },
            )
        )
    return found


def acceptance_ratio(part: xr.Dataset) -> np.ndarray:
    """The measured logarithmic rate in units of ηβ; NaN where a loss is no number."""
    known = np.isfinite(part.loss).all("step") & (part.loss > 0).all("step")
    return (part.measured_rate / (part.eta * part.beta)).where(known).values


CLAIMS = (
    Claim(
        "Theorem 1, β per head",
        "Where HD ≥ Nn, gradient descent with η = ½/σ²_max(J₀) has f(M_t) ≤ (1 − ηβ)^t "
        "f(M₀) with β = min_h σ²_min(W_h^O) σ²_min(B₀).",
        _bound("transition", "bound"),
        ("transition",),
        "bounds",
        "A run below a bound that promises less than half of the loss is no test of it, "
        "and inconclusive. Seeds are judged one by one; those of a shape with the same "
        "outcome are one instance. Below HD = Nn the condition is not met and β is 0.",
    ),
    Claim(
        "Theorem 1, β per head, for as long as it takes",
        "The same in the same runs, continued until the bound promises half of the loss.",
        _bound("promised", "bound"),
        ("promised",),
        "promised",
        "Seeds that would need more steps than the study has stay inconclusive.",
    ),
    Claim(
        "Theorem 1, β with stacked W^O",
        "The same with σ²_min of all heads' W^O stacked, as the formula can be read.",
        _bound("transition", "stacked_bound"),
        ("transition",),
        "bounds",
        "This β is about H times larger than the one that can be proved.",
    ),
    Claim(
        "The bound's rate is attained",
        "With targets along the left singular vector of σ_min(B₀), equal heads and W^V "
        "alone, log f falls by 2ηβ a step.",
        _acceptance,
        ("acceptance",),
        "acceptance",
        "Twice the bound's rate, because f is the square of what shrinks. The rate is the "
        "slope of log f over all recorded steps.",
    ),
)

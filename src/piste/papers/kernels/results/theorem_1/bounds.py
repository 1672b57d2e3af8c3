"""Theorem 1's bound in both readings: f ≤ (1 − ηβ)^t f₀ with β per head, or stacked."""

from collections.abc import Callable

import numpy as np
import pandas as pd
import xarray as xr

from piste.claims import Claim, Outcome, Verdict
from piste.reproduction import Evidence, Table

from ...thresholds import BOUND_ROUNDING, MAX_PROMISED_SHARE
from ..cells import by_shape, keep, median, missing_data_verdicts, select
from ._constants import (
    CONSTANTS,
    are_conditions_met,
    conditions,
    range_words,
)
from .runs import TRAINED_MATRICES, floor_share, promised_runs, transition_runs

READINGS = {"bound": "beta", "stacked_bound": "stacked_beta"}
"""The two readings of the bound, and the β of each."""
RUNS: dict[str, Callable[[Evidence], xr.Dataset]] = {
    "transition": transition_runs,
    "promised": promised_runs,
}
"""The studies whose runs are held against the bound, and how each is read."""


def is_test(runs: xr.Dataset, reading: str) -> np.ndarray:
    """Which runs have a bound that promises enough to be a test."""
    return (runs[f"{reading}_promise"] <= MAX_PROMISED_SHARE).values


def is_within(runs: xr.Dataset, reading: str) -> np.ndarray:
    """Which runs are below the bound at every record."""
    return (runs[f"{reading}_excess"] <= 1 + BOUND_ROUNDING).values


def outcomes(runs: xr.Dataset, reading: str) -> np.ndarray:
    """Outcome of every run.

    A loss above the bound violates it, however little the bound asks for; one below it
    is evidence only if the bound asks for something.
    """
    above = (runs[f"{reading}_excess"] > 1 + BOUND_ROUNDING).values
    holds = is_within(runs, reading) & is_test(runs, reading)
    decided = np.where(holds, Outcome.HOLDS, Outcome.INCONCLUSIVE)
    decided = np.where(above, Outcome.VIOLATED, decided)
    return np.where(are_conditions_met(runs), decided, Outcome.UNMET)


# --- verdicts --------------------------------------------------------------------------


def _judge_bound(study: str, reading: str):
    needed = [*CONSTANTS, "train", READINGS[reading]]
    if study == "promised":
        needed += ["share", f"{reading}_promise", f"{reading}_excess"]
    else:
        needed += ["loss", *READINGS]
    predicted = "f ≤ (1 − ηβ)^t f₀ at every record"

    def judge(evidence: Evidence) -> list[Verdict]:
        data = evidence.dataset(study)
        if missing := missing_data_verdicts(data, needed, predicted):
            return missing
        return [
            verdict
            for kernel, ratio, cells in by_shape(evidence.once(RUNS[study]))
            for train in TRAINED_MATRICES
            for verdict in _judge_shape(
                f"{kernel}, {train}, HD/Nn = {ratio:g}",
                select(cells, train=train),
                reading,
            )
        ]

    return judge


def _judge_shape(name: str, runs: xr.Dataset, reading: str) -> list[Verdict]:
    """One verdict for all runs of a shape that have the same outcome."""
    every = runs.sizes["cell"]
    if not every:
        return []
    decided = outcomes(runs, reading)
    return [
        _verdict(f"{name}, {(decided == o).sum()} of {every} seeds", o, alike, reading)
        for o in Outcome
        if (alike := keep(runs, decided == o)).sizes["cell"]
    ]


def _verdict(name: str, outcome: Outcome, runs: xr.Dataset, reading: str) -> Verdict:
    promise = runs[f"{reading}_promise"].values
    excess, share = runs[f"{reading}_excess"].values, runs["share"].values
    measured = f"largest f/bound {excess.max():.4g}"
    if not np.isfinite(excess).all():
        unknown = int((~np.isfinite(excess)).sum())
        measured = f"{unknown} runs with records that are no number"
    elif outcome == Outcome.INCONCLUSIVE:
        measured = f"the bound promises only f_T/f₀ ≤ {promise.min():.3g}"
    return Verdict(
        name,
        outcome,
        predicted=(
            "f ≤ (1 − ηβ)^t f₀ at every record, "
            f"f_T/f₀ ≤ {range_words(promise)} at the last"
        ),
        measured=measured,
        margin=None,
        conditions=conditions(runs),
        numbers={
            "(1 − ηβ)^T (median)": float(np.median(promise)),
            "f_T/f₀ (median)": float(np.median(share)),
            "largest f/bound": float(excess.max()),
            "β (median)": float(runs[READINGS[reading]].median()),
            "η (median)": float(runs.eta.median()),
        },
    )


CLAIMS = (
    Claim(
        "Theorem 1, β per head",
        "Where HD ≥ Nn, gradient descent with η = ½/σ²_max(J₀) has f(M_t) ≤ (1 − ηβ)^t "
        "f(M₀) with β = min_h σ²_min(W_h^O) σ²_min(B₀).",
        _judge_bound("transition", "bound"),
        needs=("transition",),
        figure="bounds",
        remark=(
            "A run below a bound that promises less than half of the loss is no test "
            "of it, and inconclusive. Seeds are judged one by one; those of a shape "
            "with the same outcome are one instance. Below HD = Nn the condition is "
            "not met and β is 0."
        ),
    ),
    Claim(
        "Theorem 1, β per head, for as long as it takes",
        "The same in the same runs, continued until the bound promises half of the loss.",
        _judge_bound("promised", "bound"),
        needs=("promised",),
        figure="promised",
        remark="Seeds that would need more steps than the study has stay inconclusive.",
    ),
    Claim(
        "Theorem 1, β with stacked W^O",
        "The same with σ²_min of all heads' W^O stacked, as the formula can be read.",
        _judge_bound("transition", "stacked_bound"),
        needs=("transition",),
        figure="bounds",
        remark="This β is about H times larger than the one that can be proved.",
    ),
)


# --- tables ----------------------------------------------------------------------------

_MEANING = (
    "Medians over the seeds; tests are the runs of which the bound promises "
    f"(1 − ηβ)^T ≤ {MAX_PROMISED_SHARE:g}."
)


def _transition(evidence: Evidence) -> pd.DataFrame:
    rows = [
        _row(kernel, train, ratio, runs)
        | {"least with V alone": float(np.median(floor_share(runs)))}
        for train in TRAINED_MATRICES
        for kernel, ratio, cells in by_shape(evidence.once(transition_runs))
        for runs in [select(cells, train=train)]
    ]
    return pd.DataFrame(rows)


def _transition_caption(evidence: Evidence, frame: pd.DataFrame) -> str:
    last = int(evidence.dataset("transition").step[-1])
    return f"Theorem 1 after T = {last:,} steps: {count_tests(frame)}. {_MEANING}"


def counts_of_caption(caption: str) -> str:
    """What a caption of these tables counts, without the meaning of the columns."""
    return caption.removesuffix(f". {_MEANING}")


def _promised(evidence: Evidence) -> pd.DataFrame:
    rows = [
        _row(kernel, train, ratio, runs) | {"T": int(runs.steps.max())}
        for train in TRAINED_MATRICES
        for kernel, ratio, cells in by_shape(evidence.once(promised_runs))
        if (runs := select(cells, train=train)).sizes["cell"]
    ]
    return pd.DataFrame(rows)


def _promised_caption(evidence: Evidence, frame: pd.DataFrame) -> str:
    last = int(evidence.dataset("promised").steps.max())
    text = f"Theorem 1's runs, continued for up to {last:,} steps"
    return f"{text}: {count_tests(frame)}. {_MEANING}"


def _row(kernel: str, train: str, ratio: float, runs: xr.Dataset) -> dict:
    return {
        "kernel": kernel,
        "trained": train,
        "HD/Nn": ratio,
        "seeds": runs.sizes["cell"],
        "f_T/f₀": median(runs.share),
        "(1 − ηβ)^T": median(runs.bound_promise),
        "tests": int(is_test(runs, "bound").sum()),
        "within per head": int(is_within(runs, "bound").sum()),
        "within stacked": int(is_within(runs, "stacked_bound").sum()),
    }


def count_tests(frame: pd.DataFrame) -> str:
    """How many runs are within the bound, and for how many that is a test of it."""
    covered = frame[frame["HD/Nn"] >= 1]
    runs, tests = covered["seeds"].sum(), covered["tests"].sum()
    per_head, stacked = (covered[f"within {w}"].sum() for w in ("per head", "stacked"))
    return (
        f"where HD ≥ Nn, {per_head} of {runs} runs are within the bound per head and "
        f"{stacked} within the stacked one; in {runs - tests} of them the bound per head "
        f"asks for less than f_T/f₀ ≤ {MAX_PROMISED_SHARE:g}, so {tests} are tests of it"
    )


TABLES = (
    Table("transition", _transition_caption, _transition, ("transition",)),
    Table("promised", _promised_caption, _promised, ("promised",)),
)

"""Theorem 2 itself: softmax stalls at the matched start, the Gaussian kernel converges."""

import numpy as np
import xarray as xr

from piste.claims import Claim, Condition, Outcome, Verdict, compare, undecided
from piste.reproduction import Evidence

from ...thresholds import (
    BOUND_ROUNDING,
    MAX_PROMISED_SHARE,
    MAX_STEP_CURVATURE,
    NEARLY_ALL,
    ROUNDING_FLOOR,
    STALLED_LOSS,
    VANISHED_GRADIENT,
    ZERO_LOSS,
)
from ..cells import enough_seeds, missing_data_verdicts, share_of
from .cases import (
    CONSTRUCTION,
    GAUSSIAN,
    NEEDED,
    SOFTMAX,
    Case,
    better_runs_of,
    conditions,
    is_known,
    is_stalled,
    is_success,
    paired_cases,
    path_numbers,
    runs_of,
)


def _judge_construction(evidence: Evidence, predicted: str, judge_case) -> list:
    """Judge every case of the construction that the study has with both kernels."""
    data = evidence.dataset("queries")
    if missing := missing_data_verdicts(data, NEEDED, predicted):
        return missing
    cases = paired_cases(data, CONSTRUCTION)
    if not cases:
        return [undecided("the matched start", predicted, "no runs of both kernels")]
    return [judge_case(data, case, predicted) for case in cases]


# --- softmax stalls --------------------------------------------------------------------


def _judge_softmax(evidence: Evidence) -> list[Verdict]:
    predicted = (
        f"‖∇f‖ < {VANISHED_GRADIENT:g} with f_T/f₀ > {STALLED_LOSS:g} in at least "
        f"{NEARLY_ALL:g} of the seeds"
    )
    return _judge_construction(evidence, predicted, _stalls)


def _stalls(data: xr.Dataset, case: Case, predicted: str) -> Verdict:
    softmax, gaussian = (better_runs_of(data, case, k) for k in (SOFTMAX, GAUSSIAN))
    succeed = share_of(is_success(gaussian), is_known(gaussian))
    # In a run that is too short everything stalls.
    long_enough = Condition(
        "enough steps for the Gaussian kernel",
        succeed >= NEARLY_ALL,
        f"{succeed:.2g} succeed",
        succeed,
        NEARLY_ALL,
    )
    return compare(
        f"softmax, {case.words}",
        share_of(is_stalled(softmax), is_known(softmax)),
        minimum=NEARLY_ALL,
        predicted=predicted,
        bounded=True,
        needs=(enough_seeds(softmax), long_enough),
        conditions=conditions(softmax),
        numbers=path_numbers(softmax),
    )


# --- the Gaussian kernel converges -----------------------------------------------------


def linear_outcomes(runs: xr.Dataset) -> np.ndarray:
    """Whether each run converges to zero loss, and below (1 − ηβ)^t f₀ all the way.

    A run that stalls does not, nor one above the bound. One whose steps are too large
    for the bound may overshoot, and one that has not reached zero yet may still do so:
    these say nothing.
    """
    first, last = runs.loss.isel(step=0), runs.bound.isel(step=-1)
    # Below rounding of the outputs no loss can follow a bound.
    above_rounding = ~(runs.loss <= first * ROUNDING_FLOOR)
    ratio = (runs.loss / runs.bound).where(above_rounding, 0).isel(step=slice(1, None))
    finite = (np.isfinite(ratio).all("step") & (runs.step.size > 1)).values
    is_test = (last <= MAX_PROMISED_SHARE * first).values & (runs.beta > 0).values
    within = (ratio <= 1 + BOUND_ROUNDING).all("step").values
    curvature = runs.eta * runs.jacobian_max.max("step") ** 2
    small_steps = (curvature <= MAX_STEP_CURVATURE).values
    holds = is_success(runs) & within & finite & is_test
    violated = is_stalled(runs) | (finite & ~within & small_steps)
    otherwise = np.where(violated, Outcome.VIOLATED, Outcome.INCONCLUSIVE)
    return np.where(holds, Outcome.HOLDS, otherwise)


def best_outcomes(runs: xr.Dataset) -> list[Outcome]:
    """The best outcome that any η gives for each seed: the theorem says that one exists."""
    outcomes = linear_outcomes(runs)
    order = (Outcome.HOLDS, Outcome.INCONCLUSIVE, Outcome.VIOLATED)
    return [
        next(o for o in order if o in outcomes[runs.seed.values == seed])
        for seed in np.unique(runs.seed.values)
    ]


def _judge_gaussian(evidence: Evidence) -> list[Verdict]:
    predicted = (
        f"f_T/f₀ < {ZERO_LOSS:g}, and f ≤ (1 − ηβ)^t f₀ at every record with β = min "
        f"σ²_min(J_Q) of the path, for one η in at least {NEARLY_ALL:g} of the seeds"
    )
    return _judge_construction(evidence, predicted, _converges)


def _converges(data: xr.Dataset, case: Case, predicted: str) -> Verdict:
    runs, better = runs_of(data, case, GAUSSIAN), better_runs_of(data, case, GAUSSIAN)
    seeds = best_outcomes(runs)
    hold, violate = seeds.count(Outcome.HOLDS), seeds.count(Outcome.VIOLATED)
    asked, several = conditions(runs), enough_seeds(runs)
    outcome = _outcome_of_share(hold, violate, len(seeds))
    if not several.met:
        outcome = Outcome.INCONCLUSIVE
    if not all(condition.met for condition in asked):
        outcome = Outcome.UNMET
    unclear = len(seeds) - hold - violate
    numbers = {"β of the path (median)": float(np.median(better.beta))}
    return Verdict(
        f"gaussian, {case.words}",
        outcome,
        predicted=predicted,
        measured=(
            f"{hold} of {len(seeds)} seeds do, {violate} do not, {unclear} cannot be "
            "told"
        ),
        margin=None,
        conditions=(*asked, several),
        numbers=path_numbers(better) | numbers,
    )


def _outcome_of_share(hold: int, violate: int, seeds: int) -> Outcome:
    """Whether nearly all seeds hold, whatever the unclear ones would turn out to be."""
    if hold >= NEARLY_ALL * seeds:
        return Outcome.HOLDS
    if seeds - violate < NEARLY_ALL * seeds:
        return Outcome.VIOLATED
    return Outcome.INCONCLUSIVE


CLAIMS = (
    Claim(
        "Theorem 2: softmax stalls",
        "Training W^Q alone from the matched start, softmax stalls: more than a tenth of "
        "its loss is left and its gradient has vanished, although a solution exists.",
        _judge_softmax,
        needs=("queries",),
        figure="success",
        remark="The start is ours: the theorem says that one exists.",
    ),
    Claim(
        "Theorem 2: the Gaussian kernel converges at a linear rate",
        "From the same start the Gaussian kernel converges to a global optimum at a "
        "linear rate: f ≤ (1 − ηβ)^t f₀.",
        _judge_gaussian,
        needs=("queries",),
        figure="singular-values",
        remark=(
            "Judged as a whole: zero loss and the rate, in the same run. Runs whose steps "
            "are too large for the curvature on the way can overshoot at first; they count "
            "neither for nor against the rate."
        ),
    ),
)

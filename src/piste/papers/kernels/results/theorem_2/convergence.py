"""Theorem 2: training W^Q alone, the pair of kernels, and how the gradient is held up."""

import numpy as np
import xarray as xr

from piste.claims import Claim, Condition, Outcome, Verdict, compare, undecided
from piste.reproduction import Evidence

from .cells import enough_seeds, least_number, missing_records, share_of
from .query_cells import (
    CONSTRUCTION,
    GAUSSIAN,
    NEEDED,
    SOFTMAX,
    Case,
    case_of,
    conditions,
    every_run,
    known,
    name_of,
    path_numbers,
    present,
    stalled,
    successes,
)
from .thresholds import (
    LARGEST_STEP,
    NEAR_ALL,
    PROMISE,
    ROUNDING,
    ROUNDING_FLOOR,
    STALLED_LOSS,
    VANISHED,
    ZERO_LOSS,
)

# --- softmax stalls ---------------------------------------------------------------------


def _softmax(evidence: Evidence) -> list[Verdict]:
    predicted = (
        f"‖∇f‖ < {VANISHED:g} with f_T/f₀ > {STALLED_LOSS:g} in at least {NEAR_ALL:g} of "
        "the seeds"
    )
    if lacking := missing_records(evidence.dataset("queries"), NEEDED, predicted):
        return lacking
    here = present(evidence, CONSTRUCTION)
    if not here:
        return [undecided("the matched start", predicted, "no runs of both kernels")]
    return [_stalls(evidence.dataset("queries"), case, predicted) for case in here]


def _stalls(data: xr.Dataset, case: Case, predicted: str) -> Verdict:
    part, other = (case_of(data, case, kernel) for kernel in (SOFTMAX, GAUSSIAN))
    won = share_of(successes(other), known(other))
    # In a run that is too short everything stalls.
    long_enough = Condition(
        "enough steps for the Gaussian kernel", won >= NEAR_ALL, f"{won:.2g} succeed"
    )
    return compare(
        f"softmax, {name_of(case)}",
        share_of(stalled(part), known(part)),
        least=NEAR_ALL,
        predicted=predicted,
        bounded=True,
        needs=(enough_seeds(part), long_enough),
        conditions=conditions(part),
        numbers=path_numbers(part),
    )


# --- the Gaussian kernel converges --------------------------------------------------------


def path_rate(part: xr.Dataset) -> np.ndarray:
    r"""$\beta = \min_t \sigma^2_{min}(J_Q)$ over the recorded steps of each run."""
    return (part.jacobian_least.min("step", skipna=False) ** 2).values


def linear_outcomes(part: xr.Dataset) -> np.ndarray:
    """Whether each run converges to zero loss, and below (1 − ηβ)^t f₀ all the way.

    A run that stalls does not, nor one above the bound. One whose steps are too large
    for the bound may overshoot, and one that has not reached zero yet may still do so:
    these say nothing.
    """
    first, last = part.loss.isel(step=0), part.bound.isel(step=-1)
    # Below rounding of the outputs no loss can follow a bound.
    seen = ~(part.loss <= first * ROUNDING_FLOOR)
    ratio = (part.loss / part.bound).where(seen, 0).isel(step=slice(1, None))
    finite = (np.isfinite(ratio).all("step") & (part.step.size > 1)).values
    asked = (last <= PROMISE * first).values & (path_rate(part) > 0)
    within = (ratio <= 1 + ROUNDING).all("step").values
    small = (part.eta * part.jacobian_largest.max("step") ** 2 <= LARGEST_STEP).values
    whole = successes(part) & within & finite & asked
    missed = stalled(part) | (finite & ~within & small)
    names = np.where(missed, Outcome.VIOLATED, Outcome.INCONCLUSIVE)
    return np.where(whole, Outcome.HOLDS, names)


def by_seed(part: xr.Dataset) -> list[Outcome]:
    """Of every seed, the best that any η gives: the theorem says that one exists."""
    found = linear_outcomes(part)
    order = (Outcome.HOLDS, Outcome.INCONCLUSIVE, Outcome.VIOLATED)
    return [
        next(o for o in order if o in found[part.seed.values == seed])
        for seed in np.unique(part.seed.values)
    ]


def _gaussian(evidence: Evidence) -> list[Verdict]:
    predicted = (
        f"f_T/f₀ < {ZERO_LOSS:g}, and f ≤ (1 − ηβ)^t f₀ at every record with β = min "
        f"σ²_min(J_Q) of the path, for one η in at least {NEAR_ALL:g} of the seeds"
    )
    if lacking := missing_records(evidence.dataset("queries"), NEEDED, predicted):
        return lacking
    here = present(evidence, CONSTRUCTION)
    if not here:
        return [undecided("the matched start", predicted, "no runs of both kernels")]
    return [_converges(evidence.dataset("queries"), case, predicted) for case in here]


def _converges(data: xr.Dataset, case: Case, predicted: str) -> Verdict:
    part = every_run(data, case, GAUSSIAN)
    seeds = by_seed(part)
    won, lost = seeds.count(Outcome.HOLDS), seeds.count(Outcome.VIOLATED)
    open_ = len(seeds) - won - lost
    outcome = Outcome.INCONCLUSIVE
    if won >= NEAR_ALL * len(seeds):
        outcome = Outcome.HOLDS
    if won + open_ < NEAR_ALL * len(seeds):
        outcome = Outcome.VIOLATED
    asked, need = conditions(part), enough_seeds(part)
    if not need.met:
        outcome = Outcome.INCONCLUSIVE
    if not all(condition.met for condition in asked):
        outcome = Outcome.UNMET
    best = case_of(data, case, GAUSSIAN)
    numbers = {"β of the path (median)": float(np.median(path_rate(best)))}
    return Verdict(
        f"gaussian, {name_of(case)}",
        outcome,
        predicted,
        f"{won} of {len(seeds)} seeds do, {lost} do not, {open_} cannot be told",
        None,
        (*asked, need),
        path_numbers(best) | numbers,
    )


# --- the gradient is held up -------------------------------------------------------

PROBES = (
    "train_loss gradient_norm query_jacobian_least query_jacobian_largest test_step"
).split()


def _dominance(evidence: Evidence) -> list[Verdict]:
    return [_dominated(run) for run in evidence.runs("pair")]


def _dominated(run: xr.Dataset) -> Verdict:
    model, seed = run.attrs["experiment"]["model"], run.attrs["experiment"]["seed"]
    name = f"{model.get('kernel', 'no kernel')}, seed {seed}"
    predicted = "‖∇f‖² ≥ 2σ²_min(J_Q) f at every record at which σ_min(J_Q) is known"
    lacking = [probe for probe in PROBES if probe not in run.variables]
    if lacking:
        return undecided(name, predicted, f"the run lacks {', '.join(lacking)}")
    often = run.sel(step=run.test_step.values)
    loss, least = often.train_loss.values, run.query_jacobian_least.values
    share = relative_resolution(run)
    limit = share * run.query_jacobian_largest.values
    asks = (least > limit) & ~(loss <= loss[0] * ROUNDING_FLOOR)
    unknown = ~np.isfinite(least) | ~np.isfinite(loss)
    if not (asks | unknown).any():
        why = f"σ_min(J_Q) ≤ {share:.1g} σ_max, what an SVD resolves, at every record"
        if (least > limit).any():
            why = "the loss is rounding wherever σ_min(J_Q) is known"
        return undecided(name, predicted, f"{why}: the inequality asks for nothing")
    slope = often.gradient_norm.values[asks]
    ratio = slope**2 / (2 * least[asks] ** 2 * loss[asks])
    ratio = np.append(ratio, np.full(unknown.sum(), np.nan))
    trained = model.get("train", "")
    return compare(
        f"{name}, {int(asks.sum())} of {asks.size} records",
        ratio,
        least=1 - ROUNDING,
        predicted=f"‖∇f‖²/(2σ²_min f) ≥ 1: {predicted}",
        bounded=True,  # it is attained where the slowest direction is left
        conditions=(Condition("W^Q alone is trained", trained == "Q", trained),),
        numbers=least_number(
            "σ_min(J_Q) at the start", float(least[0]), float(limit[0])
        ),
    )


def relative_resolution(run: xr.Dataset) -> float:
    """What an SVD resolves of J_Q in units of its σ_max, from its shape."""
    task, model = run.attrs["experiment"]["task"], run.attrs["experiment"]["model"]
    rows = task["sequences"] * task["length"] * task["outputs"]
    columns = model["heads"] * task["dimension"] * model["width"]
    eps = np.finfo(run.attrs["experiment"]["precision"]).eps
    return float(eps * max(rows, columns))


CLAIMS = (
    Claim(
        "Theorem 2: softmax stalls",
        "Training W^Q alone from the matched start, softmax stalls: more than a tenth of "
        "its loss is left and its gradient has vanished, although a solution exists.",
        _softmax,
        ("queries",),
        "success",
        "The start is ours: the theorem says that one exists.",
    ),
    Claim(
        "Theorem 2: the Gaussian kernel converges at a linear rate",
        "From the same start the Gaussian kernel converges to a global optimum at a "
        "linear rate: f ≤ (1 − ηβ)^t f₀.",
        _gaussian,
        ("queries",),
        "singular-values",
        "Judged as a whole: zero loss and the rate, in the same run. Runs whose steps "
        "are too large for the curvature on the way can overshoot at first; they count "
        "neither for nor against the rate.",
    ),
    Claim(
        "‖∇f‖ is held up by J_Q",
        "Along a run ‖∇f‖² ≥ 2σ²_min(J_Q) f: no gradient vanishes while J_Q has rank.",
        _dominance,
        ("pair",),
        "singular-values",
        "Where σ_min(J_Q) is below what an SVD resolves this asks for nothing.",
    ),
)

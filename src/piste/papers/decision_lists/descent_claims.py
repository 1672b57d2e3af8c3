"""Gradient descent: on W alone, and on W and V (Theorem 2)."""

import math

import jax
import numpy as np
import xarray as xr

from piste.claims import Claim, Condition, Outcome, Verdict, compare, decide, undecided
from piste.experiment import Experiment
from piste.reproduction import Evidence
from piste.training import draw
from piste.values import from_json

from .reading import cells, kind_of, number, size_of
from .tasks import DecisionLists
from .theorem_claims import CONSTANTS, attention_conditions, missing_numbers
from .theory.bounds import smallest_length

ROUNDING = 1e-9
"""Relative error that a product of η and λ_max may have."""


def _attention(evidence: Evidence) -> list[Verdict]:
    return [
        attention_verdict(cell)
        for cell in cells(evidence.dataset("attention-descents"))
    ]


def attention_verdict(cell: xr.Dataset) -> Verdict:
    """Steps of descent on W, against the flow's bound in steps."""
    share, rate = number(cell, "share"), number(cell, "learning_rate")
    instance = f"{kind_of(cell)} {size_of(cell)}, η = {share:g}/max λ_max"
    steps, bound = number(cell, "steps"), number(cell, "bound")
    names = (*CONSTANTS, "learning_rate", "steepest", "descent_start_size")
    if why := missing_numbers(cell, names):
        return undecided(instance, "perfect by step 4M/(log(L) γ η)", why)
    most = math.ceil(bound / rate)
    predicted = f"perfect by step ⌈4M/(log(L) γ η)⌉ = {most:,}"
    conditions = _descent_conditions(cell)
    if math.isnan(steps):
        last = number(cell, "last_step")
        return decide(
            instance,
            False,
            predicted=predicted,
            measured=f"not perfect up to step {last:.0f}",
            needs=(Condition("as many steps as the bound", last >= most),),
            conditions=conditions,
        )
    return compare(
        instance,
        steps,
        most=most,
        predicted=predicted,
        needs=(Condition("t* ≥ 1", steps >= 1, f"t* = {steps:g}"),),
        conditions=conditions,
        numbers=_descent_numbers(cell),
    )


def _descent_conditions(cell: xr.Dataset) -> tuple[Condition, ...]:
    rate, steepest = number(cell, "learning_rate"), number(cell, "steepest")
    start = number(cell, "descent_start_size")
    words = f"η λ_max = {rate * steepest:.4g} at most"
    small = 0 < rate * steepest <= 1 + ROUNDING
    return (
        *attention_conditions(cell)[1:],
        Condition("W₀ = 0 of the descent", start == 0, f"max |W₀| = {start:.3g}"),
        Condition("η ≤ 1/λ_max along the path", small, words),
    )


def _descent_numbers(cell: xr.Dataset) -> dict[str, float]:
    time, flow = number(cell, "descent_time"), number(cell, "time")
    found = {
        "η": number(cell, "learning_rate"),
        "η t*": time,
        "bound/(η t*)": number(cell, "bound") / time if time else math.nan,
        "λ_max grows by": number(cell, "steepest") / number(cell, "first_curvature"),
    }
    # Perfect after one step: how soon the flow is perfect says nothing about it.
    return found | ({"η t*/t* of the flow": time / flow} if cell.steps > 1 else {})


# --- Theorem 2 --------------------------------------------------------------------------

THEOREM_2 = {
    "scale": "c = 10n²L₀/δ + 4εn has a solution",
    "start": "‖V₀ − cP‖∞ ≤ ε/2",
    "below": "A < L₀ − 6ε/n",
    "above": "A² > 4mL₀/ε",
    "step": "η ≤ 1/λ_max along the path",
}
KNOWN = ("initial_loss", "epsilon", "delta", "shortest", "longest", "start_size")


def conditions_of(cell: xr.Dataset) -> tuple[Condition, ...]:
    """The conditions of Theorem 2, each with the numbers on both sides."""
    start, delta = number(cell, "start_size"), number(cell, "delta")
    found = [
        Condition("W₀ = 0", start == 0, f"max |W₀| = {start:.3g}"),
        Condition("δ > 0", delta > 0, f"δ = {delta:.3g}"),
    ]
    for name, words in THEOREM_2.items():
        left, right = number(cell, f"{name}_left"), number(cell, f"{name}_right")
        met = number(cell, f"{name}_holds") == 1
        found.append(Condition(words, met, f"{left:.4g} against {right:.4g}"))
    return tuple(found)


def _unknown(cell: xr.Dataset) -> str:
    """Why nothing can be said, if so. An infinite c is a condition that is not met."""
    if math.isinf(number(cell, "scale")):
        return ""
    return missing_numbers(cell, ("scale", *KNOWN))


def _theorem_2(evidence: Evidence) -> list[Verdict]:
    return [descent_verdict(cell) for cell in cells(evidence.dataset("theorem-2"))]


def descent_verdict(cell: xr.Dataset) -> Verdict:
    """The first perfect step against the shortest T: the theorem says every T."""
    shortest, longest = number(cell, "shortest"), number(cell, "longest")
    instance = f"{size_of(cell)}, {int(cell.sets)} sets"
    predicted = (
        f"perfect at some t ≤ T for every T from {shortest:.3g} to {longest:.3g}: "
        f"by the shortest"
    )
    if why := _unknown(cell):
        return undecided(instance, predicted, why)
    steps, path = number(cell, "perfect"), np.asarray(cell.curvature, float)
    return compare(
        instance,
        steps,
        most=shortest,
        predicted=predicted,
        needs=(Condition("t* ≥ 1", steps >= 1, _not_within(cell, steps)),),
        conditions=conditions_of(cell),
        numbers={
            "t*": steps,
            "shortest T": shortest,
            "longest T": longest,
            "ε": number(cell, "epsilon"),
            "A": number(cell, "progress"),
            "L₀": number(cell, "initial_loss"),
            "δ": number(cell, "delta"),
            "λ_max grows by": float(np.nanmax(path, initial=0) / path[0]),
        },
    )


def _not_within(cell: xr.Dataset, steps: float) -> str:
    if math.isnan(steps):
        return f"not perfect within the {number(cell, 'last'):.0f} steps that were run"
    return f"{steps:g}"


def _everywhere(evidence: Evidence) -> list[Verdict]:
    found = []
    for cell in cells(evidence.dataset("theorem-2")):
        found += [_all_sets(cell), _with_repetition(cell)]
    return found


def _all_sets(cell: xr.Dataset) -> Verdict:
    """The first step at which all sets of distinct tokens are right."""
    shortest, steps = number(cell, "shortest"), number(cell, "all_sets")
    instance = f"{size_of(cell)}, {int(cell.sets)} sets: all sets"
    predicted = f"all sets of distinct tokens right at some t ≤ {shortest:.3g}"
    if why := _unknown(cell):
        return undecided(instance, predicted, why)
    steepest = float(np.nanmax(np.asarray(cell.curvature, float), initial=0))
    product = steepest * number(cell, "learning_rate")
    small = 0 < product <= 1 + ROUNDING
    longer = Condition("η ≤ 1/λ_max up to there", small, f"η λ_max = {product:.4g}")
    return compare(
        instance,
        steps,
        most=shortest,
        predicted=predicted,
        needs=(
            Condition("a step at which all sets are right", steps >= 1, _last(cell)),
        ),
        conditions=(*conditions_of(cell), longer),
        numbers={
            "t* on the support": number(cell, "perfect"),
            "first step on all sets": steps,
            "other sets tried at t*": number(cell, "others"),
            "share of their tokens right": number(cell, "other_tokens"),
            "share of them right": number(cell, "other_sets"),
        },
    )


def _last(cell: xr.Dataset) -> str:
    return f"looked for up to step {number(cell, 'last'):.0f}"


def _with_repetition(cell: xr.Dataset) -> Verdict:
    """Sequences in which tokens repeat: how far W must go, and how far it can."""
    needed, possible = number(cell, "travel_needed"), number(cell, "travel")
    instance = f"{size_of(cell)}, {int(cell.sets)} sets: with repetition"
    predicted = "all of [L]^n right at some t ≤ T"
    if why := _unknown(cell) or missing_numbers(cell, ("travel", "travel_needed")):
        return undecided(instance, predicted, why)
    words = f"‖W‖ ≥ {needed:.3g} is needed, √(εL₀) = {possible:.3g} is possible"
    return decide(
        instance,
        False,
        predicted=predicted,
        measured=words,
        needs=(Condition("more travel than is possible", needed > possible),),
        conditions=conditions_of(cell),
        numbers={
            "sequences tried at t*": number(cell, "others"),
            "share of their tokens right": number(cell, "repeated_tokens"),
            "share of them right": number(cell, "repeated"),
        },
    )


def _short_sequences(evidence: Evidence) -> list[Verdict]:
    """Whether Theorem 2 can say anything at the sizes of other runs."""
    runs = [evidence.runs(name)[0] for name in ("theorem-1", "dirichlet", "empirics")]
    return [room_verdict(run) for run in runs]


def room_verdict(run: xr.Dataset) -> Verdict:
    """Whether Theorem 2 leaves room for ε and A at the size of a run."""
    experiment = from_json(Experiment, run.attrs["experiment"])
    predicted = "n log²n > 162 m, else no ε and A meet the conditions"
    if not isinstance(experiment.task, DecisionLists):
        return undecided("run", predicted, "a run of another task")
    with jax.enable_x64(True):
        instance = draw(experiment).data
    n, m = instance.length, instance.list_bound
    smallest = smallest_length(m)
    size = f"({instance.vocabulary}, {n}, {m})"
    words = f"n = {n}; the smallest n for m = {m} is {smallest}"
    conditions = (
        Condition("no repetition", not instance.sequences.repeats),
        Condition("n log²n > 162 m", n >= smallest, words),
    )
    if all(condition.met for condition in conditions):
        measured = f"ε and A exist at this size, but no descent was run here: {words}"
        return undecided(size, predicted, measured, conditions=conditions)
    if not instance.sequences.repeats:
        measured = f"no ε and A meet the conditions at this size: {words}"
    else:
        measured = "with repetition no scale c meets its condition"
    return Verdict(size, Outcome.UNMET, predicted, measured, conditions=conditions)


CLAIMS = (
    Claim(
        "Gradient descent on W",
        "Gradient descent on W from W₀ = 0 with V = cP at η ≤ 1/λ_max is perfect, on all "
        "sequences of positive probability, within the flow's time 4M/(log(L) γ): η t* is "
        "at most that.",
        _attention,
        ("attention-descents",),
        "bounds",
        "The introduction says that gradient descent learns these parameters efficiently; "
        "the abstract gives no learning rate and no number of steps for it, only the time "
        "of the flow. The reading here is ours: λ_max is the largest eigenvalue of the "
        "Hessian in W, from its blocks, at every step of the path.",
    ),
    Claim(
        "Theorem 2",
        "Gradient descent on W and V from W₀ = 0 and ‖V₀ − cP‖∞ ≤ ε/2 with η ≤ 1/λ_max "
        "is perfect at some step t ≤ T, for every T from 2mL₀/(A²η) to ε/(2η).",
        _theorem_2,
        ("theorem-2",),
        "descents",
        "Perfect on all sequences of positive probability, here some sets. λ_max is "
        "measured at every step of the path by Lanczos iteration; A is as large as it may "
        "be, which makes the shortest T shortest.",
    ),
    Claim(
        "Theorem 2 on all sequences",
        "The same, perfect on all sequences, also those of probability 0: all sets of "
        "distinct tokens, and all of [L]^n.",
        _everywhere,
        ("theorem-2",),
        "descents",
        "All sets are judged exactly, by the worst set for every query, label-determining "
        "token and other label. With repetition (a, b, …, b) needs a lead of log(n − 1), "
        "and at η ≤ 1/λ_max the weights travel at most √(2ηTL₀) ≤ √(εL₀) in T steps.",
    ),
    Claim(
        "Theorem 2 at short sequences",
        "The sizes of other runs under the conditions of Theorem 2.",
        _short_sequences,
        ("theorem-1", "dirichlet", "empirics"),
        "",
        "The conditions on A leave room if and only if about n log²n > 162 m.",
    ),
)

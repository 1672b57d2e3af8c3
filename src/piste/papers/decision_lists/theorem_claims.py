"""Theorem 1, gradient flow on W, as a claim: on random instances and on single runs."""

import math

import jax
import numpy as np
import xarray as xr

from piste.claims import (
    Claim,
    Condition,
    Verdict,
    compare,
    compare_range,
    decide,
    undecided,
)
from piste.experiment import Experiment
from piste.reproduction import Evidence
from piste.rules import Flow
from piste.training import EVENT, OUTCOMES, draw
from piste.values import from_json

from .models import OneHot
from .reading import cells, kind_of, number, outcome_of, size_of
from .tasks import DecisionLists
from .theory.bounds import attention_theorem

CONSTANTS = ("gamma", "delta", "scale", "bound", "value_scale", "start_size")


def missing_numbers(cell: xr.Dataset, names: tuple[str, ...]) -> str:
    """The numbers of an instance that were not recorded, in words; else nothing."""
    missing = [name for name in names if not math.isfinite(number(cell, name))]
    return f"no number for {', '.join(missing)}" if missing else ""


def attention_conditions(cell: xr.Dataset) -> tuple[Condition, ...]:
    """What Theorem 1 asks for, with what was run."""
    scale, used = number(cell, "scale"), number(cell, "value_scale")
    start = number(cell, "start_size")
    delta, gamma = number(cell, "delta"), number(cell, "gamma")
    words = f"V = {used:.4g} P, 4n log(L)/δ = {scale:.4g}"
    return (
        Condition("W₀ = 0", start == 0, f"max |W₀| = {start:.3g}"),
        Condition("V = cP, c = 4n log(L)/δ", math.isclose(used, scale), words),
        Condition("δ > 0", delta > 0, f"δ = {delta:.3g}"),
        Condition("γ > 0", gamma > 0, f"γ = {gamma:.3g}"),
    )


def flow_verdict(cell: xr.Dataset) -> Verdict:
    """The first perfect time of one instance against the bound."""
    time, bound, ended = (number(cell, name) for name in ("time", "bound", "ended"))
    instance = f"{kind_of(cell)} {size_of(cell)}"
    predicted = f"perfect by time 4M/(log(L) γ) = {bound:.4g}"
    if why := missing_numbers(cell, CONSTANTS):
        return undecided(instance, predicted, why)
    conditions, how = attention_conditions(cell), outcome_of(cell)
    if how == OUTCOMES[EVENT]:
        return compare(
            instance,
            time,
            most=bound,
            predicted=predicted,
            needs=(Condition("t* > 0", time > 0, f"t* = {time:.3g}"),),
            conditions=conditions,
            numbers={
                "bound/measured": bound / time if time else math.nan,
                "h": time / number(cell, "time_unit"),
                "proved bound": number(cell, "proved_bound"),
            },
        )
    words = f"{how} at time {ended:.4g}"
    return decide(
        instance,
        False,
        predicted=predicted,
        measured=f"not perfect up to time {ended:.4g}",
        needs=(Condition("a flow up to the bound", ended >= bound, words),),
        conditions=conditions,
    )


def _instances(*names: str):
    return lambda evidence: [
        flow_verdict(cell) for name in names for cell in cells(evidence.dataset(name))
    ]


# --- single runs ----------------------------------------------------------------------


def _runs(evidence: Evidence) -> list[Verdict]:
    return [run_verdict(run) for run in evidence.runs("theorem-1")]


def run_verdict(run: xr.Dataset) -> Verdict:
    """Theorem 1 on a recorded run, whatever was run."""
    if "experiment" not in run.attrs:
        words = "the run does not say what was run"
        return undecided("run", "perfect by time 4M/(log(L) γ)", words)
    experiment = from_json(Experiment, run.attrs["experiment"])
    task, model = experiment.task, experiment.model
    if not isinstance(task, DecisionLists) or not isinstance(model, OneHot):
        words = "a run of another task or model"
        return undecided("run", "perfect by time 4M/(log(L) γ)", words)
    with jax.enable_x64(True):
        start = draw(experiment)
    theorem = attention_theorem(start.data)
    sizes = f"({task.vocabulary}, {task.length}, {start.data.list_bound})"
    instance = f"{task.distribution} {sizes}, seed {experiment.seed}"
    predicted = f"perfect by time 4M/(log(L) γ) = {theorem.bound:.4g}"
    conditions = _run_conditions(experiment, start.weights, theorem)
    if "time" not in run.coords or "margin" not in run:
        words = "the run has no margins over time"
        return decide(
            instance,
            False,
            predicted=predicted,
            measured=words,
            conditions=conditions,
            needs=(Condition("margins over time", False),),
        )
    return _timed(run, instance, predicted, theorem.bound, conditions)


def _run_conditions(experiment: Experiment, weights, theorem) -> tuple[Condition, ...]:
    model = experiment.model
    assert isinstance(model, OneHot)
    # As NumPy arrays: JAX would round to float32 outside of its 64 bits.
    attention, value = np.asarray(weights.attention), np.asarray(weights.value)
    start, scale = np.abs(attention).max(), float(value.max())
    permuted = model.start == "permutation" and model.kernel == "softmax"
    words = f"largest entry of V: {scale:.4g}, 4n log(L)/δ = {theorem.scale:.4g}"
    close = math.isclose(scale, theorem.scale, rel_tol=1e-6)
    return (
        Condition("gradient flow", isinstance(experiment.rule, Flow)),
        Condition("only W is trained", model.train == "attention", model.train),
        Condition("W₀ = 0", bool(start == 0), f"max |W₀| = {start:.3g}"),
        Condition("V = cP, c = 4n log(L)/δ", permuted and close, words),
    )


def _timed(run, instance, predicted, bound, conditions) -> Verdict:
    """Compare with the two records between which the run became perfect."""
    time, margin = np.asarray(run.time, float), np.asarray(run.margin, float)
    right = np.flatnonzero(margin > 0)
    seen = margin[: right[0] + 1] if right.size else margin
    known = bool(seen.size) and bool(np.isfinite(seen).all())
    needs = (Condition("margins that are numbers", known),)
    if right.size and right[0] > 0:
        low, high = map(float, time[right[0] - 1 : right[0] + 1])
        more = {"predicted": predicted, "conditions": conditions, "needs": needs}
        return compare_range(instance, low, high, most=bound, **more)
    ended = float(time[-1]) if time.size else math.nan
    words = f"not perfect up to time {ended:.4g}"
    if right.size:
        words, known = "perfect at the start", False
    long = Condition("a run up to the bound", known and ended >= bound, words)
    return decide(
        instance,
        False,
        predicted=predicted,
        measured=words,
        needs=(*needs, long),
        conditions=conditions,
    )


CLAIMS = (
    Claim(
        "Theorem 1 on single runs",
        "Gradient flow on W from W₀ = 0 with V = cP, c = 4n log(L)/δ, classifies all "
        "sequences of positive probability perfectly within time 4M/(log(L) γ).",
        _runs,
        ("theorem-1",),
        "margins",
        "The first perfect moment is known up to the records on both sides of it.",
    ),
    Claim(
        "Theorem 1 on uniform sets",
        "The same on random instances: all sets of n distinct tokens, equally likely.",
        _instances("uniform"),
        ("uniform",),
        "bounds",
        "δ and γ are readings of ours: γ = min_a Pr[a position holds a], δ = min "
        "Pr[a_k determines the label of a, b ∈ s | a]; with them the proof gives the "
        "stated c. The first perfect moment t* is where the smallest lead of a label is "
        "1e-4 n/c: a flow that is perfect at once has a t* that says no more than that.",
    ),
    Claim(
        "Theorem 1 on other distributions",
        "The same for Dirichlet weights on all sets, equal or Dirichlet weights on some "
        "sets, and conditional Poisson sets.",
        _instances("others", "dirichlet-support"),
        ("others", "dirichlet-support"),
        "bounds",
        "Perfect on all sequences of positive probability; on all others see below.",
    ),
    Claim(
        "Theorem 1 with repetition",
        "The same bound where tokens are independent and may repeat.",
        _instances("repetition"),
        ("repetition",),
        "bounds",
        "With repetition a token can be outnumbered, so leads of log(n − 1) are needed, "
        "however large c is. The abstract does not say whether tokens may repeat.",
    ),
)

"""Theorem 1 on recorded runs: between which records a run becomes perfect."""

from typing import Any

import jax
import numpy as np
import xarray as xr

from piste.claims import (
    Claim,
    Condition,
    Verdict,
    compare_range,
    decide,
    undecided,
)
from piste.experiment import Experiment
from piste.reproduction import Evidence
from piste.rules import Flow
from piste.training import draw

from ...models import OneHot, OneHotWeights
from ...tasks import DecisionLists
from ...theory import (
    SCALE_CONDITION,
    AttentionTheorem,
    attention_theorem,
    zero_start,
)
from ...thresholds import MAX_RUN_SCALE_ERROR
from .._flows import BOUND_TEXT
from .._runs import experiment_of

STUDY = "theorem-1"


def run_verdict(run: xr.Dataset) -> Verdict:
    """Judge Theorem 1 on a recorded run, whatever was run."""
    unknown = f"perfect by time {BOUND_TEXT}"
    if "experiment" not in run.attrs:
        return undecided("run", unknown, "the run does not say what was run")
    experiment = experiment_of(run)
    task, model = experiment.task, experiment.model
    if not isinstance(task, DecisionLists) or not isinstance(model, OneHot):
        return undecided("run", unknown, "a run of another task or model")
    with jax.enable_x64(True):
        start = draw(experiment)
    theorem = attention_theorem(start.data)
    sizes = f"({task.vocabulary}, {task.length}, {start.data.list_bound})"
    instance = f"{task.distribution} {sizes}, seed {experiment.seed}"
    statement = {
        "predicted": f"perfect by time {BOUND_TEXT} = {theorem.bound:.4g}",
        "conditions": _run_conditions(experiment, start.weights, theorem),
    }
    if "time" not in run.coords or "margin" not in run:
        return decide(
            instance,
            False,
            measured="the run has no margins over time",
            needs=(Condition("margins over time", False),),
            **statement,
        )
    return _compare_times(run, instance, theorem.bound, statement)


def _run_conditions(
    experiment: Experiment, weights: OneHotWeights, theorem: AttentionTheorem
) -> tuple[Condition, ...]:
    model = experiment.model
    assert isinstance(model, OneHot)
    # As NumPy arrays: JAX would round to float32 outside of its 64 bits.
    attention, value = np.asarray(weights.attention), np.asarray(weights.value)
    scale = float(value.max())
    permuted = model.start == "permutation" and model.kernel == "softmax"
    detail = f"largest entry of V: {scale:.4g}, 4n log(L)/δ = {theorem.scale:.4g}"
    close = theorem.is_stated_scale(scale, MAX_RUN_SCALE_ERROR)
    return (
        Condition("gradient flow", isinstance(experiment.rule, Flow)),
        Condition("only W is trained", model.train == "attention", model.train),
        zero_start(float(np.abs(attention).max())),
        Condition(SCALE_CONDITION, permuted and close, detail),
    )


def _compare_times(
    run: xr.Dataset, instance: str, bound: float, statement: dict[str, Any]
) -> Verdict:
    """Compare with the two records between which the run became perfect."""
    time, margin = np.asarray(run.time, float), np.asarray(run.margin, float)
    right = np.flatnonzero(margin > 0)
    until_perfect = margin[: right[0] + 1] if right.size else margin
    known = bool(until_perfect.size) and bool(np.isfinite(until_perfect).all())
    needs = (Condition("margins that are numbers", known),)
    if right.size and right[0] > 0:
        low, high = map(float, time[right[0] - 1 : right[0] + 1])
        return compare_range(
            instance, low, high, maximum=bound, needs=needs, **statement
        )
    ended = float(time[-1]) if time.size else float("nan")
    measured = f"not perfect up to time {ended:.4g}"
    if right.size:
        measured, known = "perfect at the start", False
    long = Condition("a run up to the bound", known and ended >= bound, measured)
    return decide(instance, False, measured=measured, needs=(*needs, long), **statement)


def _judge(evidence: Evidence) -> list[Verdict]:
    return [run_verdict(run) for run in evidence.runs(STUDY)]


CLAIMS = (
    Claim(
        "Theorem 1 on single runs",
        "Gradient flow on W from W₀ = 0 with V = cP, c = 4n log(L)/δ, classifies all "
        "sequences of positive probability perfectly within time 4M/(log(L) γ).",
        _judge,
        needs=(STUDY,),
        figure="margins",
        remark="The first perfect moment is known up to the records on both sides of it.",
    ),
)

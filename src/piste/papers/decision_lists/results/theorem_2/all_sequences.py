"""Theorem 2 on sequences of probability 0: all sets of tokens, and all of [L]^n."""

import pandas as pd
import xarray as xr

from piste.claims import Claim, Condition, Verdict, compare, decide, undecided
from piste.reproduction import Evidence, Table

from ...theory import is_small_step
from .._cells import cells, missing_numbers, number, size_text
from ._cells import conditions_of, instance_text, max_curvature, why_unknown
from .descents import STUDY


def all_sets_verdict(cell: xr.Dataset) -> Verdict:
    """Judge the first step at which all sets of distinct tokens are right."""
    shortest, steps = number(cell, "shortest"), number(cell, "all_sets_step")
    instance = f"{instance_text(cell)}: all sets"
    predicted = f"all sets of distinct tokens right at some t ≤ {shortest:.3g}"
    if why := why_unknown(cell):
        return undecided(instance, predicted, why)
    last = f"looked for up to step {number(cell, 'last_step'):.0f}"
    return compare(
        instance,
        steps,
        maximum=shortest,
        predicted=predicted,
        needs=(Condition("a step at which all sets are right", steps >= 1, last),),
        conditions=(*conditions_of(cell), _step_size(cell)),
        numbers={
            "t* on the support": number(cell, "perfect_step"),
            "first step on all sets": steps,
            "other sets tried at t*": number(cell, "other_sets"),
            "share of their tokens right": number(cell, "tokens_right"),
            "share of them right": number(cell, "sets_right"),
        },
    )


def _step_size(cell: xr.Dataset) -> Condition:
    """The step size was chosen for the path to t*; the curvature may grow after it."""
    rate, curvature = number(cell, "learning_rate"), max_curvature(cell)
    small = is_small_step(rate, curvature)
    detail = f"η λ_max = {curvature * rate:.4g}"
    return Condition("η ≤ 1/λ_max up to there", small, detail)


def repetition_verdict(cell: xr.Dataset) -> Verdict:
    """Judge sequences in which tokens repeat, by how far W must go and how far it can."""
    needed, possible = number(cell, "travel_needed"), number(cell, "travel")
    instance = f"{instance_text(cell)}: with repetition"
    predicted = "all of [L]^n right at some t ≤ T"
    travels = ("travel", "travel_needed")
    if why := why_unknown(cell) or missing_numbers(cell, travels):
        return undecided(instance, predicted, why)
    return decide(
        instance,
        False,
        predicted=predicted,
        measured=f"‖W‖ ≥ {needed:.3g} is needed, √(εL₀) = {possible:.3g} is possible",
        needs=(Condition("more travel than is possible", needed > possible),),
        conditions=conditions_of(cell),
        numbers={
            "sequences tried at t*": number(cell, "other_sets"),
            "share of their tokens right": number(cell, "repeated_tokens_right"),
            "share of them right": number(cell, "repeated_right"),
        },
    )


def _judge(evidence: Evidence) -> list[Verdict]:
    verdicts = []
    for cell in cells(evidence.dataset(STUDY)):
        verdicts += [all_sets_verdict(cell), repetition_verdict(cell)]
    return verdicts


def _table(evidence: Evidence) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "(L, n, m)": size_text(cell),
            "sets": int(cell.possible_sets),
            "other sets": int(number(cell, "other_sets")),
            "their tokens right": number(cell, "tokens_right"),
            "sets right": number(cell, "sets_right"),
            "t*": number(cell, "perfect_step"),
            "all sets right at": number(cell, "all_sets_step"),
            "with repetition, tokens right": number(cell, "repeated_tokens_right"),
            "sequences right": number(cell, "repeated_right"),
            "‖W‖ needed": number(cell, "travel_needed"),
            "‖W‖ possible": number(cell, "travel"),
        }
        for cell in cells(evidence.dataset(STUDY))
    )


CLAIMS = (
    Claim(
        "Theorem 2 on all sequences",
        "The same, perfect on all sequences, also those of probability 0: all sets of "
        "distinct tokens, and all of [L]^n.",
        _judge,
        needs=(STUDY,),
        figure="descents",
        remark=(
            "All sets are judged exactly, by the worst set for every query, "
            "label-determining token and other label. With repetition (a, b, …, b) "
            "needs a lead of log(n − 1), and at η ≤ 1/λ_max the weights travel at "
            "most √(2ηTL₀) ≤ √(εL₀) in T steps."
        ),
    ),
)
TABLES = (
    Table(
        "theorem-2-unseen",
        "Theorem 2 on sequences of probability 0: shares right at t*, the first step "
        "at which all sets of distinct tokens are right, and how far W must travel "
        "for all of [L]^n against how far it can.",
        _table,
        (STUDY,),
    ),
)

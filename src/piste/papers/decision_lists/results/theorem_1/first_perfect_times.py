"""Theorem 1 on many random instances: when the flow is first perfect."""

import math
from collections.abc import Callable

import numpy as np
import pandas as pd
import xarray as xr

from piste.claims import Claim, Condition, Verdict, compare, decide, undecided
from piste.reproduction import Evidence, Table
from piste.training import OUTCOMES
from piste.values import option, value

from ...forms import EVENT_MARGIN, PERFECT
from ...theory import zero_start
from .._cells import (
    cells,
    distribution_of,
    missing_numbers,
    number,
    numbers,
    size_text,
    to_dataset,
    word,
)
from .._flows import (
    BOUND_TEXT,
    THEOREM_1_NUMBERS,
    follow_flows,
    is_within_bound,
    theorem_of,
)
from ..instances import RandomInstances

UNIFORM, OTHERS, WEIGHTED = "uniform", "others", "dirichlet-support"
GROUPS = {
    UNIFORM: "uniform sets",
    OTHERS: "Dirichlet, support, Poisson",
    WEIGHTED: "Dirichlet weights on some sets",
}
"""The studies of random instances, as tables and captions call them."""
REPETITION = {"repetition": "independent, with repetition"}
"""The study of tokens that repeat, which is listed with them."""


@value
class FirstPerfect:
    """Random instances of Theorem 1, each followed to its first perfect moment."""

    draws: RandomInstances = RandomInstances()
    batch: int = option(default=50, minimum=1)
    """Instances in a part."""

    def parts(self) -> int:
        """One for every batch."""
        return self.draws.batches(self.batch)

    def part(self, index: int) -> xr.Dataset:
        """Draw the instances of a batch and follow their flows."""
        flows = follow_flows(self.draws.batch(index, self.batch))
        return to_dataset([flow.row() for flow in flows])


def flow_verdict(cell: xr.Dataset) -> Verdict:
    """Judge the first perfect time of one instance against the bound."""
    time, ended, theorem = number(cell, "time"), number(cell, "ended"), theorem_of(cell)
    bound = theorem.bound
    instance = f"{distribution_of(cell)} {size_text(cell)}"
    predicted = f"perfect by time {BOUND_TEXT} = {bound:.4g}"
    if why := missing_numbers(cell, THEOREM_1_NUMBERS):
        return undecided(instance, predicted, why)
    start = zero_start(number(cell, "start_size"))
    conditions = (start, *theorem.conditions(number(cell, "value_scale")))
    outcome = word(cell, "outcome", OUTCOMES)
    if outcome == PERFECT:
        return compare(
            instance,
            time,
            maximum=bound,
            predicted=predicted,
            needs=(Condition("t* > 0", time > 0, f"t* = {time:.3g}"),),
            conditions=conditions,
            numbers={
                "bound/measured": bound / time if time else math.nan,
                "h": time / theorem.time_unit,
                "proved bound": theorem.proved_bound,
            },
        )
    detail = f"{outcome} at time {ended:.4g}"
    return decide(
        instance,
        False,
        predicted=predicted,
        measured=f"not perfect up to time {ended:.4g}",
        needs=(Condition("a flow up to the bound", ended >= bound, detail),),
        conditions=conditions,
    )


def judge_instances(*studies: str) -> Callable[[Evidence], list[Verdict]]:
    """Make the function that judges every instance of some studies."""
    return lambda evidence: [
        flow_verdict(cell)
        for study in studies
        for cell in cells(evidence.dataset(study))
    ]


def _table(evidence: Evidence) -> pd.DataFrame:
    groups = (GROUPS | REPETITION).items()
    return pd.DataFrame(
        {"sequences": name} | _summary(evidence.dataset(study))
        for study, name in groups
        if study in evidence
    )


def _summary(data: xr.Dataset) -> dict[str, float]:
    """How many instances of a study are within the bound, and how far."""
    time = numbers(data, "time")
    ratio, h = numbers(data, "bound") / time, time / numbers(data, "time_unit")
    reached = np.asarray(data.outcome == PERFECT)
    return {
        "instances": data.sizes["cell"],
        "hold": int((reached & is_within_bound(data)).sum()),
        "least bound/measured": float(ratio.min()),
        "median bound/measured": float(np.median(ratio)),
        "median h": float(np.median(h)),
        "most h": float(h.max()),
        "within the proved bound": int((time <= numbers(data, "proved_bound")).sum()),
    }


_EVENT_MARGIN = np.format_float_scientific(EVENT_MARGIN, trim="-", exp_digits=1)

CLAIMS = (
    Claim(
        "Theorem 1 on uniform sets",
        "The same on random instances: all sets of n distinct tokens, equally likely.",
        judge_instances(UNIFORM),
        needs=(UNIFORM,),
        figure="bounds",
        remark=(
            "δ and γ are readings of ours: γ = min_a Pr[a position holds a], δ = min "
            "Pr[a_k determines the label of a, b ∈ s | a]; with them the proof gives "
            "the stated c. The first perfect moment t* is where the smallest lead of "
            f"a label is {_EVENT_MARGIN} n/c: a flow that is perfect at once has a t* "
            "that says no more than that."
        ),
    ),
    Claim(
        "Theorem 1 on other distributions",
        "The same for Dirichlet weights on all sets, equal or Dirichlet weights on some "
        "sets, and conditional Poisson sets.",
        judge_instances(OTHERS, WEIGHTED),
        needs=(OTHERS, WEIGHTED),
        figure="bounds",
        remark="Perfect on all sequences of positive probability; on all others see below.",
    ),
)
TABLES = (
    Table(
        "theorem-1",
        "Theorem 1: instances within the bound; h = t*/(δ/(16 γ log²L)). Flows that "
        "are perfect at once have a t* that only says when the lead is "
        f"{_EVENT_MARGIN} n/c.",
        _table,
        any_of=tuple(GROUPS | REPETITION),
    ),
)

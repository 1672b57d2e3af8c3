r"""Gradient descent on $W$ alone with $V = cP$: the paper's first result, in steps.

The abstract says that gradient descent learns these parameters efficiently, and states a
time for gradient flow. Here descent at $\eta = $ share $/\max\lambda_{max}$ of its path is
compared with that time: is $\eta t^*$ within the flow's bound, and how near to the flow's
own first perfect time is it?
"""

import math
from typing import Any

import jax.numpy as jnp
import numpy as np
import pandas as pd
import xarray as xr

from piste.claims import Claim, Condition, Verdict, compare, decide, undecided
from piste.reproduction import Evidence, Table
from piste.values import option, value

from ..forms import (
    AttentionLoss,
    FlowData,
    Problem,
    common_sizes,
    descend_to_perfection,
    listed_loss,
)
from ..theory import is_small_step, zero_start
from ._cells import (
    DISTRIBUTION_NAMES,
    by_distribution,
    cells,
    distribution_of,
    missing_numbers,
    number,
    numbers,
    size_text,
    to_dataset,
)
from ._flows import (
    BOUND_TEXT,
    THEOREM_1_NUMBERS,
    follow_flows,
    is_within_bound,
    theorem_of,
)
from .instances import RandomInstances

STUDY = "attention-descents"
SHARES = (1.0, 0.1)
r"""Learning rates, in units of $1/\max\lambda_{max}$ of the path."""


@value
class AttentionDescents:
    """Random instances, descended on with large and with small steps."""

    draws: RandomInstances = RandomInstances(
        "each", count=60, max_vocabulary=10, max_length=4
    )
    batch: int = option(default=30, minimum=1)
    """Instances in a part."""
    limit: int = option(default=5000, minimum=1)
    """Steps after which a descent ends unfinished."""

    def parts(self) -> int:
        """One for every batch."""
        return self.draws.batches(self.batch)

    def part(self, index: int) -> xr.Dataset:
        """Follow the flow of every instance, and descend."""
        flows = follow_flows(self.draws.batch(index, self.batch), listed_loss)
        sizes = common_sizes([flow.problem for flow in flows])
        return to_dataset(
            [
                flow.row() | self._descend(flow.problem, sizes, share)
                for flow in flows
                for share in SHARES
            ]
        )

    def _descend(
        self, problem: Problem, sizes: tuple[int, ...], share: float
    ) -> dict[str, Any]:
        objective = AttentionLoss(FlowData.of(problem, sizes))
        start = jnp.zeros(sizes[2:])
        descent = descend_to_perfection(objective, start, share=share, limit=self.limit)
        steps = math.nan if descent.steps is None else float(descent.steps)
        return {
            "share": share,
            "limit": self.limit,
            "learning_rate": descent.learning_rate,
            "max_curvature": descent.max_curvature,
            "first_curvature": descent.curvatures[0],
            "descent_start_size": float(jnp.abs(start).max()),
            "steps": steps,
            "last_step": len(descent.margins) - 1,
            "descent_time": descent.learning_rate * steps,
        }


def descent_verdict(cell: xr.Dataset) -> Verdict:
    """Judge the steps of a descent on W against the flow's bound in steps."""
    share, rate = number(cell, "share"), number(cell, "learning_rate")
    instance = f"{distribution_of(cell)} {size_text(cell)}, η = {share:g}/max λ_max"
    names = (*THEOREM_1_NUMBERS, "learning_rate", "max_curvature", "descent_start_size")
    if why := missing_numbers(cell, names):
        return undecided(instance, "perfect by step 4M/(log(L) γ η)", why)
    steps, bound = number(cell, "steps"), theorem_of(cell).step_bound(rate)
    predicted = f"perfect by step ⌈4M/(log(L) γ η)⌉ = {bound:,}"
    conditions = _descent_conditions(cell)
    if math.isnan(steps):
        last = number(cell, "last_step")
        return decide(
            instance,
            False,
            predicted=predicted,
            measured=f"not perfect up to step {last:.0f}",
            needs=(Condition("as many steps as the bound", last >= bound),),
            conditions=conditions,
        )
    return compare(
        instance,
        steps,
        maximum=bound,
        predicted=predicted,
        needs=(Condition("t* ≥ 1", steps >= 1, f"t* = {steps:g}"),),
        conditions=conditions,
        numbers=_descent_numbers(cell),
    )


def _descent_conditions(cell: xr.Dataset) -> tuple[Condition, ...]:
    rate, curvature = number(cell, "learning_rate"), number(cell, "max_curvature")
    start = number(cell, "descent_start_size")
    return (
        *theorem_of(cell).conditions(number(cell, "value_scale")),
        zero_start(start, "W₀ = 0 of the descent"),
        Condition(
            "η ≤ 1/λ_max along the path",
            is_small_step(rate, curvature),
            f"η λ_max = {rate * curvature:.4g} at most",
        ),
    )


def _descent_numbers(cell: xr.Dataset) -> dict[str, float]:
    time, flow_time = number(cell, "descent_time"), number(cell, "time")
    results = {
        "η": number(cell, "learning_rate"),
        "η t*": time,
        "bound/(η t*)": number(cell, "bound") / time if time else math.nan,
        "λ_max grows by": number(cell, "max_curvature")
        / number(cell, "first_curvature"),
    }
    # Perfect after one step: how soon the flow is perfect says nothing about it.
    if cell.steps > 1:
        results["η t*/t* of the flow"] = time / flow_time
    return results


def _judge(evidence: Evidence) -> list[Verdict]:
    return [descent_verdict(cell) for cell in cells(evidence.dataset(STUDY))]


def _table(evidence: Evidence) -> pd.DataFrame:
    rows = []
    for distribution, data in by_distribution(evidence.dataset(STUDY)).items():
        shares = numbers(data, "share")
        for share in np.unique(shares)[::-1]:
            used = data.isel(cell=np.flatnonzero(shares == share))
            name = DISTRIBUTION_NAMES[distribution]
            rows.append({"sequences": name, "η λ_max": share} | _summary(used))
    return pd.DataFrame(rows)


def _summary(data: xr.Dataset) -> dict[str, float]:
    """Steps and times of the descents with one share."""
    steps, time = numbers(data, "steps"), numbers(data, "descent_time")
    ratio = (time / numbers(data, "time"))[steps > 1]
    growth = numbers(data, "max_curvature") / numbers(data, "first_curvature")
    return {
        "instances": steps.size,
        "within the bound": int(is_within_bound(data, "descent_time").sum()),
        "median t*": float(np.median(steps)),
        "largest t*": float(steps.max()),
        "smallest bound/(η t*)": float((numbers(data, "bound") / time).min()),
        "t* > 1": ratio.size,
        "η t*/flow, from": float(ratio.min(initial=np.inf)),
        "η t*/flow, median": float(np.median(ratio)) if ratio.size else np.nan,
        "η t*/flow, to": float(ratio.max(initial=-np.inf)),
        "λ_max grows by, at most": float(growth.max()),
    }


CLAIMS = (
    Claim(
        "Gradient descent on W",
        "Gradient descent on W from W₀ = 0 with V = cP at η ≤ 1/λ_max is perfect, on all "
        f"sequences of positive probability, within the flow's time {BOUND_TEXT}: η t* is "
        "at most that.",
        _judge,
        needs=(STUDY,),
        figure="bounds",
        remark=(
            "The introduction says that gradient descent learns these parameters "
            "efficiently; the abstract gives no learning rate and no number of steps "
            "for it, only the time of the flow. The reading here is ours: λ_max is "
            "the largest eigenvalue of the Hessian in W, from its blocks, at every "
            "step of the path."
        ),
    ),
)
TABLES = (
    Table(
        "attention-descents",
        "Gradient descent on W with V = cP: steps t* to perfection, and η t* against "
        "the flow's own t* where t* > 1. Shares are of 1/max λ_max of the path.",
        _table,
        (STUDY,),
    ),
)

"""Instances of Theorem 1 whose flows are followed to their first perfect moment."""

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import xarray as xr

from ..forms import (
    AbstractPopulation,
    Perfection,
    Problem,
    exact_loss,
    first_perfect,
)
from ..tasks import DecisionLists, Instance
from ..theory import AttentionTheorem, attention_theorem
from ._cells import number, numbers

THEOREM_1_NUMBERS = ("gamma", "delta", "scale", "bound", "value_scale", "start_size")
"""The numbers without which nothing can be said of Theorem 1 on an instance."""
BOUND_TEXT = "4M/(log(L) γ)"
"""The bound of Theorem 1 on the time, as verdicts write it."""


@dataclass(frozen=True)
class InstanceFlow:
    """An instance of Theorem 1, and how its flow became perfect or not."""

    task: DecisionLists
    instance: Instance
    theorem: AttentionTheorem
    problem: Problem
    perfection: Perfection

    def row(self) -> dict[str, Any]:
        """What is kept of it: sizes, constants, what was run, and how it ended."""
        task, perfection = self.task, self.perfection
        return {
            "vocabulary": task.vocabulary,
            "length": task.length,
            "list_bound": self.instance.list_bound,
            "distribution": task.distribution,
            **dataclasses.asdict(self.theorem),
            "value_scale": self.problem.scale,
            "start_size": perfection.start_size,
            "time": perfection.time,
            "ended": perfection.ended,
            "outcome": perfection.outcome,
            "solver_steps": perfection.steps,
            "margin": perfection.margin,
        }


def follow_flows(
    drawn: Sequence[tuple[DecisionLists, Instance]],
    loss: Callable[[Instance], AbstractPopulation] = exact_loss,
) -> list[InstanceFlow]:
    """Follow the flows of Theorem 1 as stated: with its scale, up to its bound."""
    theorems = [attention_theorem(instance) for _, instance in drawn]
    problems = [
        Problem(loss(instance), theorem.scale, theorem.bound)
        for (_, instance), theorem in zip(drawn, theorems, strict=True)
    ]
    parts = zip(drawn, theorems, problems, first_perfect(problems), strict=True)
    return [
        InstanceFlow(task, instance, theorem, problem, perfection)
        for (task, instance), theorem, problem, perfection in parts
    ]


def theorem_of(cell: xr.Dataset) -> AttentionTheorem:
    """The constants of Theorem 1 for an instance, as they were recorded."""
    names = [field.name for field in dataclasses.fields(AttentionTheorem)]
    return AttentionTheorem(**{name: number(cell, name) for name in names})


def is_within_bound(data: xr.Dataset, time: str = "time") -> np.ndarray:
    """Which instances were perfect by the bound of Theorem 1."""
    return numbers(data, time) <= numbers(data, "bound")

"""Theorem 1 on many random instances: when the flow is first perfect."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import jax
import numpy as np
import xarray as xr

from piste.training import OUTCOMES
from piste.values import option, value

from .forms import (
    AbstractPopulation,
    Listed,
    Perfection,
    Problem,
    exact_loss,
    first_perfect,
    population_loss,
)
from .instances import RandomInstances, table
from .tasks.decision_lists import DISTRIBUTIONS, DecisionLists, Instance
from .theory.bounds import AttentionTheorem, attention_theorem


@dataclass(frozen=True)
class Followed:
    """An instance of Theorem 1 whose flow was followed to its first perfect moment."""

    task: DecisionLists
    instance: Instance
    theorem: AttentionTheorem
    problem: Problem
    found: Perfection

    def row(self) -> dict:
        """What is kept of it: constants, what was run, and how it ended."""
        task, theorem, found = self.task, self.theorem, self.found
        return {
            "vocabulary": task.vocabulary,
            "length": task.length,
            "list_bound": self.instance.list_bound,
            "distribution": DISTRIBUTIONS.index(task.distribution),
            "gamma": theorem.gamma,
            "delta": theorem.delta,
            "scale": theorem.scale,
            "bound": theorem.bound,
            "proved_bound": theorem.proved_bound,
            "time_unit": theorem.time_unit,
            "value_scale": self.problem.scale,
            "start_size": found.start_size,
            "time": found.time,
            "ended": found.ended,
            "outcome": OUTCOMES.index(found.outcome),
            "solver_steps": found.steps,
            "margin": found.margin,
        }


def listed_loss(instance: Instance) -> Listed:
    """The loss as a function of all entries of W, whatever the distribution."""
    found = population_loss(instance, "enumeration")
    assert isinstance(found, Listed)
    return found


def follow(
    drawn: Sequence[tuple[DecisionLists, Instance]],
    loss: Callable[[Instance], AbstractPopulation] = exact_loss,
) -> list[Followed]:
    """The flows of Theorem 1 as stated: with its scale, followed up to its bound."""
    theorems = [attention_theorem(instance) for _, instance in drawn]
    problems = [
        Problem(loss(instance), theorem.scale, theorem.bound)
        for (_, instance), theorem in zip(drawn, theorems, strict=True)
    ]
    every = zip(drawn, theorems, problems, first_perfect(problems), strict=True)
    return [
        Followed(task, instance, theorem, problem, found)
        for (task, instance), theorem, problem, found in every
    ]


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
        drawn = self.draws.batch(index, self.batch)
        return table([one.row() for one in follow(drawn)])


@value
class ScaleSweep:
    r"""One instance of Theorem 1 with $V = fcP$ for factors $f$ of the stated scale."""

    vocabulary: int = option(default=30, minimum=2)
    length: int = option(default=6, minimum=1)
    list_bound: int = option(default=4, minimum=1)
    smallest: float = option(default=1e-4, greater_than=0)
    largest: float = option(default=10.0, greater_than=0)
    factors: int = option(default=21, minimum=2)
    patience: float = option(default=1000.0, greater_than=0)
    """How long to follow a flow, in units of the bound."""
    seed: int = option(default=3, minimum=0)

    def parts(self) -> int:
        """All factors at once."""
        return 1

    def part(self, index: int) -> xr.Dataset:
        """Follow the flow for every factor."""
        sizes = self.vocabulary, self.length, self.list_bound
        task = DecisionLists(*sizes, list_lengths="fixed")
        instance = task.instance(key=jax.random.key(self.seed))
        theorem, population = attention_theorem(instance), exact_loss(instance)
        factors = np.geomspace(self.smallest, self.largest, self.factors)
        horizon = self.patience * theorem.bound
        problems = [Problem(population, f * theorem.scale, horizon) for f in factors]
        every = zip(factors, problems, first_perfect(problems), strict=True)
        more = {"patience": self.patience}
        return table(
            [
                Followed(task, instance, theorem, problem, found).row()
                | {"factor": factor, **more}
                for factor, problem, found in every
            ]
        )


@value
class Repetition:
    """Theorem 1 where tokens are independent and may repeat, which it does not cover."""

    sizes: str = "8,3,2 10,4,2 12,4,3 16,5,3 20,4,2 30,6,2 30,6,4"
    """Sizes L,n,M with spaces between."""
    patience: float = option(default=100.0, greater_than=0)
    """How long to follow a flow, in units of the bound."""
    seed: int = option(default=7, minimum=0)

    def parts(self) -> int:
        """One for every size."""
        return len(self.sizes.split())

    def part(self, index: int) -> xr.Dataset:
        """Follow the flow of one size."""
        sizes = (int(word) for word in self.sizes.split()[index].split(","))
        task = DecisionLists(*sizes, list_lengths="fixed", distribution="iid")
        instance = task.instance(key=jax.random.key(self.seed))
        theorem = attention_theorem(instance)
        horizon = self.patience * theorem.bound
        problem = Problem(exact_loss(instance), theorem.scale, horizon)
        (found,) = first_perfect([problem])
        row = Followed(task, instance, theorem, problem, found).row()
        return table([row | {"stiff": problem.stiff, "patience": self.patience}])

"""Theorem 1 on many random instances: when the flow is perfect, and whether it stays."""

import math

import jax
import numpy as np
import xarray as xr

from piste.dynamics.flow import OUTCOMES
from piste.dynamics.population import (
    Perfection,
    Problem,
    exact_loss,
    first_perfect,
    margins_at,
)
from piste.tasks.decision_lists import DISTRIBUTIONS, DecisionLists, Instance
from piste.theory.decision_lists import AttentionTheorem, attention_theorem
from piste.values import option, value

OTHERS = ("dirichlet", "support", "poisson")
"""The distributions without repetition beside the uniform one."""


@value
class FirstPerfect:
    """Random instances of Theorem 1, each followed to its first perfect moment."""

    distribution: str = option(default="uniform", among=("uniform", "others"))
    """Uniform sets; or Dirichlet weights, random supports and Poisson sets in turn."""
    instances: int = option(default=200, least=1)
    batch: int = option(default=50, least=1)
    """Instances in a part."""
    largest: int = option(default=30, least=6)
    """The largest vocabulary; the smallest is 6."""
    longest: int = option(default=6, least=3)
    """The longest sequence; the shortest is 3."""
    follow: float = option(default=0.0, least=0)
    """How long to follow the flow after its first perfect moment, in units of it."""
    seed: int = option(default=0, least=0)

    def parts(self) -> int:
        """One for every batch."""
        return -(-self.instances // self.batch)

    def part(self, index: int) -> xr.Dataset:
        """Draw the instances of a batch and follow their flows."""
        start = index * self.batch
        numbers = range(start, min(start + self.batch, self.instances))
        drawn = [self.draw(number) for number in numbers]
        theorems = [attention_theorem(instance) for _, instance in drawn]
        problems = [
            Problem(exact_loss(instance), theorem.scale, theorem.bound)
            for (_, instance), theorem in zip(drawn, theorems, strict=True)
        ]
        found = first_perfect(problems)
        rows = [
            _row(task, instance, theorem, result)
            for (task, instance), theorem, result in zip(
                drawn, theorems, found, strict=True
            )
        ]
        data = table(rows)
        return data.assign(self._persistence(problems, found)) if self.follow else data

    def draw(self, number: int) -> tuple[DecisionLists, Instance]:
        """An instance of random size; its number fixes it."""
        rng = np.random.default_rng([self.seed, number, len(self.distribution)])
        size = int(rng.integers(6, self.largest + 1))
        length = int(rng.integers(3, self.longest + 1))
        kind = "uniform" if self.distribution == "uniform" else OTHERS[number % 3]
        task = DecisionLists(
            vocabulary=size,
            length=length,
            list_bound=int(rng.integers(1, 5)),
            distribution=kind,
            support_sets=min(20, math.comb(size, length)),
            weight_spread=0.7,
        )
        key = jax.random.key(int(rng.integers(2**31)))
        return task, task.instance(key=key)

    def _persistence(self, problems: list[Problem], found: list[Perfection]) -> dict:
        """Whether the margin is ever negative again, and over which multiples of t*."""
        grid = np.geomspace(1.01, self.follow, 200)
        times = np.outer([result.time for result in found], grid)
        margins = margins_at(problems, times)
        lost = margins < 0
        first = [grid[row][0] if row.any() else np.nan for row in lost]
        last = [grid[row][-1] if row.any() else np.nan for row in lost]
        return {
            "lost_from": ("cell", first),
            "lost_to": ("cell", last),
            "at_the_end": ("cell", margins[:, -1]),
        }


@value
class ScaleSweep:
    r"""One instance of Theorem 1 with $V = fcP$ for factors $f$ of the stated scale."""

    vocabulary: int = option(default=30, least=2)
    length: int = option(default=6, least=1)
    list_bound: int = option(default=4, least=1)
    smallest: float = option(default=1e-4, above=0)
    largest: float = option(default=10.0, above=0)
    factors: int = option(default=21, least=2)
    patience: float = option(default=1000.0, above=0)
    """How long to follow a flow, in units of the bound."""
    seed: int = option(default=3, least=0)

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
        rows = [
            _row(task, instance, theorem, result) | {"factor": factor}
            for factor, result in zip(factors, first_perfect(problems), strict=True)
        ]
        return table(rows)


@value
class Repetition:
    """Theorem 1 where tokens are independent and may repeat, which it does not cover."""

    sizes: str = "8,3,2 10,4,2 12,4,3 16,5,3 20,4,2 30,6,2 30,6,4"
    """Sizes L,n,M with spaces between."""
    patience: float = option(default=100.0, above=0)
    """How long to follow a flow, in units of the bound."""
    seed: int = option(default=7, least=0)

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
        row = _row(task, instance, theorem, first_perfect([problem])[0])
        return table([row | {"stiff": problem.stiff}])


def _row(
    task: DecisionLists,
    instance: Instance,
    theorem: AttentionTheorem,
    found: Perfection,
) -> dict:
    return {
        "vocabulary": task.vocabulary,
        "length": task.length,
        "list_bound": instance.list_bound,
        "distribution": DISTRIBUTIONS.index(task.distribution),
        "gamma": theorem.gamma,
        "delta": theorem.delta,
        "scale": theorem.scale,
        "bound": theorem.bound,
        "proved_bound": theorem.proved_bound,
        "time_unit": theorem.time_unit,
        "time": found.time,
        "outcome": OUTCOMES.index(found.outcome),
        "solver_steps": found.steps,
        "margin": found.margin,
    }


def table(rows: list[dict]) -> xr.Dataset:
    """Rows of numbers and words as a dataset along ``cell``."""
    names = list(rows[0])
    return xr.Dataset(
        {name: ("cell", np.array([row[name] for row in rows])) for name in names}
    )

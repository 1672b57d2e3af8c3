"""Random instances of the task: their sizes, and how they are drawn."""

import math

import jax
import numpy as np
import xarray as xr

from piste.values import option, value

from .tasks.decision_lists import FEW_SETS, DecisionLists, Instance

KINDS = ("uniform", "dirichlet", "support", "poisson", "dirichlet-support")
"""The distributions without repetition."""
FAMILIES = {
    **{kind: (kind,) for kind in KINDS},
    "others": ("dirichlet", "support", "poisson"),
    "few": FEW_SETS,
    "each": KINDS,
}
"""Which distributions a family draws in turn."""


@value
class RandomInstances:
    """Instances of random size from one family of distributions without repetition."""

    family: str = option(default="uniform", choices=tuple(FAMILIES))
    """A distribution of the task, or several in turn: all (each), those with few sets
    (few), or Dirichlet, support and Poisson (others)."""
    count: int = option(default=200, minimum=1)
    smallest: int = option(default=6, minimum=2)
    """The smallest vocabulary."""
    largest: int = option(default=30, minimum=2)
    shortest: int = option(default=3, minimum=1)
    """The shortest sequence."""
    longest: int = option(default=6, minimum=1)
    list_bounds: str = option(default="1-4", choices=("1-4", "4"))
    """The bounds $M$ on the lengths of lists, one of which is drawn."""
    list_lengths: str = option(default="random", choices=("random", "fixed"))
    """Whether a list has a length uniform in $1 … M$, or always $M$."""
    support_sets: int = option(default=20, minimum=1)
    """Sets of positive probability, where they are few."""
    concentration: float = option(default=1.0, greater_than=0)
    """Parameter of the Dirichlet weights."""
    first: int = option(default=0, minimum=0)
    """The number of the first instance: each number fixes an instance."""
    seed: int = option(default=0, minimum=0)

    def batches(self, size: int) -> int:
        """How many batches of a size there are."""
        return -(-self.count // size)

    def batch(self, index: int, size: int) -> list[tuple[DecisionLists, Instance]]:
        """Draw one batch."""
        numbers = range(index * size, min((index + 1) * size, self.count))
        return [self.draw(self.first + number) for number in numbers]

    def draw(self, number: int) -> tuple[DecisionLists, Instance]:
        """An instance of random size; its number fixes it."""
        rng = np.random.default_rng([self.seed, number, len(self.family)])
        size = int(rng.integers(self.smallest, self.largest + 1))
        length = int(rng.integers(self.shortest, self.longest + 1))
        low, high = int(self.list_bounds[0]), int(self.list_bounds[-1])
        kinds = FAMILIES[self.family]
        task = DecisionLists(
            vocabulary=size,
            length=length,
            list_bound=int(rng.integers(low, high + 1)),
            list_lengths=self.list_lengths,
            distribution=kinds[number % len(kinds)],
            support_sets=min(self.support_sets, math.comb(size, length)),
            concentration=self.concentration,
            weight_spread=0.7,
        )
        key = jax.random.key(int(rng.integers(2**31)))
        return task, task.instance(key=key)


def table(rows: list[dict]) -> xr.Dataset:
    """Rows of numbers as a dataset along ``cell``."""
    names = list(rows[0])
    return xr.Dataset(
        {name: ("cell", np.array([row[name] for row in rows])) for name in names}
    )

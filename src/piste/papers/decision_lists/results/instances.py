"""Random instances of the task: their sizes, and how they are drawn."""

import math
from typing import Any

import jax
import numpy as np

from piste.errors import field_error
from piste.values import option, value

from ..tasks import FEW_SETS, DecisionLists, Instance

SETS = ("uniform", "dirichlet", "support", "poisson", "dirichlet-support")
"""The distributions without repetition."""
FAMILIES = {
    **{distribution: (distribution,) for distribution in SETS},
    "others": ("dirichlet", "support", "poisson"),
    "few": FEW_SETS,
    "each": SETS,
}
"""Which distributions a family draws in turn."""


@value
class RandomInstances:
    """Instances of random size from one family of distributions without repetition."""

    family: str = option(default="uniform", choices=tuple(FAMILIES))
    """A distribution of the task, or several in turn: all (each), those with few sets
    (few), or Dirichlet, support and Poisson (others)."""
    count: int = option(default=200, minimum=1)
    min_vocabulary: int = option(default=6, minimum=2)
    max_vocabulary: int = option(default=30, minimum=2)
    min_length: int = option(default=3, minimum=1)
    max_length: int = option(default=6, minimum=1)
    min_list_bound: int = option(default=1, minimum=1)
    """The smallest bound $M$ on the lengths of lists; one is drawn for each instance."""
    max_list_bound: int = option(default=4, minimum=1)
    list_lengths: str = option(default="random", choices=("random", "fixed"))
    """Whether a list has a length uniform in $1 … M$, or always $M$."""
    support_sets: int = option(default=20, minimum=1)
    """Sets of positive probability, where they are few."""
    concentration: float = option(default=1.0, greater_than=0)
    """Parameter of the Dirichlet weights."""
    first: int = option(default=0, minimum=0)
    """The number of the first instance: each number fixes an instance."""
    seed: int = option(default=0, minimum=0)

    def __post_init__(self):
        for size in ("vocabulary", "length", "list_bound"):
            minimum, maximum = (
                getattr(self, f"{end}_{size}") for end in ("min", "max")
            )
            if maximum < minimum:
                expected = f"must be at least min-{size.replace('_', '-')} = {minimum}"
                raise field_error(f"max_{size}", maximum, expected)

    def batches(self, size: int) -> int:
        """How many batches of a size there are."""
        return -(-self.count // size)

    def batch(self, index: int, size: int) -> list[tuple[DecisionLists, Instance]]:
        """Draw one batch."""
        numbers = range(index * size, min((index + 1) * size, self.count))
        return [self.draw(self.first + number) for number in numbers]

    def draw(self, number: int) -> tuple[DecisionLists, Instance]:
        """Draw an instance of random size; its number fixes it."""
        # The length of the family's name keeps families with one seed apart.
        rng = np.random.default_rng([self.seed, number, len(self.family)])
        vocabulary = int(rng.integers(self.min_vocabulary, self.max_vocabulary + 1))
        length = int(rng.integers(self.min_length, self.max_length + 1))
        list_bound = int(rng.integers(self.min_list_bound, self.max_list_bound + 1))
        distributions = FAMILIES[self.family]
        task = DecisionLists(
            vocabulary=vocabulary,
            length=length,
            list_bound=list_bound,
            list_lengths=self.list_lengths,
            distribution=distributions[number % len(distributions)],
            support_sets=min(self.support_sets, math.comb(vocabulary, length)),
            concentration=self.concentration,
            weight_spread=0.7,
        )
        key = jax.random.key(int(rng.integers(2**31)))
        return task, task.instance(key=key)


def check_parallel(given: Any, *names: str) -> None:
    """Refuse tuple fields that are empty, or of which one has another length."""
    first, *others = names
    count = len(getattr(given, first))
    if not count:
        raise field_error(first, (), "must have at least one number")
    for name in others:
        numbers = getattr(given, name)
        if len(numbers) != count:
            expected = (
                f"must have as many numbers as {first.replace('_', '-')}, {count}"
            )
            raise field_error(name, numbers, expected)

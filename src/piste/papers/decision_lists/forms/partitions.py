r"""Independent uniform tokens: counts of the list's tokens times integer partitions.

Given the query $a$, the other $n-1$ places hold $N_k$ times $a_k$, some more $a$, and $r$
tokens outside the list, whose multiplicities are a partition of $r$. The number of
sequences of a case is a product of factorials, an exact integer.
"""

import itertools
import math
from collections import Counter
from collections.abc import Iterator

import equinox as eqx
import numpy as np
from jaxtyping import Float, Int

from piste.errors import field_error

from ..tasks import Instance
from ..tasks.sequences import COUNT_LIMIT, count_text
from .cases import Cases
from .condensed import AbstractCondensedPopulation, columns_by_length, joined

MAX_CASES = 500_000
"""Cases that are tabulated, at most."""
MAX_LENGTH = 64
"""A longer sequence makes more cases than that: 64 has 1.7 million partitions."""


class PartitionPopulation(AbstractCondensedPopulation):
    """The exact population of independent uniform tokens, to $n$ about 24."""

    cases: Cases
    frequency: Float[np.ndarray, " column"]
    column: Int[np.ndarray, " token"]
    entries: Float[np.ndarray, "key column"]
    lists: Int[np.ndarray, "column slot"]
    list_lengths: Int[np.ndarray, " column"]
    length: int = eqx.field(static=True)
    repeats: bool = eqx.field(static=True)

    @staticmethod
    def of(instance: Instance) -> "PartitionPopulation":
        """Tabulate the cases of every length of list."""
        check_cost(instance)
        columns = columns_by_length(instance)
        bound = instance.lists.shape[1]
        tables = [
            count_cases(instance.vocabulary, instance.length, int(m), bound)
            for m in columns["list_lengths"]
        ]
        cases = joined(tables, columns["frequency"])
        return PartitionPopulation(
            cases, length=instance.length, repeats=True, **columns
        )

    @property
    def form(self) -> str:
        """The form's name."""
        return "partitions"


def case_count(length: int, m: int) -> int:
    """How many cases a list of $m$ makes: compositions times partitions."""
    if length > MAX_LENGTH:
        return COUNT_LIMIT
    partitions = _partition_numbers(length - 1)
    return sum(
        math.comb(length - 1 - r + m - 1, m - 1) * partitions[r] for r in range(length)
    )


def check_cost(instance: Instance) -> None:
    """Refuse an instance with too many cases."""
    lengths = np.unique(instance.list_lengths)
    cost = sum(case_count(instance.length, int(m)) for m in lengths)
    if cost > MAX_CASES:
        message = f"{count_text(cost)} cases, at most {MAX_CASES:.2g}; use monte-carlo"
        raise field_error("form", "partitions", message)


def _partition_numbers(largest: int) -> list[int]:
    numbers = [1] + [0] * largest
    for part in range(1, largest + 1):
        for total in range(part, largest + 1):
            numbers[total] += numbers[total - part]
    return numbers


def partitions(total: int, largest: int | None = None) -> Iterator[tuple[int, ...]]:
    """All partitions of a whole number into parts, largest first.

    >>> list(partitions(4))
    [(4,), (3, 1), (2, 2), (2, 1, 1), (1, 1, 1, 1)]
    """
    if total == 0:
        yield ()
    for part in range(min(total, largest or total), 0, -1):
        for rest in partitions(total - part, part):
            yield (part, *rest)


def compositions(total: int, parts: int) -> Iterator[tuple[int, ...]]:
    """All ways to write a whole number as an ordered sum of ``parts`` counts."""
    for bars in itertools.combinations(range(total + parts - 1), parts - 1):
        edges = (-1, *bars, total + parts - 1)
        yield tuple(b - a - 1 for a, b in itertools.pairwise(edges))


def count_cases(vocabulary: int, length: int, m: int, bound: int) -> Cases:
    """The cases of one column: counts of the list's tokens, multiplicities of others."""
    outside = vocabulary - m
    cases = [
        (counts, Counter(parts))
        for r in range(length)
        for counts in compositions(length - 1 - r, m)
        for parts in partitions(r)
        if len(parts) <= outside
    ]
    copies, tokens = _groups(cases, m)
    ways = [_sequences(counts, sizes, outside, length) for counts, sizes in cases]
    total = vocabulary ** (length - 1)
    key = np.append(np.arange(m), np.full(tokens.shape[1] - m, bound))
    return Cases(
        query=np.zeros(len(cases), int),
        key=np.broadcast_to(key, tokens.shape),
        copies=copies,
        tokens=tokens,
        decider=tokens[:, :m].argmax(1),
        weight=np.array([count / total for count in ways]),
        vocabulary=np.asarray(float(vocabulary)),
    )


def _groups(
    cases: list[tuple[tuple[int, ...], Counter]], m: int
) -> tuple[Float[np.ndarray, "case group"], Float[np.ndarray, "case group"]]:
    """Multiplicities and numbers of tokens: the list's first, then the others'."""
    shape = len(cases), m + max(len(sizes) for _, sizes in cases)
    copies, tokens = np.ones(shape), np.zeros(shape)
    for row, (counts, sizes) in enumerate(cases):
        present = np.array([*counts[:-1], counts[-1] + 1])
        copies[row, :m], tokens[row, :m] = np.maximum(present, 1), present > 0
        copies[row, m : m + len(sizes)] = list(sizes)
        tokens[row, m : m + len(sizes)] = list(sizes.values())
    return copies, tokens


def _sequences(
    counts: tuple[int, ...], sizes: Counter, outside: int, length: int
) -> int:
    """How many sequences of the other $n-1$ places belong to a case."""
    ways = math.factorial(length - 1)
    for count in counts:
        ways //= math.factorial(count)
    for size, tokens in sizes.items():
        ways //= math.factorial(size) ** tokens
    distinct = sum(sizes.values())
    orders = math.prod(math.factorial(tokens) for tokens in sizes.values())
    return ways * (math.perm(outside, distinct) // orders)

r"""Uniform sets without repetition: $2^{m-1}$ hypergeometric cases for a list of $m$.

Given the query $a$, which of $a_1 … a_{m-1}$ occur has a hypergeometric probability, and
the remaining places hold tokens outside the list, all with one score.
"""

import equinox as eqx
import numpy as np
from jaxtyping import Float, Int

from piste.errors import field_error

from ..tasks import Instance
from .cases import Cases
from .condensed import AbstractCondensedPopulation, columns_by_length, joined

MAX_LIST_LENGTH = 20
"""A list of m makes 2^(m−1) cases."""


class ReducedPopulation(AbstractCondensedPopulation):
    """The exact population of uniform sets, at any $L$ and $n$."""

    cases: Cases
    frequency: Float[np.ndarray, " column"]
    column: Int[np.ndarray, " token"]
    entries: Float[np.ndarray, "key column"]
    lists: Int[np.ndarray, "column slot"]
    list_lengths: Int[np.ndarray, " column"]
    length: int = eqx.field(static=True)
    repeats: bool = eqx.field(static=True)

    @staticmethod
    def of(instance: Instance) -> "ReducedPopulation":
        """Tabulate the cases of every length of list."""
        check_list_bound(instance.list_bound)
        columns = columns_by_length(instance)
        bound = instance.lists.shape[1]
        tables = [
            subset_cases(instance.vocabulary, instance.length, int(m), bound)
            for m in columns["list_lengths"]
        ]
        cases = joined(tables, columns["frequency"])
        return ReducedPopulation(
            cases, length=instance.length, repeats=False, **columns
        )

    @property
    def form(self) -> str:
        """The form's name."""
        return "reduced"


def check_list_bound(longest: int) -> None:
    """Refuse lists that make too many cases."""
    if longest > MAX_LIST_LENGTH:
        cost = f"lists of {longest} make {2.0 ** (longest - 1):.2g} cases"
        expected = f"at most {2 ** (MAX_LIST_LENGTH - 1)}; use monte-carlo"
        raise field_error("form", "reduced", f"{cost}, {expected}")


def subset_cases(vocabulary: int, length: int, m: int, bound: int) -> Cases:
    """The cases of one column: a subset of the list, and the others by their number."""
    bits = np.arange(2 ** (m - 1))[:, None] >> np.arange(m - 1) & 1
    listed = np.column_stack([bits, np.ones(len(bits), int)])
    others = length - listed.sum(1)
    weight = subset_probability(vocabulary, length, m - 1)[bits.sum(1)]
    kept = weight > 0
    listed, others, weight = listed[kept], others[kept], weight[kept]
    shape = (len(listed), m + 1)
    return Cases(
        query=np.zeros(len(listed), int),
        key=np.broadcast_to(np.append(np.arange(m), bound), shape),
        copies=np.ones(shape),
        tokens=np.column_stack([listed, others]).astype(float),
        decider=listed.argmax(1),
        weight=weight,
        vocabulary=np.asarray(float(vocabulary)),
    )


def subset_probability(
    vocabulary: int, length: int, tokens: int
) -> Float[np.ndarray, " present"]:
    r"""Probability that exactly a given $k$ of $t$ tokens join a query, $k \leq t$.

    It is $C(L-1-t, n-1-k)/C(L-1, n-1)$, written as a quotient of $t$ factors each;
    differences of log-gamma at $L = 10^6$ would lose seven digits.
    """
    below = np.cumprod(np.append(1.0, length - 1.0 - np.arange(tokens)))
    above = np.cumprod(np.append(1.0, vocabulary - length - np.arange(tokens)))
    all_places = np.prod(vocabulary - 1.0 - np.arange(tokens))
    return np.maximum(below, 0) * np.maximum(above, 0)[::-1] / all_places

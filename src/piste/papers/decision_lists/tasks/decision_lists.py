"""Sequence-to-sequence maps in which a list of every token decides its label."""

# pyright takes the abstract variables of a distribution for arguments.
# pyright: reportCallIssue=false

from collections.abc import Sequence
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Int, Key

from piste.errors import field_error
from piste.streams import Stream, stream
from piste.tasks import AbstractTask, task
from piste.values import option

from .sequences import (
    COUNT_LIMIT,
    AbstractSequences,
    IndependentTokens,
    PoissonSets,
    UniformSets,
    WeightedSets,
    all_sets,
    count_text,
    set_count,
)

Tokens = Int[Array | np.ndarray, "*sequence position"]
DISTRIBUTIONS = (
    "uniform",
    "dirichlet",
    "support",
    "poisson",
    "iid",
    "dirichlet-support",
)
"""Distributions of sequences, by the names that the field ``distribution`` takes."""
FEW_SETS = ("support", "dirichlet-support")
"""Distributions under which most sets have probability 0."""
MAX_WEIGHTED_SETS = 2_000_000
"""Up to so many sets get random weights: each of them is held in memory."""


class Instance(eqx.Module):
    r"""A permutation $\pi$, a list for every token, and a distribution of sequences.

    Every token $a$ has a list $L_a = (a_1, …, a_m)$ with $a_m = a$; the label of $a$ in
    a sequence $s$ is $\pi(a_j)$ for the first $a_j \in s$, the label-determining token.
    A row of ``lists`` is filled up with its own token, which changes nothing: $a$ is
    always in $s$.
    """

    permutation: Int[np.ndarray, " token"]
    lists: Int[np.ndarray, "token slot"]
    sequences: AbstractSequences

    def arrays(self) -> dict[str, np.ndarray]:
        """The lists and the permutation."""
        return {"lists": self.lists, "permutation": self.permutation}

    @staticmethod
    def of(
        lists: Sequence[Sequence[int]],
        sequences: AbstractSequences,
        permutation: Sequence[int] | None = None,
    ) -> "Instance":
        """Check lists and a permutation (the identity by default) given by a user."""
        size = sequences.vocabulary
        pi = np.arange(size) if permutation is None else np.asarray(permutation)
        if not np.array_equal(np.sort(pi), np.arange(size)):
            raise field_error("permutation", pi, f"must hold 0 … {size - 1} once each")
        if len(lists) != size:
            expected = f"must be one list per token, {size}"
            raise field_error("lists", f"{len(lists)} lists", expected)
        for token, given in enumerate(lists):
            _check_list(token, tuple(given), size)
        bound = max(map(len, lists))
        padded = [
            [*given] + [a] * (bound - len(given)) for a, given in enumerate(lists)
        ]
        return Instance(pi.astype(np.int32), np.array(padded, np.int32), sequences)

    @property
    def vocabulary(self) -> int:
        """Tokens, $L$."""
        return len(self.lists)

    @property
    def length(self) -> int:
        """Tokens in a sequence, $n$."""
        return self.sequences.length

    @property
    def list_lengths(self) -> Int[np.ndarray, " token"]:
        r"""The length $m$ of every list."""
        own = np.arange(self.vocabulary)[:, None]
        return (self.lists == own).argmax(1) + 1

    @property
    def list_bound(self) -> int:
        r"""The length of the longest list, $M$."""
        return int(self.list_lengths.max())

    def deciders(self, tokens: Tokens) -> Tokens:
        """The label-determining token of every position, as a NumPy or a JAX array."""
        xp: Any = np if isinstance(tokens, np.ndarray) else jnp
        lists = xp.asarray(self.lists)[tokens]
        present = (lists[..., None] == tokens[..., None, None, :]).any(-1)
        first = present.argmax(-1)[..., None]
        return xp.take_along_axis(lists, first, axis=-1)[..., 0]

    def labels(self, tokens: Tokens) -> Tokens:
        r"""The label $\pi(a_j)$ of every position."""
        xp: Any = np if isinstance(tokens, np.ndarray) else jnp
        return xp.asarray(self.permutation)[self.deciders(tokens)]


def _check_list(token: int, given: tuple[int, ...], size: int) -> None:
    if not given or given[-1] != token:
        expected = f"must end in its own token, {token}"
    elif len(set(given)) < len(given):
        expected = "must not repeat a token"
    elif min(given) < 0 or max(given) >= size:
        expected = f"must hold tokens from 0 to {size - 1}"
    elif len(given) >= size:
        expected = f"must be shorter than vocabulary = {size}"
    else:
        return
    # As Python writes it: an empty list would be no text at all on the command line.
    raise field_error(f"lists[{token}]", f"{given}", expected)


@task("decision-lists")
class DecisionLists(AbstractTask):
    r"""Random decision lists over a vocabulary (one-hot tokens).

    Every token $a$ has a list $L_a = (a_1, …, a_m)$, $a_m = a$, $m \leq M$; the first of
    it that occurs in the sequence decides the label of $a$ through a permutation.
    """

    vocabulary: int = option(default=30, minimum=2)
    """Tokens, $L$."""
    length: int = option(default=6, minimum=1)
    """Tokens in a sequence, $n$."""
    list_bound: int = option(default=4, minimum=1)
    """The longest list, $M$."""
    list_lengths: str = option(default="random", choices=("random", "fixed"))
    """Whether a list has a length uniform in $1 … M$, or always $M$."""
    distribution: str = option(default="uniform", choices=DISTRIBUTIONS)
    """Sequences: uniform sets, Dirichlet weights on all sets, equal or Dirichlet weights
    on some (support, dirichlet-support), conditional Poisson sets, or independent tokens
    with repetition (iid)."""
    support_sets: int = option(default=200, minimum=1)
    """Sets of positive probability, for ``support`` and ``dirichlet-support``."""
    concentration: float = option(default=1.0, greater_than=0)
    """Parameter of the Dirichlet weights."""
    weight_spread: float = option(default=1.0, minimum=0)
    """Standard deviation of the logarithm of the token weights, for ``poisson``."""
    batch: int = option(default=4096, minimum=2)
    """Sequences drawn at every step, for the form ``monte-carlo``."""

    def __post_init__(self):
        size, n = self.vocabulary, self.length
        if self.list_bound >= size:
            expected = f"must be below vocabulary = {size}"
            raise field_error("list_bound", self.list_bound, expected)
        if self.distribution != "iid" and n > size:
            expected = f"must be at most vocabulary = {size}, or use distribution iid"
            raise field_error("length", n, expected)
        if self.distribution == "dirichlet" and set_count(size, n) > MAX_WEIGHTED_SETS:
            sets = count_text(set_count(size, n))
            cost = f"{sets} sets to weigh, at most {MAX_WEIGHTED_SETS:.2g}"
            raise field_error("distribution", "dirichlet", f"{cost}; use support")
        if self.distribution in FEW_SETS:
            self._check_support()

    def _check_support(self):
        minimum = -(-self.vocabulary // self.length)
        maximum = set_count(self.vocabulary, self.length)
        if not minimum <= self.support_sets <= maximum:
            upper = count_text(maximum) if maximum >= COUNT_LIMIT else maximum
            lower = f"L/n = {minimum} (every token occurs)"
            expected = f"must be between {lower} and {upper}"
            raise field_error("support_sets", self.support_sets, expected)

    def datasets(self, loaded: None, *, seed: int) -> tuple[Instance, None]:
        """Lists and a distribution; its population is the data, so there is no test."""
        return self.instance(key=stream(seed, Stream.DATA)), None

    def instance(self, *, key: Key[Array, ""]) -> Instance:
        """Draw a permutation, the lists and the distribution."""
        rng = np.random.default_rng(np.asarray(jax.random.key_data(key)))
        permutation = rng.permutation(self.vocabulary).astype(np.int32)
        lists = self._lists(rng)
        return Instance(permutation, lists, self._sequences(rng))

    def _lists(self, rng: np.random.Generator) -> Int[np.ndarray, "token slot"]:
        size, bound = self.vocabulary, self.list_bound
        own = np.arange(size)
        lengths = np.full(size, bound)
        if self.list_lengths == "random":
            lengths = rng.integers(1, bound + 1, size)
        taken = own[:, None]
        for _ in range(bound - 1):
            taken = np.column_stack([taken, _new_tokens(rng, taken)])
        others = np.column_stack([taken[:, 1:], own])
        lists = np.where(np.arange(bound) < lengths[:, None] - 1, others, own[:, None])
        return lists[:, : lengths.max()].astype(np.int32)

    def _sequences(self, rng: np.random.Generator) -> AbstractSequences:
        size, n = self.vocabulary, self.length
        if self.distribution == "uniform":
            return UniformSets(size, n)
        if self.distribution == "iid":
            return IndependentTokens(np.full(size, 1 / size), n)
        if self.distribution == "poisson":
            weights = np.exp(self.weight_spread * rng.standard_normal(size))
            return PoissonSets(weights, n)
        if self.distribution == "dirichlet":
            return self._weighted(rng, all_sets(size, n))
        tokens = _random_sets(rng, size, n, self.support_sets)
        if self.distribution == "dirichlet-support":
            return self._weighted(rng, tokens)
        return WeightedSets(tokens, np.full(len(tokens), 1 / len(tokens)), size)

    def _weighted(self, rng: np.random.Generator, tokens: np.ndarray) -> WeightedSets:
        """Dirichlet weights: gamma variables divided by their sum."""
        weights = rng.gamma(self.concentration, size=len(tokens))
        return WeightedSets(tokens, weights / weights.sum(), self.vocabulary)


def _new_tokens(
    rng: np.random.Generator, taken: Int[np.ndarray, "token slot"]
) -> Int[np.ndarray, " token"]:
    """One more token for every row, uniform among those it does not hold yet."""
    draws = rng.integers(0, len(taken), len(taken))
    while (repeated := np.flatnonzero((taken == draws[:, None]).any(1))).size:
        draws[repeated] = rng.integers(0, len(taken), repeated.size)
    return draws


def _random_sets(
    rng: np.random.Generator, vocabulary: int, length: int, count: int
) -> Int[np.ndarray, "sequence position"]:
    """Distinct random sets; the first of them together hold every token."""
    cover = np.resize(rng.permutation(vocabulary), -(-vocabulary // length) * length)
    sets = {tuple(sorted(row)) for row in cover.reshape(-1, length).tolist()}
    while len(sets) < count:
        draw = rng.choice(vocabulary, length, replace=False)
        sets.add(tuple(sorted(draw.tolist())))
    return np.array(sorted(sets), np.int32)

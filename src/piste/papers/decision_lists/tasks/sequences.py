"""Distributions of token sequences: which tokens occur, and how often.

A model without positions cannot see the order of a sequence, so a distribution is
given by its sets (or, with repetition, its multisets), written as sorted rows.
"""

import abc
import itertools
import math

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, Key

from piste.errors import field_error

COUNT_LIMIT = 10**18
"""Counts of sets stop here: so many are never listed, and a count may be endless."""

Rows = tuple[Int[np.ndarray, "sequence position"], Float[np.ndarray, " sequence"]]


class AbstractSequences(eqx.Module):
    """A distribution over sequences of ``length`` tokens out of ``vocabulary``."""

    vocabulary: eqx.AbstractVar[int]
    length: eqx.AbstractVar[int]
    repeats: eqx.AbstractVar[bool]

    @abc.abstractmethod
    def count(self) -> int:
        """How many sets (or multisets) have positive probability."""

    @abc.abstractmethod
    def rows(self) -> Rows:
        """All of them, one per row, with their probabilities."""

    @abc.abstractmethod
    def sample(
        self, *, key: Key[Array, ""], size: int
    ) -> Int[Array, "sequence position"]:
        """Draw ``size`` independent sequences, in no particular order of tokens."""


class UniformSets(AbstractSequences):
    """All sets of ``length`` distinct tokens, equally likely."""

    vocabulary: int = eqx.field(static=True)
    length: int = eqx.field(static=True)
    repeats: bool = eqx.field(static=True, default=False)

    def __check_init__(self):
        check_length(self.length, self.vocabulary)

    def count(self) -> int:
        """$C(L, n)$."""
        return set_count(self.vocabulary, self.length)

    def rows(self) -> Rows:
        """All sets in lexicographic order."""
        tokens = all_sets(self.vocabulary, self.length)
        return tokens, np.full(len(tokens), 1 / len(tokens))

    def sample(
        self, *, key: Key[Array, ""], size: int
    ) -> Int[Array, "sequence position"]:
        """Take the tokens with the largest of random numbers."""
        draws = jax.random.uniform(key, (size, self.vocabulary))
        return jax.lax.top_k(draws, self.length)[1]


class WeightedSets(AbstractSequences):
    """Finitely many sequences with given probabilities."""

    tokens: Int[np.ndarray, "row position"]
    probability: Float[np.ndarray, " sequence"]
    vocabulary: int = eqx.field(static=True)
    repeats: bool = eqx.field(static=True, default=False)

    def __check_init__(self):
        check_probabilities(self.probability)
        if self.tokens.ndim != 2 or len(self.tokens) != len(self.probability):
            shapes = f"shapes {self.tokens.shape} and {self.probability.shape}"
            raise field_error("tokens", shapes, "must have one row per probability")
        if self.tokens.min() < 0 or self.tokens.max() >= self.vocabulary:
            worst = max(self.tokens.max(), -self.tokens.min())
            raise field_error("tokens", worst, f"must be less than {self.vocabulary}")
        if not self.repeats:
            self._check_distinct()

    def _check_distinct(self):
        check_length(self.length, self.vocabulary)
        ordered = np.sort(self.tokens, axis=1)
        bad = np.flatnonzero((ordered[:, 1:] == ordered[:, :-1]).any(1))
        if bad.size:
            row = tuple(self.tokens[bad[0]].tolist())
            raise field_error("tokens", row, "must be distinct, or set repeats")

    @property
    def length(self) -> int:
        """Tokens in a sequence, $n$."""
        return self.tokens.shape[1]

    def count(self) -> int:
        """The number of rows."""
        return len(self.tokens)

    def rows(self) -> Rows:
        """The rows as given."""
        return self.tokens, self.probability

    def sample(
        self, *, key: Key[Array, ""], size: int
    ) -> Int[Array, "sequence position"]:
        """Draw rows by their probabilities."""
        rows = jax.random.categorical(key, jnp.log(self.probability), shape=(size,))
        return jnp.asarray(self.tokens)[rows]


class PoissonSets(AbstractSequences):
    r"""Conditional Poisson sets: $\Pr[s] \propto \prod_{b \in s} w_b$ over $|s| = n$."""

    weights: Float[np.ndarray, " token"]
    length: int = eqx.field(static=True)
    repeats: bool = eqx.field(static=True, default=False)

    def __check_init__(self):
        check_length(self.length, self.vocabulary)
        if not (self.weights > 0).all():
            raise field_error("weights", self.weights.min(), "must be greater than 0")

    @property
    def vocabulary(self) -> int:
        """Tokens, $L$."""
        return len(self.weights)

    def count(self) -> int:
        """$C(L, n)$."""
        return set_count(self.vocabulary, self.length)

    def rows(self) -> Rows:
        """All sets in lexicographic order."""
        tokens = all_sets(self.vocabulary, self.length)
        log_mass = np.log(self.weights)[tokens].sum(1)
        mass = np.exp(log_mass - log_mass.max())
        return tokens, mass / mass.sum()

    def sample(
        self, *, key: Key[Array, ""], size: int
    ) -> Int[Array, "sequence position"]:
        """Visit the tokens from the last to the first, and take each or not."""
        return jax.vmap(self._draw)(jax.random.split(key, size))

    def _draw(self, key: Key[Array, ""]) -> Int[Array, " position"]:
        log_sums = self._log_symmetric_sums()
        log_weights = jnp.log(self.weights)
        chances = jax.random.uniform(key, (self.vocabulary,))

        def visit(left, token):
            log_odds = log_weights[token] + log_sums[token, left - 1]
            probability = jnp.exp(log_odds - log_sums[token + 1, left])
            take = (left > 0) & (chances[token] < probability)
            return left - take, take

        order = jnp.arange(self.vocabulary)[::-1]
        _, taken = jax.lax.scan(visit, jnp.asarray(self.length), order)
        return jax.lax.top_k(taken[::-1].astype(float), self.length)[1]

    def _log_symmetric_sums(self) -> Float[Array, "token size"]:
        r"""$\log e_r(w_1, …, w_i)$, the total weight of the sets of $r$ of $i$ tokens."""
        start = jnp.full(self.length + 1, -jnp.inf).at[0].set(0)

        def add(sums, log_weight):
            larger = jnp.logaddexp(sums[1:], log_weight + sums[:-1])
            sums = jnp.append(sums[:1], larger)
            return sums, sums

        _, rows = jax.lax.scan(add, start, jnp.log(self.weights))
        return jnp.concatenate([start[None], rows])


class IndependentTokens(AbstractSequences):
    """Tokens drawn independently, with repetition."""

    probability: Float[np.ndarray, " token"]
    length: int = eqx.field(static=True)
    repeats: bool = eqx.field(static=True, default=True)

    def __check_init__(self):
        check_probabilities(self.probability)

    @property
    def vocabulary(self) -> int:
        """Tokens, $L$."""
        return len(self.probability)

    @property
    def uniform(self) -> bool:
        """Whether all tokens are equally likely."""
        return bool(np.ptp(self.probability) <= 1e-15)

    def count(self) -> int:
        """$C(L+n-1, n)$ multisets."""
        return set_count(self.vocabulary + self.length - 1, self.length)

    def rows(self) -> Rows:
        """All multisets with their multinomial probabilities."""
        pick = itertools.combinations_with_replacement
        tokens = _table(pick(range(self.vocabulary), self.length), self.length)
        return tokens, self.probability[tokens].prod(1) * _orders(tokens)

    def sample(
        self, *, key: Key[Array, ""], size: int
    ) -> Int[Array, "sequence position"]:
        """Draw every position by the token probabilities."""
        shape = (size, self.length)
        return jax.random.categorical(key, jnp.log(self.probability), shape=shape)


def set_count(tokens: int, length: int) -> int:
    """$C(L, n)$, or :data:`COUNT_LIMIT` if that is less: a count may have any length.

    >>> set_count(10, 4), set_count(10**9, 10**8) == COUNT_LIMIT
    (210, True)
    """
    few = min(length, tokens - length)
    if few <= 0:
        return int(few == 0)
    # C(L, n) is at least (L/n)^n, which is quickly known.
    if few * math.log(tokens / few) > math.log(COUNT_LIMIT):
        return COUNT_LIMIT
    return min(math.comb(tokens, few), COUNT_LIMIT)


def count_text(number: int) -> str:
    """A number of sets in words.

    >>> count_text(21_000_000), count_text(COUNT_LIMIT)
    ('2.1e+07', 'over 1e+18')
    """
    return f"over {COUNT_LIMIT:.0e}" if number >= COUNT_LIMIT else f"{number:.2g}"


def all_sets(vocabulary: int, length: int) -> Int[np.ndarray, "sequence position"]:
    """All sets of ``length`` tokens, in lexicographic order."""
    return _table(itertools.combinations(range(vocabulary), length), length)


def _table(rows, length: int) -> Int[np.ndarray, "sequence position"]:
    flat = np.fromiter(itertools.chain.from_iterable(rows), np.int32)
    return flat.reshape(-1, length)


def _orders(tokens: Int[np.ndarray, "sequence position"]) -> np.ndarray:
    """How many sequences have each sorted row as their multiset."""
    # The product over positions of "how many equal tokens up to here" is Π N_b!.
    equal = tokens[:, :, None] == tokens[:, None, :]
    repeats = np.tril(equal).sum(-1).prod(-1)
    return math.factorial(tokens.shape[1]) / repeats


def check_length(length: int, vocabulary: int) -> None:
    """Refuse a set that is larger than the vocabulary."""
    if not 1 <= length <= vocabulary:
        expected = f"must be between 1 and vocabulary = {vocabulary}"
        raise field_error("length", length, f"{expected} without repetition")


def check_probabilities(probability: Float[np.ndarray, " any"]) -> None:
    """Refuse probabilities that are negative or do not sum to one."""
    if not (probability >= 0).all():
        raise field_error("probability", probability.min(), "must be at least 0")
    if not abs(probability.sum() - 1) < 1e-9:
        total = f"sum {probability.sum():.10g}"
        raise field_error("probability", total, "must sum to 1")

r"""The probabilities on which the theorems depend, exactly.

The abstract calls $\gamma$ and $\delta$ "minimum probability masses"; here $\gamma$ is the
probability that a random position holds the rarest token, and $\delta$ the least positive

    Pr[ a_k determines the label of a, and b occurs | a random position holds a ]

over lists, places $k$ and tokens $b$ after $a_k$ or outside the list: with it the proof
gives the stated $c = 4n\log(L)/\delta$ exactly. Theorem 2 uses the joint probability
$\Pr[a \in s, a_k$ determines its label, $b \in s]$.
"""

import itertools
import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from piste.errors import field_error

from ..tasks import Instance
from ..tasks.sequences import IndependentTokens, UniformSets, count_text

MAX_SUMMED_TRIPLES = 50_000_000
"""(sequence, query, token) triples that are summed one by one, at most."""
MAX_LOOPED_TRIPLES = 10_000_000
"""(query, place, token) triples that are gone through, a microsecond each, at most."""


@dataclass(frozen=True)
class Masses:
    """The probabilities on which the theorems depend."""

    frequency: Float[np.ndarray, " token"]
    r"""$\gamma_a$: probability that a random position holds $a$."""
    conditional: float
    r"""$\delta$ of Theorem 1."""
    joint: float
    r"""$\delta$ of Theorem 2."""

    @property
    def rarest(self) -> float:
        r"""$\gamma = \min_a \gamma_a$ over the tokens that occur."""
        return float(self.frequency[self.frequency > 0].min())


def masses(instance: Instance) -> Masses:
    r"""Compute $\gamma_a$ and both $\delta$ of an instance."""
    if isinstance(instance.sequences, UniformSets):
        return _uniform_masses(instance)
    if isinstance(instance.sequences, IndependentTokens):
        return _independent_masses(instance, instance.sequences.probability)
    return _listed_masses(instance)


def _uniform_masses(instance: Instance) -> Masses:
    size, n = instance.vocabulary, instance.length
    conditional = _least_positive(
        occurrence(size, n, present, k)
        for m in np.unique(instance.list_lengths)
        for k in range(int(m))
        for present in ((1, 2) if k < m - 1 else (1,))
    )
    return Masses(np.full(size, 1 / size), conditional, conditional * n / size)


def occurrence(vocabulary: int, length: int, present: int, absent: int) -> float:
    """Probability that given tokens join a query, and others do not (uniform sets)."""
    ways = math.prod(max(length - 1 - i, 0) for i in range(present))
    ways *= math.prod(max(vocabulary - length - i, 0) for i in range(absent))
    return ways / math.prod(vocabulary - 1 - i for i in range(present + absent))


def _independent_masses(instance: Instance, q: Float[np.ndarray, " token"]) -> Masses:
    _check_loop(instance)
    n, conditional, joint = instance.length, [], []
    for a, m in enumerate(instance.list_lengths):
        for k, decider in enumerate(instance.lists[a, :m]):
            before = instance.lists[a, :k]
            later = np.setdiff1d(np.arange(q.size), instance.lists[a, : k + 1])
            for b in later:
                needed = {int(decider), int(b)} - {a}
                conditional.append(_joint_occurrence(q, needed, before, n - 1))
                joint.append(_joint_occurrence(q, needed | {a}, before, n))
    return Masses(q, _least_positive(conditional), _least_positive(joint))


def _check_loop(instance: Instance) -> None:
    terms = int(instance.list_lengths.sum()) * instance.vocabulary
    if terms > MAX_LOOPED_TRIPLES:
        cost = f"{terms:.2g} terms to sum, at most {MAX_LOOPED_TRIPLES:.2g}"
        raise field_error(
            "vocabulary", instance.vocabulary, f"{cost}; give value-scale"
        )


def _joint_occurrence(q, needed: set[int], absent, places: int) -> float:
    """Probability that all needed tokens occur in some places, and no absent one."""
    outside, total = q[absent].sum(), 0.0
    for size in range(len(needed) + 1):
        for missing in itertools.combinations(needed, size):
            left = 1 - outside - q[list(missing)].sum()
            total += (-1) ** size * left**places
    # What inclusion and exclusion leave below this is rounding of an exact 0.
    return total if total > 1e-13 else 0.0


def _least_positive(probabilities: Iterable[float]) -> float:
    return min((float(mass) for mass in probabilities if mass > 0), default=1.0)


def _listed_masses(instance: Instance) -> Masses:
    """Sum over the sequences, each with its queries $a$ and co-occurring tokens $b$."""
    size, n = instance.vocabulary, instance.length
    _check_terms(instance)
    tokens, p = instance.sequences.rows()
    tokens = tokens[p > 0].astype(np.int64)
    p = p[p > 0, None, None]
    decider = np.asarray(instance.deciders(tokens))
    first = (tokens[:, :, None] == tokens[:, None, :]).argmax(-1) == np.arange(n)
    others = first[:, None, :] & (decider[:, :, None] != tokens[:, None, :])
    triple = (tokens * size + decider)[:, :, None] * size + tokens[:, None, :]
    events, index = np.unique(triple[others], return_inverse=True)
    frequency = np.bincount(tokens.ravel(), (p[:, 0] / n).repeat(n), size)
    joint = np.bincount(index, (p * first[:, :, None] * others)[others])
    mass = np.bincount(index, (p / n * others)[others])
    conditional = mass / frequency[events // size**2]
    return Masses(frequency, _least_positive(conditional), _least_positive(joint))


def _check_terms(instance: Instance) -> None:
    terms = instance.length**2 * instance.sequences.count()
    if terms > MAX_SUMMED_TRIPLES:
        cost = f"{count_text(terms)} terms to sum, at most {MAX_SUMMED_TRIPLES:.2g}"
        instead = "use uniform or iid, or give value-scale"
        kind = type(instance.sequences).__name__
        raise field_error("sequences", kind, f"{cost}; {instead}")

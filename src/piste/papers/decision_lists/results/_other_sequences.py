"""Sequences of probability 0: what training classifies perfectly is not all there is.

Where the distribution has few sets, perfect means perfect on those. Trained matrices are
asked about all others: exactly, by the worst case over all sets (``theory``), and as the
share that is right, over all other sets or, where they are too many, over random ones.
"""

import math
from typing import Any

import numpy as np
from jaxtyping import Int

from ..tasks import Instance
from ..tasks.sequences import all_sets
from ..theory import label_leads
from ..thresholds import MAX_TIE

MAX_LISTED_SETS = 20_000
"""Up to so many sets are listed; of more, some are drawn."""


def other_sets(
    instance: Instance, count: int, rng: np.random.Generator
) -> Int[np.ndarray, "sequence position"]:
    """Sets of distinct tokens that have probability 0: all of them, or ``count``."""
    tokens, probability = instance.sequences.rows()
    possible = {tuple(sorted(row)) for row in tokens[probability > 0].tolist()}
    size, n = instance.vocabulary, instance.length
    if math.comb(size, n) <= MAX_LISTED_SETS:
        rows = [row for row in all_sets(size, n).tolist() if tuple(row) not in possible]
        return np.array(rows, np.int32).reshape(-1, n)
    others: set[tuple[int, ...]] = set()
    while len(others) < count:
        row = tuple(sorted(rng.choice(size, n, replace=False).tolist()))
        others |= {row} - possible
    return np.array(sorted(others), np.int32)


def sequences_with_repetition(
    instance: Instance, count: int, rng: np.random.Generator
) -> Int[np.ndarray, "sequence position"]:
    """Random sequences in which some token occurs twice."""
    rows, shape = [], (count, instance.length)
    while len(rows) < count:
        drawn = np.sort(rng.integers(0, instance.vocabulary, shape))
        rows += drawn[(np.diff(drawn) == 0).any(1)].tolist()
    return np.array(rows[:count], np.int32)


def shares_right(
    instance: Instance,
    attention: Any,
    value: Any,
    tokens: Int[np.ndarray, "sequence position"],
) -> tuple[float, float]:
    """The share of tokens, and of whole sequences, whose labels are right."""
    leads = label_leads(np.asarray(attention), np.asarray(value), instance, tokens)
    if not leads.size or not np.isfinite(leads).all():
        return np.nan, np.nan
    right = leads > MAX_TIE
    return float(right.mean()), float(right.all(1).mean())

"""Sequences of probability 0: what training classifies perfectly is not all there is.

Where the distribution has few sets, perfect means perfect on those. Here the trained
matrices are asked about all others: exactly, by the worst case over all sets, and as the
share that is right, over all other sets or, where they are too many, over random ones.
"""

import math
from typing import Any

import numpy as np
import xarray as xr

from piste.values import option, value

from .calculations import Followed, follow, listed_loss
from .forms import Problem, scores_at
from .instances import RandomInstances, table
from .models import at_permutation
from .tasks.decision_lists import Instance
from .tasks.sequences import all_sets
from .theory.all_sequences import TIE, label_leads, ordering_margin, tied_for_ever

ALL_OF_THEM = 20_000
"""So many sets are listed; of more, some are drawn."""


def other_sets(instance: Instance, count: int, rng: np.random.Generator) -> np.ndarray:
    """Sets of distinct tokens that have probability 0: all of them, or ``count``."""
    tokens, probability = instance.sequences.rows()
    seen = {tuple(sorted(row)) for row in tokens[probability > 0].tolist()}
    size, n = instance.vocabulary, instance.length
    if math.comb(size, n) <= ALL_OF_THEM:
        rows = [row for row in all_sets(size, n).tolist() if tuple(row) not in seen]
        return np.array(rows, np.int32).reshape(-1, n)
    found: set[tuple[int, ...]] = set()
    while len(found) < count:
        row = tuple(sorted(rng.choice(size, n, replace=False).tolist()))
        found |= {row} - seen
    return np.array(sorted(found), np.int32)


def repeated(instance: Instance, count: int, rng: np.random.Generator) -> np.ndarray:
    """Random sequences in which some token occurs twice."""
    rows, shape = [], (count, instance.length)
    while len(rows) < count:
        drawn = np.sort(rng.integers(0, instance.vocabulary, shape))
        rows += drawn[(np.diff(drawn) == 0).any(1)].tolist()
    return np.array(rows[:count], np.int32)


def shares_right(
    instance: Instance, attention: Any, value: Any, tokens: np.ndarray
) -> tuple[float, float]:
    """The share of tokens, and of whole sequences, whose labels are right."""
    leads = label_leads(np.asarray(attention), np.asarray(value), instance, tokens)
    if not leads.size or not np.isfinite(leads).all():
        return np.nan, np.nan
    right = leads > TIE
    return float(right.mean()), float(right.all(1).mean())


LOOKS = ("all_sets", "tokens", "sets", "repeated")


@value
class UnseenSequences:
    """Theorem 1 on few sets: the flow at multiples of t*, on all other sequences."""

    draws: RandomInstances = RandomInstances("few", count=60, largest=14, longest=4)
    batch: int = option(default=30, minimum=1)
    """Instances in a part."""
    follow: float = option(default=100.0, greater_than=1)
    """The last of three multiples of t*; the first is 1."""
    samples: int = option(default=1000, minimum=1)
    """Random sequences, where not all are listed."""

    def parts(self) -> int:
        """One for every batch."""
        return self.draws.batches(self.batch)

    def part(self, index: int) -> xr.Dataset:
        """Follow the flows, and look at them three times."""
        flows = follow(self.draws.batch(index, self.batch), listed_loss)
        times = np.outer([one.found.time for one in flows], self.multiples())
        scores = scores_at([one.problem for one in flows], times)
        found = [
            self._look_at(one, path) for one, path in zip(flows, scores, strict=True)
        ]
        looks = np.array([looks for _, looks in found])
        data = table([row for row, _ in found]).assign_coords(multiple=self.multiples())
        return data.assign(
            {
                name: (("cell", "multiple"), looks[..., place])
                for place, name in enumerate(LOOKS)
            }
        )

    def multiples(self) -> np.ndarray:
        """The multiples of t* at which the flow is looked at."""
        # A little after t*: at t* itself some label is only just right.
        return np.geomspace(1.01, self.follow, 3)

    def _look_at(self, one: Followed, path: np.ndarray) -> tuple[dict, list]:
        """How many other sets there are, and what is right at every moment."""
        instance = one.instance
        rng = np.random.default_rng([self.draws.seed, instance.vocabulary])
        others = other_sets(instance, self.samples, rng)
        double = repeated(instance, self.samples, rng)
        row = one.row() | {
            "sets_seen": instance.sequences.count(),
            "others": len(others),
            "tied": tied_for_ever(instance),
        }
        return row, [_look(instance, one.problem, w, others, double) for w in path]


def _look(instance: Instance, problem: Problem, scores, others, double) -> tuple:
    """The margin over all sets, and the shares right of others and of repeated ones."""
    if not np.isfinite(scores).all():
        return (np.nan,) * len(LOOKS)
    value = at_permutation(instance.permutation, problem.scale).value
    tokens, sets = shares_right(instance, scores, value, others)
    margin = ordering_margin(scores, instance) / float(problem.units.params)
    return margin, tokens, sets, shares_right(instance, scores, value, double)[1]

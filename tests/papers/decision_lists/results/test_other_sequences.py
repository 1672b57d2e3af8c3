"""Sequences of probability 0: all of them, or as many as are asked for."""

import math

import jax
import numpy as np

from piste.papers.decision_lists.results._other_sequences import (
    other_sets,
    sequences_with_repetition,
)
from piste.papers.decision_lists.tasks import DecisionLists


def test_other_sets_are_all_that_have_no_probability():
    task = DecisionLists(6, 3, 2, distribution="support", support_sets=9)
    instance = task.instance(key=jax.random.key(0))
    seen = {tuple(row) for row in instance.sequences.rows()[0].tolist()}
    rng = np.random.default_rng(0)
    others = {tuple(row) for row in other_sets(instance, 5, rng).tolist()}
    assert len(others) == math.comb(6, 3) - 9 and not others & seen
    for row in sequences_with_repetition(instance, 50, rng):
        assert len(set(row.tolist())) < 3


def test_more_sets_than_can_be_listed_are_drawn():
    task = DecisionLists(40, 19, 1, distribution="support", support_sets=20)
    instance = task.instance(key=jax.random.key(0))
    others = other_sets(instance, 7, np.random.default_rng(0))
    assert others.shape == (7, 19) and len({tuple(r) for r in others.tolist()}) == 7

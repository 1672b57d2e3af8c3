"""Probabilities on which the theorems depend, against sums over all sequences."""

import itertools

import numpy as np
import pytest

from piste.papers.decision_lists.tasks import DISTRIBUTIONS, Instance
from piste.papers.decision_lists.tasks.sequences import IndependentTokens, WeightedSets
from piste.papers.decision_lists.theory import masses
from support.decision_lists import draw_instance


def plain_masses(instance):
    """All probabilities by adding up the sequences one at a time."""
    frequency = np.zeros(instance.vocabulary)
    conditional, joint = {}, {}
    for row, p in zip(*instance.sequences.rows(), strict=True):
        deciders = dict(zip(row, np.asarray(instance.deciders(row)), strict=True))
        for a in row:
            frequency[a] += p / len(row)
        for a, b in itertools.product(set(row), set(row)):
            if b != deciders[a] and p > 0:
                event, share = (a, deciders[a], b), np.mean(row == a)
                conditional[event] = conditional.get(event, 0) + p * share
                joint[event] = joint.get(event, 0) + p
    least = min(mass / frequency[event[0]] for event, mass in conditional.items())
    return frequency, least, min(joint.values())


@pytest.mark.parametrize("distribution", DISTRIBUTIONS)
@pytest.mark.parametrize("shape", [(6, 3, 3), (7, 2, 2), (6, 5, 3)])
def test_masses_are_sums_over_sequences(distribution, shape):
    instance = draw_instance(*shape, distribution, support_sets=6)
    found = masses(instance)
    frequency, conditional, joint = plain_masses(instance)
    np.testing.assert_allclose(found.frequency, frequency, rtol=1e-12)
    np.testing.assert_allclose(found.conditional, conditional, rtol=1e-9)
    np.testing.assert_allclose(found.joint, joint, rtol=1e-9)


def test_masses_of_unequal_tokens_and_of_listed_repetitions():
    lists = [(1, 0), (1,), (2,), (0, 2, 3)]
    drawn = IndependentTokens(np.array([0.4, 0.3, 0.2, 0.1]), 3)
    listed = WeightedSets(*drawn.rows(), 4, repeats=True)
    one, other = (masses(Instance.of(lists, given)) for given in (drawn, listed))
    np.testing.assert_allclose(one.frequency, other.frequency, rtol=1e-12)
    np.testing.assert_allclose(one.conditional, other.conditional, rtol=1e-9)
    np.testing.assert_allclose(one.joint, other.joint, rtol=1e-9)

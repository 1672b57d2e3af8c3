"""Exact statements about all sequences, against lists of all of them."""

import itertools

import equinox as eqx
import jax.numpy as jnp
import numpy as np
import pytest

from piste.papers.decision_lists.forms import population_loss
from piste.papers.decision_lists.tasks import Instance
from piste.papers.decision_lists.tasks.sequences import (
    IndependentTokens,
    UniformSets,
    WeightedSets,
)
from piste.papers.decision_lists.theory import (
    best_without_attention,
    label_leads,
    ordering_margin,
    repetition_travel,
    tied_for_ever,
    worst_case,
)
from support.decision_lists import draw_instance


def draw(vocabulary, length, list_bound, distribution="uniform"):
    sizes = vocabulary, length, list_bound
    return draw_instance(*sizes, distribution, list_lengths="fixed")


@eqx.filter_jit
def brute_force(population, attention, value):
    """The margins as the scores of all sequences have them, and as the labels do."""
    return population.margin(attention), population.label_margins(attention, value)


ORDERED = [(6, 3, 3), (6, 2, 3), (5, 4, 3), (5, 5, 2), (6, 1, 2)]


@pytest.mark.parametrize("distribution", ["uniform", "iid"])
@pytest.mark.parametrize("shape", ORDERED)
def test_the_ordering_rule_is_perfect_classification(distribution, shape):
    instance = draw(*shape, distribution)
    population = population_loss(instance, "enumeration")
    size = instance.vocabulary
    rng = np.random.default_rng(0)
    permutation = jnp.eye(size)[:, instance.permutation]
    agreed = []
    for spread in np.repeat([0.0, 0.3, 1.0, 3.0], 6):
        matrix = listed_order(instance) * spread + rng.standard_normal((size, size)) / 4
        margin = ordering_margin(matrix, instance)
        found, leads = brute_force(population, jnp.asarray(matrix), 5 * permutation)
        np.testing.assert_allclose(margin, found)
        assert (margin > 0) == bool((leads > 0).all())
        agreed.append(margin > 0)
    assert any(agreed) and (shape[1] == 1 or not all(agreed))


def listed_order(instance):
    """Scores that fall along every list, and are lowest outside."""
    scores = np.zeros((instance.vocabulary, instance.vocabulary))
    for a, m in enumerate(instance.list_lengths):
        scores[instance.lists[a, :m], a] = np.arange(m, 0, -1)
    return scores


def every_row(instance, repeats):
    size, n = instance.vocabulary, instance.length
    kind = (
        IndependentTokens(np.full(size, 1 / size), n)
        if repeats
        else UniformSets(size, n)
    )
    return kind.rows()[0]


@pytest.mark.parametrize("repeats", [False, True])
@pytest.mark.parametrize("shape", [(6, 3, 3), (5, 4, 2), (6, 2, 2), (5, 5, 2)])
def test_the_worst_case_is_that_of_a_list_of_all_sequences(shape, repeats):
    instance, rng = draw(*shape), np.random.default_rng(1)
    rows, size = every_row(instance, repeats), shape[0]
    permutation, signs = np.eye(size)[:, instance.permutation], []
    for spread in np.repeat([0.0, 1.0, 4.0], 8):
        attention = listed_order(instance) * spread
        attention += 0.2 * rng.standard_normal((size, size))
        value = 9 * permutation + rng.standard_normal((size, size))
        found = worst_case(attention, value, instance, repeats)
        leads = label_leads(attention, value, instance, rows)
        assert (found > 0) == bool((leads > 0).all())
        signs.append(found > 0)
    assert not all(signs) and any(signs)


def test_leads_are_those_of_the_engine():
    instance, rng = draw(6, 3, 3, "iid"), np.random.default_rng(2)
    attention, value = rng.standard_normal((2, 6, 6))
    population = population_loss(instance, "enumeration")
    expected = population.label_margins(jnp.asarray(attention), jnp.asarray(value))
    found = label_leads(attention, value, instance, population.tokens)
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-13)


def test_a_worst_case_that_is_not_a_number_is_no_proof():
    instance = draw(6, 3, 2)
    value = np.eye(6)[:, instance.permutation]
    assert worst_case(10 * listed_order(instance), value, instance) > 0
    assert worst_case(10 * listed_order(instance), np.nan * value, instance) < 0


def test_the_travel_that_repetition_needs_is_exact_for_lists_of_one():
    instance = draw(7, 4, 1)
    permutation, size = np.eye(7)[:, instance.permutation], 7
    travel = repetition_travel(instance, scale=5.0)
    lead = np.log(3) * (np.eye(size) - 1 / size)
    for factor, right in ((1.001, True), (0.999, False)):
        assert (worst_case(factor * lead, 5 * permutation, instance, True) > 0) == right
        norm = np.linalg.norm(factor * lead)
        assert norm == pytest.approx(factor * travel, rel=1e-12)
    # With errors in V a little less may do, and no less than that is claimed.
    assert 0 < repetition_travel(instance, 5.0, error=0.1) < travel
    assert repetition_travel(instance, 5.0, error=3.0) == 0


def test_tokens_that_never_meet_tie_for_ever():
    lists = [(1, 0), (1,), (2,), (3,), (4,), (5,)]
    sets = np.array([[0, 3, 4], [1, 2, 5]])
    apart = Instance.of(lists, WeightedSets(sets, np.array([0.5, 0.5]), 6))
    assert tied_for_ever(apart)
    assert not tied_for_ever(Instance.of(lists, UniformSets(6, 3)))
    # The flow cannot move the scores of 1 and of 2 for the query 0.
    population = population_loss(apart, "support")
    rng = np.random.default_rng(0)
    met = np.array(
        [[bool({a, b} <= set(row)) for row in sets.tolist()] for a, b in PAIRS]
    )
    scores = jnp.asarray(rng.standard_normal((6, 6)))
    slope = eqx.filter_jit(population.attention_gradient)(scores, 7.0)
    np.testing.assert_array_equal(np.asarray(slope).ravel() != 0, met.any(1))


PAIRS = list(itertools.product(range(6), repeat=2))


def test_uniform_attention_has_a_ceiling_that_no_value_passes():
    instance, rng = draw(6, 3, 2), np.random.default_rng(0)
    ceiling = best_without_attention(instance)
    rows = every_row(instance, repeats=False)
    right = [
        (label_leads(np.zeros((6, 6)), value, instance, rows) > 0).mean()
        for value in rng.standard_normal((200, 6, 6))
    ]
    assert max(right) <= ceiling < 1
    # One label for all: lists that all begin with the same token.
    lists = [(0,), (0, 1), (0, 2)]
    sets = WeightedSets(np.array([[0, 1], [0, 2]]), np.array([0.5, 0.5]), 3)
    assert best_without_attention(Instance.of(lists, sets)) == 1

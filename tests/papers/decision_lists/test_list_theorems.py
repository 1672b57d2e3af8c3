"""Constants of the theorems against sums over all sequences, and the ordering rule."""

import itertools
import math

import jax
import numpy as np
import pytest

from piste.errors import InputError
from piste.papers.decision_lists.forms import population_loss
from piste.papers.decision_lists.tasks.decision_lists import (
    DISTRIBUTIONS,
    DecisionLists,
    Instance,
)
from piste.papers.decision_lists.tasks.sequences import Independent, WeightedSets
from piste.papers.decision_lists.theory.bounds import (
    attention_theorem,
    masses,
    smallest_length,
    value_theorem,
)


def draw(vocabulary, length, list_bound, distribution="uniform", seed=0, **fields):
    task = DecisionLists(
        vocabulary=vocabulary,
        length=length,
        list_bound=list_bound,
        distribution=distribution,
        **fields,
    )
    return task.instance(key=jax.random.key(seed))


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
    instance = draw(*shape, distribution, support_sets=6)
    found = masses(instance)
    frequency, conditional, joint = plain_masses(instance)
    np.testing.assert_allclose(found.frequency, frequency, rtol=1e-12)
    np.testing.assert_allclose(found.conditional, conditional, rtol=1e-9)
    np.testing.assert_allclose(found.joint, joint, rtol=1e-9)


def test_masses_of_unequal_tokens_and_of_listed_repetitions():
    lists = [(1, 0), (1,), (2,), (0, 2, 3)]
    drawn = Independent(np.array([0.4, 0.3, 0.2, 0.1]), 3)
    listed = WeightedSets(*drawn.rows(), 4, repeats=True)
    one, other = (masses(Instance.of(lists, given)) for given in (drawn, listed))
    np.testing.assert_allclose(one.frequency, other.frequency, rtol=1e-12)
    np.testing.assert_allclose(one.conditional, other.conditional, rtol=1e-9)
    np.testing.assert_allclose(one.joint, other.joint, rtol=1e-9)


def test_the_constants_of_theorem_1():
    instance = draw(30, 6, 4, list_lengths="fixed")
    theorem = attention_theorem(instance)
    # The rarest event: two absent, then a_3 and another token join the query.
    delta = math.comb(25, 3) / math.comb(29, 5)
    np.testing.assert_allclose(theorem.delta, delta, rtol=1e-12)
    np.testing.assert_allclose(theorem.scale, 24 * math.log(30) / delta, rtol=1e-12)
    np.testing.assert_allclose(theorem.bound, 16 * 30 / math.log(30), rtol=1e-12)
    assert theorem.proved_bound > theorem.bound


def test_theorem_2_is_possible_from_a_length_on():
    assert [smallest_length(m) for m in (1, 2, 3, 4)] == [19, 29, 38, 45]
    for m in (1, 2, 3):
        n = smallest_length(m)
        assert value_theorem(draw(64, n, m, list_lengths="fixed")).possible
        assert not value_theorem(draw(64, n - 1, m, list_lengths="fixed")).possible


def test_the_fixed_point_of_theorem_2():
    theorem = value_theorem(draw(64, 32, 2, list_lengths="fixed"))
    c, n = theorem.scale, 32
    loss = math.log(n + (64 - n) * math.exp(-c / n))
    np.testing.assert_allclose(theorem.initial_loss, loss, rtol=1e-12)
    expected = 10 * n**2 * loss / theorem.delta + 4 * theorem.epsilon * n
    np.testing.assert_allclose(c, expected, rtol=1e-12)
    least, most = theorem.steps(0.1)
    assert 0 < least < most
    assert not theorem.step_condition(0.1, 20.0).met
    assert theorem.step_condition(0.05, 20.0).met


def test_an_epsilon_of_the_users_and_a_start_too_far_away():
    instance = draw(64, 32, 2, list_lengths="fixed")
    theorem = value_theorem(instance, epsilon=1.0, start_error=0.6)
    held = [condition.met for condition in theorem.conditions]
    assert held == [True, False, True, False]
    assert not theorem.possible


def test_repetition_has_no_fixed_point():
    instance = draw(8, 4, 2, "iid")
    population = population_loss(instance)
    zero = population.initial()

    def loss(c):
        return float(population.attention_loss(zero, c))

    theorem = value_theorem(instance, initial_loss=loss)
    assert math.isinf(theorem.scale)
    assert not theorem.conditions[0].met
    with pytest.raises(InputError, match="initial-loss = None: with repetition"):
        value_theorem(instance)


def test_a_loss_that_is_not_a_number_is_not_a_missing_solution():
    instance = draw(64, 32, 2, list_lengths="fixed")
    theorem = value_theorem(instance, initial_loss=lambda c: math.nan)
    assert math.isnan(theorem.scale)


def test_the_interval_of_theorem_2_is_as_wide_as_its_conditions_allow():
    theorem = value_theorem(draw(64, 45, 1, list_lengths="fixed"))
    upper = theorem.initial_loss - 6 * theorem.epsilon / 45
    assert theorem.progress == pytest.approx(0.999 * upper)
    assert theorem.steps(0.1)[0] < 1.01 * 2 * theorem.initial_loss / upper**2 / 0.1
    # Where there is little room it is still inside.
    tight = value_theorem(draw(64, 19, 1, list_lengths="fixed"))
    assert tight.possible and tight.progress**2 * tight.epsilon > 4 * tight.initial_loss

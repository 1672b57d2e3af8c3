"""The constants and conditions of Theorem 2."""

import math

import numpy as np
import pytest

from piste.errors import InputError
from piste.papers.decision_lists.forms import population_loss
from piste.papers.decision_lists.theory import smallest_length, value_theorem
from support.decision_lists import draw_instance


def test_theorem_2_is_possible_from_a_length_on():
    assert [smallest_length(m) for m in (1, 2, 3, 4)] == [19, 29, 38, 45]
    for m in (1, 2, 3):
        n = smallest_length(m)
        assert value_theorem(draw_instance(64, n, m, list_lengths="fixed")).possible
        assert not value_theorem(
            draw_instance(64, n - 1, m, list_lengths="fixed")
        ).possible


def test_the_fixed_point_of_theorem_2():
    theorem = value_theorem(draw_instance(64, 32, 2, list_lengths="fixed"))
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
    instance = draw_instance(64, 32, 2, list_lengths="fixed")
    theorem = value_theorem(instance, epsilon=1.0, start_error=0.6)
    held = [condition.met for condition in theorem.conditions]
    assert held == [True, False, True, False]
    assert not theorem.possible


def test_repetition_has_no_fixed_point():
    instance = draw_instance(8, 4, 2, "iid")
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
    instance = draw_instance(64, 32, 2, list_lengths="fixed")
    theorem = value_theorem(instance, initial_loss=lambda c: math.nan)
    assert math.isnan(theorem.scale)


def test_the_interval_of_theorem_2_is_as_wide_as_its_conditions_allow():
    theorem = value_theorem(draw_instance(64, 45, 1, list_lengths="fixed"))
    upper = theorem.initial_loss - 6 * theorem.epsilon / 45
    assert theorem.progress == pytest.approx(0.999 * upper)
    assert theorem.steps(0.1)[0] < 1.01 * 2 * theorem.initial_loss / upper**2 / 0.1
    # Where there is little room it is still inside.
    tight = value_theorem(draw_instance(64, 19, 1, list_lengths="fixed"))
    assert tight.possible and tight.progress**2 * tight.epsilon > 4 * tight.initial_loss

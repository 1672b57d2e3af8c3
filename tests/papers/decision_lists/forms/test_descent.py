"""Descent to the first perfect classification, and the curvature on its path."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.flatten_util import ravel_pytree

from piste.papers.decision_lists.forms import (
    AttentionLoss,
    FlowData,
    JointLoss,
    descend_to_perfection,
    first_perfect,
    population_loss,
)
from piste.papers.decision_lists.models import OneHotWeights
from piste.papers.decision_lists.theory import value_theorem
from support.decision_lists import draw_instance, flow_problem


def draw(vocabulary, length, list_bound, distribution="uniform", **fields):
    sizes = vocabulary, length, list_bound
    return draw_instance(*sizes, distribution, list_lengths="fixed", **fields)


def permuted(instance, scale):
    size = instance.vocabulary
    zeros = jnp.zeros((size, size))
    return zeros.at[instance.permutation, np.arange(size)].set(scale)


def test_curvature_equals_the_dense_hessian():
    instance = draw(5, 3, 2)
    population = population_loss(instance, train_value=True)
    weights = OneHotWeights(jnp.zeros((5, 5)), permuted(instance, 9.0))
    flat, unravel = ravel_pytree(weights)

    def loss(flat):
        given = unravel(flat)
        return population.loss(given.attention, given.value)

    expected = np.linalg.eigvalsh(jax.hessian(loss)(flat))[-1]
    found = JointLoss(population).curvature(weights)
    np.testing.assert_allclose(found, expected, rtol=1e-8)


def test_curvature_in_w_equals_the_dense_hessian():
    given = flow_problem(draw(5, 3, 2, "dirichlet"), "enumeration")
    scores = 0.05 * jax.random.normal(jax.random.key(0), (5, 5))

    def loss(flat):
        return given.population.attention_loss(flat.reshape(5, 5), given.scale)

    expected = np.linalg.eigvalsh(jax.hessian(loss)(scores.ravel()))[-1]
    # Padding for other problems in the same program changes nothing.
    data = FlowData.of(given, (64, 4, 8, 8))
    padded = jnp.zeros((8, 8)).at[:5, :5].set(scores)
    objective = AttentionLoss(data)
    found, margin = objective.curvature(padded), objective.margin(padded)
    np.testing.assert_allclose(found, expected, rtol=1e-10)
    np.testing.assert_allclose(margin, given.population.margin(scores), rtol=1e-12)


def test_descent_on_w_keeps_to_the_flow_at_small_steps():
    given = flow_problem(draw(8, 3, 3, "dirichlet-support", support_sets=20))
    objective = AttentionLoss(FlowData.of(given))
    (flow,) = first_perfect([given])
    start = given.population.initial()
    found = descend_to_perfection(objective, start, share=0.05, limit=2000)
    assert found.steps > 20
    assert found.learning_rate * found.max_curvature == pytest.approx(0.05, rel=0.03)
    np.testing.assert_allclose(found.steps * found.learning_rate, flow.time, rtol=0.05)


def test_theorem_2_where_its_conditions_hold():
    instance = draw(40, 29, 2, "support", support_sets=60)
    theorem = value_theorem(instance)
    assert theorem.possible
    population = population_loss(instance, train_value=True)
    start = OneHotWeights(jnp.zeros((40, 40)), permuted(instance, theorem.scale))
    initial = population.loss(start.attention, start.value)
    np.testing.assert_allclose(initial, theorem.initial_loss, rtol=1e-10)
    found = descend_to_perfection(JointLoss(population), start, limit=60)
    shortest, longest = theorem.steps(found.learning_rate)
    assert 1 <= found.steps < shortest < longest
    assert theorem.step_condition(found.learning_rate, found.max_curvature).met


def test_a_descent_that_diverges_is_an_outcome():
    instance = draw(5, 3, 2)
    population = population_loss(instance, train_value=True)
    start = OneHotWeights(jnp.zeros((5, 5)), permuted(instance, jnp.inf))
    found = descend_to_perfection(JointLoss(population), start, limit=3)
    assert found.steps is None
    assert not np.isfinite(found.curvatures[-1])
    assert np.isnan(found.max_curvature)

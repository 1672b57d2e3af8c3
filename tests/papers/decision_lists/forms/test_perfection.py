"""The first perfect classification: by flow (Theorem 1) and by descent (Theorem 2)."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.flatten_util import ravel_pytree

from piste.papers.decision_lists.forms import (
    AttentionLoss,
    FlowData,
    JointLoss,
    Problem,
    descend_to_perfection,
    first_perfect,
    look,
    margins_at,
    population_loss,
    scores_at,
)
from piste.papers.decision_lists.models import OneHotWeights
from piste.papers.decision_lists.tasks.decision_lists import DecisionLists
from piste.papers.decision_lists.theory.all_sequences import ordering_margin
from piste.papers.decision_lists.theory.bounds import attention_theorem, value_theorem
from piste.training.flow import FlowSettings


def draw(vocabulary, length, list_bound, distribution="uniform", seed=0, **fields):
    task = DecisionLists(
        vocabulary=vocabulary,
        length=length,
        list_bound=list_bound,
        distribution=distribution,
        list_lengths="fixed",
        **fields,
    )
    return task.instance(key=jax.random.key(seed))


def problem(instance, engine="auto", factor=1.0, longer=1.0):
    theorem = attention_theorem(instance)
    population = population_loss(instance, engine)
    return Problem(population, factor * theorem.scale, longer * theorem.bound)


def permuted(instance, scale):
    size = instance.vocabulary
    zeros = jnp.zeros((size, size))
    return zeros.at[instance.permutation, np.arange(size)].set(scale)


def test_a_batch_of_instances_is_perfect_within_the_bound():
    shapes = [(8, 3, 2), (12, 4, 3), (30, 6, 4), (9, 3, 1)]
    uniform = [draw(*shape, seed=i) for i, shape in enumerate(shapes)]
    full = [problem(uniform[0], "enumeration"), problem(uniform[1], "enumeration")]
    weighted = [problem(draw(9, 3, 2, "dirichlet")), problem(draw(8, 3, 3, "poisson"))]
    problems = [problem(instance) for instance in uniform] + full + weighted
    found = first_perfect(problems)
    for given, result in zip(problems, found, strict=True):
        assert result.outcome == "event"
        assert result.margin > 0
        assert result.time < given.horizon / 1000
        assert result.scores.shape == given.population.initial().shape
    # The reduced form and the enumeration of all sets take the same path.
    for short, long in ((0, 4), (1, 5)):
        np.testing.assert_allclose(found[short].time, found[long].time, rtol=1e-4)


def test_the_time_falls_with_the_square_of_the_scale():
    instance = draw(12, 4, 3)
    factors = np.array([0.1, 0.3, 1.0, 3.0])
    found = first_perfect([problem(instance, factor=factor) for factor in factors])
    times = [result.time for result in found]
    assert abs(np.polyfit(np.log(factors), np.log(times), 1)[0] + 2) < 0.02


@pytest.mark.slow
def test_with_repetition_the_bound_can_fail():
    given = problem(draw(16, 5, 3, "iid"), longer=100.0)
    assert given.solver == "kvaerno5"
    (found,) = first_perfect([given])
    assert found.outcome == "event"
    assert found.time > 2 * given.horizon / 100


def test_a_flow_without_event_is_an_outcome():
    given = problem(draw(8, 3, 2), longer=1e-9)
    (found,) = first_perfect([given])
    assert (found.outcome, found.time) == ("reached the end", np.inf)
    (found,) = first_perfect([problem(draw(8, 3, 2))], FlowSettings(max_steps=2))
    assert (found.outcome, found.time) == ("step limit", np.inf)


def test_a_flow_says_where_it_started_and_ended():
    (found,) = first_perfect([problem(draw(8, 3, 2), longer=1e-9)])
    assert found.start_size == 0
    np.testing.assert_allclose(found.ended, problem(draw(8, 3, 2)).horizon * 1e-9)
    (found,) = first_perfect([problem(draw(8, 3, 2))], FlowSettings(max_steps=2))
    assert 0 < found.ended < problem(draw(8, 3, 2)).horizon


def test_margins_in_chunks_are_those_of_one_flow(monkeypatch):
    instance = draw(6, 3, 2)
    given = [problem(instance, "enumeration")] * 2
    time = first_perfect(given[:1])[0].time
    # A problem that was never perfect has no times, and so no margins.
    times = np.outer([time, np.inf], [1.1, 2, 5, 9])
    monkeypatch.setattr("piste.papers.decision_lists.forms.perfection.CHUNK", 2)
    margins, scores = margins_at(given, times), scores_at(given, times)
    expected = [ordering_margin(w, instance) for w in scores[0]]
    np.testing.assert_allclose(margins[0], expected, rtol=1e-4)
    assert np.isnan(margins[1]).all() and np.isnan(scores[1]).all()


def test_curvature_equals_the_dense_hessian():
    instance = draw(5, 3, 2)
    population = population_loss(instance, train_value=True)
    weights = OneHotWeights(jnp.zeros((5, 5)), permuted(instance, 9.0))
    flat, unravel = ravel_pytree(weights)

    def loss(flat):
        given = unravel(flat)
        return population.loss(given.attention, given.value)

    expected = np.linalg.eigvalsh(jax.hessian(loss)(flat))[-1]
    found = look(JointLoss(population), weights)[0]
    np.testing.assert_allclose(found, expected, rtol=1e-8)


def test_curvature_in_w_equals_the_dense_hessian():
    given = problem(draw(5, 3, 2, "dirichlet"), "enumeration")
    scores = 0.05 * jax.random.normal(jax.random.key(0), (5, 5))

    def loss(flat):
        return given.population.attention_loss(flat.reshape(5, 5), given.scale)

    expected = np.linalg.eigvalsh(jax.hessian(loss)(scores.ravel()))[-1]
    # Padding for other problems in the same program changes nothing.
    data = FlowData.of(given, (64, 4, 8, 8))
    padded = jnp.zeros((8, 8)).at[:5, :5].set(scores)
    found, margin = look(AttentionLoss(data), padded)
    np.testing.assert_allclose(found, expected, rtol=1e-10)
    np.testing.assert_allclose(margin, given.population.margin(scores), rtol=1e-12)


def test_descent_on_w_keeps_to_the_flow_at_small_steps():
    given = problem(draw(8, 3, 3, "dirichlet-support", support_sets=20))
    objective = AttentionLoss(FlowData.of(given))
    (flow,) = first_perfect([given])
    start = given.population.initial()
    found = descend_to_perfection(objective, start, share=0.05, limit=2000)
    assert found.steps > 20
    assert found.learning_rate * found.steepest == pytest.approx(0.05, rel=0.03)
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
    assert theorem.step_condition(found.learning_rate, found.steepest).met


def test_a_descent_that_diverges_is_an_outcome():
    instance = draw(5, 3, 2)
    population = population_loss(instance, train_value=True)
    start = OneHotWeights(jnp.zeros((5, 5)), permuted(instance, jnp.inf))
    found = descend_to_perfection(JointLoss(population), start, limit=3)
    assert found.steps is None
    assert not np.isfinite(found.curvatures[-1])
    assert np.isnan(found.steepest)

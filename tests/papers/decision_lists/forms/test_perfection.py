"""The first perfect classification by the flow of Theorem 1."""

import numpy as np
import pytest

from piste.papers.decision_lists.forms import first_perfect
from piste.training import FlowSettings
from support.decision_lists import draw_instance, flow_problem


def draw(vocabulary, length, list_bound, distribution="uniform", **fields):
    sizes = vocabulary, length, list_bound
    return draw_instance(*sizes, distribution, list_lengths="fixed", **fields)


def test_a_batch_of_instances_is_perfect_within_the_bound():
    shapes = [(8, 3, 2), (12, 4, 3), (30, 6, 4), (9, 3, 1)]
    uniform = [draw(*shape, seed=i) for i, shape in enumerate(shapes)]
    full = [
        flow_problem(uniform[0], "enumeration"),
        flow_problem(uniform[1], "enumeration"),
    ]
    weighted = [
        flow_problem(draw(9, 3, 2, "dirichlet")),
        flow_problem(draw(8, 3, 3, "poisson")),
    ]
    problems = [flow_problem(instance) for instance in uniform] + full + weighted
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
    found = first_perfect([flow_problem(instance, factor=factor) for factor in factors])
    times = [result.time for result in found]
    assert abs(np.polyfit(np.log(factors), np.log(times), 1)[0] + 2) < 0.02


@pytest.mark.slow
def test_with_repetition_the_bound_can_fail():
    given = flow_problem(draw(16, 5, 3, "iid"), longer=100.0)
    assert given.solver == "kvaerno5"
    (found,) = first_perfect([given])
    assert found.outcome == "event"
    assert found.time > 2 * given.horizon / 100


def test_a_flow_without_event_is_an_outcome():
    given = flow_problem(draw(8, 3, 2), longer=1e-9)
    (found,) = first_perfect([given])
    assert (found.outcome, found.time) == ("reached the end", np.inf)
    (found,) = first_perfect([flow_problem(draw(8, 3, 2))], FlowSettings(max_steps=2))
    assert (found.outcome, found.time) == ("step limit", np.inf)


def test_a_flow_says_where_it_started_and_ended():
    (found,) = first_perfect([flow_problem(draw(8, 3, 2), longer=1e-9)])
    assert found.start_size == 0
    np.testing.assert_allclose(found.ended, flow_problem(draw(8, 3, 2)).horizon * 1e-9)
    (found,) = first_perfect([flow_problem(draw(8, 3, 2))], FlowSettings(max_steps=2))
    assert 0 < found.ended < flow_problem(draw(8, 3, 2)).horizon

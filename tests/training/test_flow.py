"""Gradient flow: exact solutions, events, outcomes, and descent that follows it."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from piste.training.flow import FlowSettings, Units, flow, flow_until

RATES = jnp.array([1.0, 3.0])


def quadratic(w, rates):
    """The gradient of ½ Σ r w²; the flow is w exp(−rt)."""
    return rates * w


def quartic(params, data):
    def loss(params):
        return ((params["a"] * data) ** 2 + params["b"] ** 4).sum()

    return jax.grad(loss)(params)


@pytest.mark.parametrize("solver", ["tsit5", "kvaerno5"])
def test_a_linear_flow_is_exact(solver):
    times = jnp.array([0.0, 0.1, 1.0, 4.0])
    settings = FlowSettings(solver=solver, rtol=1e-9, atol=1e-11)
    found = flow(quadratic, jnp.ones(2), times, data=RATES, settings=settings)
    expected = np.exp(-np.outer(times, RATES))
    np.testing.assert_allclose(found.params, expected, atol=1e-8)
    np.testing.assert_allclose(found.times, times)
    assert found.ended() == "reached the end"


def test_units_change_the_arithmetic_and_not_the_flow():
    times = jnp.array([1e-7, 1e-6])
    units = Units(params=1e-3, time=1e-6)
    rates = 1e6 * RATES
    found = flow(quadratic, 1e-3 * jnp.ones(2), times, data=rates, units=units)
    expected = 1e-3 * np.exp(-np.outer(times, rates))
    np.testing.assert_allclose(found.params, expected, rtol=1e-5)


@jax.jit
def descend(params, data, rate, steps):
    def step(_, params):
        slope = quartic(params, data)
        return jax.tree.map(lambda w, g: w - rate * g, params, slope)

    return jax.lax.fori_loop(0, steps, step, params)


def test_descent_follows_the_flow_with_an_error_of_the_order_of_its_step():
    start = {"a": jnp.array([1.0, -2.0]), "b": jnp.array([0.7])}
    data, time = jnp.array([1.0, 0.3]), 0.48
    settings = FlowSettings(rtol=1e-11, atol=1e-12)
    exact = flow(quartic, start, jnp.array([time]), data=data, settings=settings)
    rates, errors = np.array([0.04, 0.02, 0.01, 0.005]), []
    for rate in rates:
        params = descend(start, data, rate, round(time / rate))
        ends = jax.tree.map(lambda w, e: jnp.abs(w - e[-1]).max(), params, exact.params)
        errors.append(max(jax.tree.leaves(ends)))
    slope = np.polyfit(np.log(rates), np.log(errors), 1)[0]
    assert abs(slope - 1) < 0.05


def half(w, rates):
    return 0.5 - w[0]


def test_an_event_is_found_inside_a_step():
    found = flow_until(quadratic, half, jnp.ones(2), 10.0, data=RATES)
    assert found.ended() == "event"
    np.testing.assert_allclose(found.times, [np.log(2)], rtol=1e-5)
    np.testing.assert_allclose(found.params[0, 0], 0.5, rtol=1e-5)


def test_a_batch_of_flows_with_and_without_event():
    rates = jnp.array([[1.0, 1.0], [1e-3, 1.0], [5.0, 1.0]])

    def one(rates):
        return flow_until(quadratic, half, jnp.ones(2), 10.0, data=rates)

    found = jax.vmap(one)(rates)
    assert found.outcome.tolist() == [1, 0, 1]
    np.testing.assert_allclose(found.times[:, 0], [np.log(2), 10, np.log(2) / 5], 1e-5)


def test_a_flow_that_cannot_finish_says_so():
    few = FlowSettings(max_steps=5)
    found = flow_until(
        quadratic, half, jnp.ones(2), 1e9, data=RATES * 1e-6, settings=few
    )
    assert found.ended() == "step limit"
    assert int(found.steps) == 5
    times = jnp.array([1e-9, 1e9])
    recorded = flow(quadratic, jnp.ones(2), times, data=RATES, settings=few)
    assert recorded.ended() == "step limit"
    assert np.isinf(recorded.times[-1])


def explode(w, data):
    return jnp.where(w < 2, -(w**2), jnp.nan)


def test_a_flow_that_blows_up_ends():
    settings = FlowSettings(max_steps=200)
    found = flow(explode, jnp.ones(1), jnp.array([5.0]), settings=settings)
    assert found.ended() in ("step limit", "solver failed")

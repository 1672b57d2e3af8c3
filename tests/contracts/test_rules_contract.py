"""One table: what every update rule must do."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from piste.rules import RULES
from piste.testing import assert_close

# A new rule is a new row: two settings of its floats.
TABLE = {
    "signgd": ({"learning_rate": 1e-4}, {"learning_rate": 0.3}),
    "gd": ({"learning_rate": 1e-4}, {"learning_rate": 0.3}),
    "normalised-gd": ({"learning_rate": 1e-4}, {"learning_rate": 0.3}),
    "adam": (
        {"learning_rate": 1e-4, "b1": 0.9, "b2": 0.999, "eps": 1e-8},
        {"learning_rate": 0.3, "b1": 0.0, "b2": 0.0, "eps": 0.0},
    ),
    "lion": (
        {"learning_rate": 1e-4, "b1": 0.9, "b2": 0.99},
        {"learning_rate": 0.3, "b1": 0.5, "b2": 0.1},
    ),
}


def length(tree):
    """The Euclidean norm of all entries together."""
    return jnp.sqrt(sum((leaf**2).sum() for leaf in jax.tree.leaves(tree)))


def both(word):
    return [RULES[word](**settings) for settings in TABLE[word]]


def cast(rule, dtype):
    return jax.tree.map(lambda leaf: jnp.asarray(leaf, dtype), rule)


def params(dtype="float64"):
    rng = np.random.default_rng(0)
    shapes = {"matrix": (3, 4), "vector": (5,)}
    return {name: jnp.asarray(rng.normal(size=s), dtype) for name, s in shapes.items()}


def zero_like(tree):
    return jax.tree.map(jnp.zeros_like, tree)


def test_the_table_has_a_row_for_every_rule():
    # The flow is no discrete rule: it has tests of its own.
    assert set(TABLE) == set(RULES) - {"flow"}


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("word", TABLE)
def test_the_type_of_numbers_is_kept(word, dtype):
    for rule in both(word):
        transform = cast(rule, dtype).transform(length)
        state = transform.init(params(dtype))
        for _ in range(2):
            updates, state = transform.update(params(dtype), state, params(dtype))
        kinds = {leaf.dtype.name for leaf in jax.tree.leaves(updates)}
        moments = {leaf.dtype.name for leaf in jax.tree.leaves(state) if leaf.ndim}
        assert kinds == {dtype} and moments <= {dtype}


@pytest.mark.parametrize("word", TABLE)
def test_no_gradient_no_update(word):
    for rule in both(word):
        transform = rule.transform(length)
        updates, state = transform.update(
            zero_like(params()), transform.init(params()), params()
        )
        assert_close(updates, zero_like(params()))
        assert all(np.isfinite(leaf).all() for leaf in jax.tree.leaves(state))


@pytest.mark.parametrize("word", TABLE)
def test_an_update_is_pure_and_its_state_is_arrays(word):
    for rule in both(word):
        transform = rule.transform(length)
        state = transform.init(params())
        _, state = transform.update(params(), state, params())
        assert all(isinstance(leaf, jax.Array) for leaf in jax.tree.leaves(state))
        kept = jax.tree.map(np.array, state)
        first = transform.update(params(), state, params())
        again = transform.update(params(), state, params())
        assert_close(first, again, slack=0)
        assert_close(state, kept, slack=0)


@pytest.mark.parametrize("word", TABLE)
def test_rules_are_odd(word):
    """The reduced value layer rests on it: opposite gradients, opposite updates."""
    for rule in both(word):
        transform = rule.transform(length)
        state = transform.init(params())
        forth, _ = transform.update(params(), state, params())
        back, _ = transform.update(
            jax.tree.map(jnp.negative, params()), state, params()
        )
        assert_close(back, jax.tree.map(jnp.negative, forth), slack=0)
        assert any(np.asarray(leaf).any() for leaf in jax.tree.leaves(forth))


@pytest.mark.parametrize("word", TABLE)
def test_different_floats_share_one_compiled_update(word):
    traces = []

    @jax.jit
    def first_update(rule, gradient):
        traces.append(word)
        transform = rule.transform(length)
        return transform.update(gradient, transform.init(gradient), gradient)[0]

    results = [first_update(rule, params()) for rule in both(word)]
    assert len(traces) == 1
    assert not np.array_equal(results[0]["matrix"], results[1]["matrix"])

"""The rules against their formulas in NumPy, against optax, and against each other."""

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

from piste.rules import GD, Adam, Lion, NormalisedGD, SignGD
from piste.testing import assert_close
from support.small import run
from support.tiny import tiny

RNG = np.random.default_rng(0)
GRADIENTS = [RNG.normal(size=(4, 3)) * 10.0 ** RNG.integers(-6, 2) for _ in range(60)]


def length(tree):
    """The Euclidean norm of all entries together."""
    return jnp.sqrt(sum((leaf**2).sum() for leaf in jax.tree.leaves(tree)))


def path(transform):
    """Where a rule goes from zero along fixed gradients."""
    w = jnp.zeros((4, 3))
    state, seen = transform.init(w), []
    for gradient in GRADIENTS:
        update, state = transform.update(jnp.asarray(gradient), state, w)
        w = optax.apply_updates(w, update)
        seen.append(np.asarray(w))
    return np.stack(seen)


def ours(rule):
    return path(rule.transform(length))


def test_descent_rules_are_their_formulas():
    formulas = {
        GD(0.3): lambda g: g,
        SignGD(0.3): np.sign,
        NormalisedGD(0.3): lambda g: g / np.sqrt((g**2).sum()),
    }
    for rule, formula in formulas.items():
        truth = -0.3 * np.cumsum([formula(g) for g in GRADIENTS], axis=0)
        assert_close(ours(rule), truth)


def test_adam_is_its_formula():
    m = v = w = np.zeros((4, 3))
    seen = []
    for t, g in enumerate(GRADIENTS, start=1):
        m, v = 0.8 * m + 0.2 * g, 0.95 * v + 0.05 * g**2
        w = w - 0.1 * (m / (1 - 0.8**t)) / (np.sqrt(v / (1 - 0.95**t)) + 1e-6)
        seen.append(w)
    assert_close(ours(Adam(0.1, b1=0.8, b2=0.95, eps=1e-6)), np.stack(seen))


def test_lion_is_its_formula():
    m = w = np.zeros((4, 3))
    seen = []
    for g in GRADIENTS:
        w = w - 0.1 * np.sign(0.8 * m + 0.2 * g)
        m = 0.95 * m + 0.05 * g
        seen.append(w)
    assert_close(ours(Lion(0.1, b1=0.8, b2=0.95)), np.stack(seen))


@pytest.mark.parametrize("b1", [0.0, 0.9])
@pytest.mark.parametrize("b2", [0.9, 0.999])
def test_adam_is_optax_adam(b1, b2):
    assert_close(ours(Adam(0.1, b1, b2, 1e-8)), path(optax.adam(0.1, b1, b2, 1e-8)))


@pytest.mark.parametrize(
    ("rule", "theirs"),
    [
        (GD(0.1), optax.sgd(0.1)),
        (SignGD(0.1), optax.sign_sgd(0.1)),
        (Lion(0.1, 0.9, 0.99), optax.lion(0.1, 0.9, 0.99, weight_decay=0.0)),
    ],
)
def test_the_others_are_optax_too(rule, theirs):
    assert_close(ours(rule), path(theirs), slack=0)


def test_normalised_gd_moves_exactly_its_learning_rate():
    steps = np.diff(ours(NormalisedGD(0.3)), axis=0, prepend=0)
    assert_close(np.sqrt((steps**2).sum((1, 2))), np.full(60, 0.3))


def test_normalised_gd_takes_one_norm_over_all_weights():
    gradient = {"a": jnp.array([3.0]), "b": jnp.array([[0.0, 4.0]])}
    transform = NormalisedGD(0.5).transform(length)
    update, _ = transform.update(gradient, transform.init(gradient), gradient)
    assert_close(update, {"a": jnp.array([-0.3]), "b": jnp.array([[0.0, -0.4]])})


HARD = [0.0, -0.0, 1e-200, -1e-200, 1e-300, -3e-307, 7e150, -1e300, 0.1, -1 / 3]


@pytest.mark.parametrize("learning_rate", [1e-4, 0.1, 1 / 3])
def test_adam_without_memory_is_sign_descent_on_hard_gradients(learning_rate):
    gradient, plain = jnp.array(HARD), SignGD(learning_rate)
    adam = Adam(learning_rate, b1=0.0, b2=0.0, eps=0.0).transform(length)
    state = adam.init(gradient)
    for turn in range(3):  # a coordinate that was large becomes zero, and back
        turned = jnp.roll(gradient, turn)
        update, state = adam.update(turned, state, gradient)
        truth = -learning_rate * np.sign(np.roll(HARD, turn))
        np.testing.assert_array_equal(np.asarray(update), truth)
        sign = plain.transform(length)
        theirs, _ = sign.update(turned, sign.init(gradient), gradient)
        np.testing.assert_array_equal(np.asarray(update), np.asarray(theirs))


def test_adam_without_memory_is_sign_descent_bit_for_bit_in_training():
    plain = run(tiny())
    settings = {"rule__b1": 0, "rule__b2": 0, "rule__eps": 0}
    adam = run(tiny("adam", **settings))
    assert int(plain.state.step) == 300
    for one, other in zip(
        jax.tree.leaves(plain.state.params),
        jax.tree.leaves(adam.state.params),
        strict=True,
    ):
        np.testing.assert_array_equal(np.asarray(one), np.asarray(other))
    np.testing.assert_array_equal(
        plain.records["train_loss"], adam.records["train_loss"]
    )

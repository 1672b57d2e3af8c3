"""Rules with one momentum against NumPy, SciPy's polar factor and optax."""

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
import scipy.linalg

from piste.rules import MomentumGD, Muon, SignMomentum
from piste.rules.heavy_ball import polar_factor
from piste.testing import assert_close
from piste.values import override
from support.small import run
from support.tiny import TINY

RNG = np.random.default_rng(0)
GRADIENTS = [RNG.normal(size=(4, 3)) * 10.0 ** RNG.integers(-6, 2) for _ in range(40)]


def steps(transform, gradients=GRADIENTS):
    """The updates of a transformation along fixed gradients."""
    state = transform.init(jnp.asarray(gradients[0]))
    found = []
    for gradient in gradients:
        update, state = transform.update(jnp.asarray(gradient), state)
        found.append(np.asarray(update))
    return np.stack(found)


def ours(rule, gradients=GRADIENTS):
    return steps(rule.transform(lambda tree: jnp.zeros(())), gradients)


def momenta(decay, gradients=GRADIENTS):
    m, found = np.zeros_like(gradients[0]), []
    for gradient in gradients:
        m = decay * m + gradient
        found.append(m)
    return np.stack(found)


@pytest.fixture(autouse=True)
def double():
    with jax.enable_x64(True):
        yield


def test_momentum_and_its_sign_are_their_formulas():
    assert_close(ours(MomentumGD(0.1, decay=0.8)), -0.1 * momenta(0.8))
    assert_close(ours(SignMomentum(0.1, decay=0.8)), -0.1 * np.sign(momenta(0.8)))


def test_momentum_is_optax_sgd_with_momentum():
    assert_close(ours(MomentumGD(0.1, 0.9)), steps(optax.sgd(0.1, momentum=0.9)))


def test_a_weight_without_gradient_stays_under_every_rule():
    holed = [g * (np.arange(3) != 1) for g in GRADIENTS]
    for rule in (MomentumGD(), SignMomentum(), Muon()):
        moved = ours(rule, holed)
        assert np.isfinite(moved).all()
        assert_close(moved[..., 1], np.zeros((40, 4)))
        assert (moved[..., 0] != 0).all()


def test_muon_moves_by_the_polar_factor_of_its_momentum():
    truth = [scipy.linalg.polar(m)[0] for m in momenta(0.95)]
    assert_close(ours(Muon(0.2)), -0.2 * np.stack(truth), slack=1e3)


def test_muon_agrees_with_optax_within_newton_schulz():
    plain = optax.contrib.scale_by_muon(beta=0.95, nesterov=False, ns_steps=5)
    theirs, exact = steps(plain), -ours(Muon(1.0))
    wide = RNG.normal(size=(3, 4))
    for m, one, other in zip(momenta(0.95), theirs, exact, strict=True):
        left, values, right = np.linalg.svd(m, full_matrices=False)
        # Five steps bring singular values from 1e-2 of the norm on near 1, not to it.
        if values.min() / np.linalg.norm(m) < 1e-2:
            continue
        inner = left.T @ one @ right.T
        np.testing.assert_allclose(np.diag(inner), np.ones(3), atol=0.35)
        off = inner - np.diag(np.diag(inner))
        np.testing.assert_allclose(off, np.zeros((3, 3)), atol=1e-9)
        np.testing.assert_allclose(left.T @ other @ right.T, np.eye(3), atol=1e-12)
    assert_close(polar_factor(jnp.asarray(wide)), scipy.linalg.polar(wide)[0])


def test_polar_factors_of_several_matrices_are_those_of_each():
    stack = RNG.normal(size=(2, 3, 4, 5))
    truth = [[scipy.linalg.polar(m)[0] for m in row] for row in stack]
    assert_close(polar_factor(jnp.asarray(stack)), np.array(truth), slack=100)


def test_vectors_and_scalars_are_matrices_of_one_row():
    v = RNG.normal(size=5)
    assert_close(polar_factor(jnp.asarray(v)), v / np.linalg.norm(v))
    assert float(polar_factor(jnp.asarray(-3.0))) == -1.0


def test_directions_without_momentum_do_not_move():
    low = np.outer(RNG.normal(size=6), RNG.normal(size=4))
    factor = np.asarray(polar_factor(jnp.asarray(low)))
    assert_close(factor, low / np.linalg.norm(low), slack=100)
    for shape in ((3, 4), (5,), (), (0, 2)):
        zero = polar_factor(jnp.zeros(shape))
        assert zero.shape == shape and not np.asarray(zero).any()


@pytest.mark.parametrize("scale", [1e-300, 1e-200, 1e200])
def test_scale_does_not_matter_to_the_polar_factor(scale):
    m = RNG.normal(size=(3, 5))
    truth = scipy.linalg.polar(m)[0]
    assert_close(polar_factor(jnp.asarray(scale * m)), truth, slack=100)


def test_muon_trains():
    changes = {"rule": "muon", "rule.learning-rate": 0.05, "steps": 100}
    done = run(override(TINY, changes))
    loss = done.records["train_loss"]
    assert np.isfinite(loss).all() and loss[-1] < 0.5 * loss[0]

"""Closed-form gradients against autodiff, the chain rule, differences and decimals."""

import dataclasses
import types

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from papers.signgd.two_token import small
from piste import training
from piste.papers.signgd.forms.closed_form import (
    count_near_zero,
    exact_sign,
    row_gradients,
    token_gradients,
)
from piste.papers.signgd.models import TwoLayerWeights
from piste.testing import assert_close
from piste.training import assemble
from support import reference
from support.small import start

NAMES = ("value_plus", "value_minus", "query", "key")
SCALES = pytest.mark.parametrize("scale", [1.0, 30.0], ids=["even", "uneven"])
"""Initial weights, where all attention is near ½, and weights where it is not."""


def scaled_start(scale):
    begun = start(small())
    weights = jax.tree.map(lambda part: scale * part, begun.weights)
    return dataclasses.replace(begun, weights=weights)


def system_at(begun, monkeypatch, **changes):
    """The system of an experiment that begins with given weights."""
    monkeypatch.setattr(assemble, "draw", lambda experiment: begun)
    return training.build(small(**changes))


def full_form(begun):
    return training.build(small("gd", form="full")).form, begun.weights


@jax.jit
def closed_form(form, weights):
    """The gradient in every matrix, assembled from the coefficients of the rows."""
    data, width = form.data, weights.value_plus.shape[0]
    loss, tokens = token_gradients(form.view(weights))
    rows = [data.collect(p.plain()) for p in (tokens.value, tokens.query, tokens.key)]
    value, query, key = (row.T @ data.basis for row in rows)
    plus = jnp.tile(value / width, (width, 1))
    return loss, TwoLayerWeights(plus, -plus, query, key)


@jax.jit
def autodiff_form(form, weights):
    return form.loss_and_gradient(weights)


@SCALES
def test_closed_form_is_autodiff_and_the_chain_rule(scale):
    begun = scaled_start(scale)
    form, weights = full_form(begun)
    loss, gradient = closed_form(form, weights)
    autodiff_loss, autodiff = autodiff_form(form, weights)
    x, labels = reference.tokens(begun.data), np.asarray(begun.data.labels)
    truth = reference.gradients(weights, x, labels)
    assert_close(loss, np.array(reference.loss(weights, x, labels)))
    assert_close(autodiff_loss, loss)
    for name in NAMES:
        assert_close(getattr(gradient, name), truth[name])
        assert_close(getattr(autodiff, name), truth[name])


@SCALES
def test_closed_form_is_a_central_difference(scale):
    begun = scaled_start(scale)
    form, weights = full_form(begun)
    _, gradient = closed_form(form, weights)
    x, labels = reference.tokens(begun.data), np.asarray(begun.data.labels)
    rng, step = np.random.default_rng(0), 1e-5
    for name in NAMES:
        matrix = np.asarray(getattr(weights, name))
        for _ in range(8):  # along random directions, not entry by entry
            direction = rng.normal(size=matrix.shape)
            ends = [
                reference.loss(_with(weights, name, matrix + h * direction), x, labels)
                for h in (step, -step)
            ]
            slope = (direction * np.asarray(getattr(gradient, name))).sum()
            size = np.linalg.norm(np.asarray(getattr(gradient, name)))
            assert abs((ends[0] - ends[1]) / (2 * step) - slope) < 1e-5 * size


def _with(weights, name, matrix):
    parts = {part: getattr(weights, part) for part in NAMES}
    return types.SimpleNamespace(**(parts | {name: matrix}))


# --- where the softmax has left the range of floating point -------------------------


@pytest.fixture(scope="module")
def saturated():
    """Weights under which every logit is beyond ±1000, and each sample's is its own."""
    begun = start(small())
    rng = np.random.default_rng(3)
    shape = begun.weights.query.shape
    query = rng.normal(size=shape)
    key = query + 0.2 * rng.normal(size=shape)
    weights = dataclasses.replace(
        begun.weights, query=jnp.asarray(24 * query), key=jnp.asarray(24 * key)
    )
    return dataclasses.replace(begun, weights=weights)


@pytest.fixture(scope="module")
def decimal_signs(saturated):
    x, labels = reference.tokens(saturated.data), np.asarray(saturated.data.labels)
    return reference.gradient_signs(saturated.weights, x, labels)


def test_the_state_is_out_of_range(saturated):
    form, weights = full_form(saturated)
    view = form.view(weights)
    logits = (view.query * (view.key[0] - view.key[1])).sum(-1)
    assert (np.abs(logits) > 1000).all() and (np.asarray(logits)[1] < -1000).all()
    assert not np.asarray(view.attention())[:, 1, 0].any()
    for _, gradient in (closed_form(form, weights), autodiff_form(form, weights)):
        assert not np.asarray(gradient.query).any()
        assert not np.asarray(gradient.key).any()
        assert np.asarray(gradient.value_plus).any()


def test_exact_signs_are_the_decimal_ones(saturated, decimal_signs):
    form, weights = full_form(saturated)
    _, tokens = token_gradients(form.view(weights))
    for name, truth in decimal_signs.items():
        rows = row_gradients(getattr(tokens, name), form.data)
        signs = np.asarray(exact_sign(form.data.basis, rows)).T
        np.testing.assert_array_equal(np.squeeze(signs), truth)
    assert np.abs(decimal_signs["query"]).mean() > 0.5


@SCALES
def test_exact_signs_are_the_decimal_ones_in_range_too(scale):
    begun = scaled_start(scale)
    form, weights = full_form(begun)
    x, labels = reference.tokens(begun.data), np.asarray(begun.data.labels)
    _, tokens = token_gradients(form.view(weights))
    for name, truth in reference.gradient_signs(weights, x, labels).items():
        rows = row_gradients(getattr(tokens, name), form.data)
        signs = np.asarray(exact_sign(form.data.basis, rows)).T
        np.testing.assert_array_equal(np.squeeze(signs), truth)


def test_an_exact_step_moves_the_dense_weights_by_the_decimal_signs(
    saturated, decimal_signs, monkeypatch
):
    system = system_at(saturated, monkeypatch, form="exact")
    plain = system_at(saturated, monkeypatch, form="reduced")
    state = system.step(system.start())
    rate, weights = small().rule.learning_rate, saturated.weights
    value, query, key = (decimal_signs[name] for name in ("value", "query", "key"))
    moved = TwoLayerWeights(
        weights.value_plus - rate * value,
        weights.value_minus + rate * value,
        weights.query - rate * query,
        weights.key - rate * key,
    )
    assert_dense(system.form, state, moved, saturated)
    frozen = plain.step(plain.start()).params.attention
    np.testing.assert_array_equal(frozen, plain.form.initial().attention)


def assert_dense(form, state, weights, begun):
    """The form's views are those of the dense weights, in training and in test."""
    view, x = form.view(state.params), reference.tokens(begun.data)
    v = np.asarray(weights.mean_value())
    assert_close(view.value, np.einsum("itd,d->ti", x, v))
    assert_close(view.query, np.einsum("itd,sd->tis", x, weights.query))
    assert_close(view.key, np.einsum("itd,sd->tis", x, weights.key))
    labels, tests = np.asarray(begun.test.labels), reference.tokens(begun.test)
    margins = [
        y * reference.output(weights, t) for y, t in zip(labels, tests, strict=True)
    ]
    assert_close(form.test_view(state.params).margins(), np.array(margins), slack=10)


# --- how many gradient entries are within rounding of zero --------------------------


def test_near_zero_on_a_case_by_hand():
    basis = jnp.array([[1.0, 1.0, 0.3, 0.0], [1.0, 0.0, 0.1, 0.0]])
    factor = jnp.array([[1.0, 2.0, 0.0], [-1.0, 1.0, 0.0]])
    # neuron 0: 1 − 1 at the first coordinate; neuron 2: zero at all three present.
    assert count_near_zero(basis, factor, jnp.ones(4)) == 4
    assert (
        count_near_zero(basis, factor, jnp.array([5.0, 1.0, 1.0, 9.0])) == 5 + 5 + 1 + 1
    )
    # 3 · 0.1 − 0.3 is 5.6e−17 in floating point: undecided.
    rounding = jnp.array([[1.0], [-3.0]])
    assert count_near_zero(basis[:, 2:3], rounding, jnp.ones(1)) == 1
    assert count_near_zero(basis[:, 2:3], rounding * (1 + 1e-9), jnp.ones(1)) == 1
    assert (
        count_near_zero(basis[:, 2:3], jnp.array([[1.0], [-3.000001]]), jnp.ones(1))
        == 0
    )


def silenced(begun):
    """One query neuron and two key neurons are zero, so their partners' gradients are."""
    query = begun.weights.query.at[2].set(0)
    key = begun.weights.key.at[jnp.array([0, 4])].set(0)
    weights = dataclasses.replace(begun.weights, query=query, key=key)
    return dataclasses.replace(begun, weights=weights)


@pytest.mark.parametrize("form", ["full", "reduced", "exact"])
def test_near_zero_counts_are_the_brute_force_ones(form, monkeypatch):
    begun = silenced(start(small()))
    system = system_at(begun, monkeypatch, form=form)
    found = system.form.view(system.start().params).near_zero
    x, labels = reference.tokens(begun.data), np.asarray(begun.data.labels)
    coordinates = int((np.asarray(begun.data.basis) != 0).any(0).sum())
    assert found.tolist() == [0, 2 * coordinates, coordinates]
    truth = reference.gradient_signs(begun.weights, x, labels)
    assert (truth["query"] == 0).sum() == 2 * coordinates + 7 * (60 - coordinates)


def rows(part, form):
    return form.data.collect(part.plain())


def test_near_zero_counts_the_rows_as_the_oracle_does():
    form, weights = full_form(silenced(start(small())))
    view = form.view(weights)
    _, tokens = token_gradients(view)
    brute = [
        reference.near_zero(*map(np.asarray, (form.data.basis, rows(part, form))))
        for part in (tokens.value, tokens.query, tokens.key)
    ]
    assert view.near_zero.tolist() == brute


def test_underflow_is_counted_in_plain_arithmetic_and_not_in_exact(
    saturated, monkeypatch
):
    counts = {}
    for form in ("full", "reduced", "exact"):
        system = system_at(saturated, monkeypatch, form=form)
        counts[form] = system.form.view(system.start().params).near_zero.tolist()
    coordinates = int((np.asarray(saturated.data.basis) != 0).any(0).sum())
    assert counts["full"] == counts["reduced"] == [0, 7 * coordinates, 7 * coordinates]
    assert counts["exact"] == [0, 0, 0]

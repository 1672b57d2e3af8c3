"""The stack against the paper's model, explicit loops and its own symmetries."""

import dataclasses

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from papers.signgd.stages_preset import experiment as signgd_experiment
from piste.attention import KERNELS
from piste.errors import InputError
from piste.papers.signgd.models import (
    Stack,
    TwoLayer,
    layer_norm,
    matrix_form,
    scalar_form,
    stack_form,
)
from piste.testing import assert_close
from piste.values import from_json, override, to_json
from support import stack_oracle

DIMENSION = 11
WIDTHS = {"key_width": 12, "value_width": 6, "init_scale": 1.5}
PLAIN = Stack(**WIDTHS)
VARIANTS = {
    "plain": PLAIN,
    "gaussian": Stack(**WIDTHS, kernel="gaussian"),
    "heads": Stack(heads=3, **WIDTHS),
    "norm": Stack(heads=2, layer_norm=True, **WIDTHS),
    "deep": Stack(depth=3, residual=True, **WIDTHS),
    "bare": Stack(depth=2, heads=2, **WIDTHS),
    "all": Stack(depth=2, heads=3, residual=True, layer_norm=True, **WIDTHS),
}

every_variant = pytest.mark.parametrize("model", VARIANTS.values(), ids=VARIANTS)


def drawn(model, seed=0):
    return model.init(key=jax.random.key(seed), dimension=DIMENSION)


def forward(model, weights, x):
    """The output, and the attention of the read-out."""
    f, views = stack_form(model, weights, x)
    return f, views[-1].attention


def tokens(seed=0, size=2):
    return jnp.asarray(np.random.default_rng(seed).normal(size=(size, DIMENSION)))


@pytest.mark.parametrize("kernel", KERNELS)
def test_one_head_and_one_layer_are_the_papers_model(kernel):
    stack = dataclasses.replace(PLAIN, kernel=kernel)
    paper = TwoLayer(**WIDTHS, kernel=kernel)
    weights = paper.init(key=jax.random.key(0), dimension=DIMENSION)
    assert drawn(stack).hidden == ()
    assert_close(drawn(stack).readout, weights, slack=0)
    f, s = forward(stack, drawn(stack), tokens())
    assert s.shape == (1, 2, 2)
    for form in (matrix_form, scalar_form):
        assert_close(f, form(weights, tokens(), KERNELS[kernel]))


@every_variant
def test_the_forward_pass_is_that_of_explicit_loops(model):
    for size in (2, 3):
        found = forward(model, drawn(model), tokens(size=size))
        f, s, read = stack_oracle.forward(model, drawn(model), tokens(size=size))
        assert_close(found, (f, s), slack=10)
        _, views = stack_form(model, drawn(model), tokens(size=size))
        assert_close(views[-1].tokens, read, slack=10)


@every_variant
def test_the_readout_does_not_notice_what_is_below_it(model):
    assert_close(drawn(model).readout, drawn(PLAIN).readout, slack=0)


def test_hidden_layers_are_drawn_independently():
    layers = drawn(VARIANTS["deep"]).hidden
    matrices = [layer.query for layer in layers] + [layer.key for layer in layers]
    matrices += [drawn(PLAIN).readout.query, drawn(PLAIN).readout.key]
    flat = np.stack([np.asarray(matrix).ravel() for matrix in matrices])
    correlations = np.corrcoef(flat)[np.triu_indices(len(flat), 1)]
    assert np.abs(correlations).max() < 4 / flat.shape[1] ** 0.5


def test_a_hidden_layer_begins_near_the_identity_or_keeps_lengths():
    sizes = {"depth": 2, "key_width": 4, "value_width": 50, "init_scale": 0.1}
    with_residual, without = Stack(residual=True, **sizes), Stack(**sizes)
    squares = {}
    for model in (with_residual, without):
        layer = model.init(key=jax.random.key(1), dimension=400).hidden[0]
        x = np.random.default_rng(2).normal(size=(200, 400)) / 20
        update = x @ np.asarray(layer.output @ layer.value).T
        squares[model.residual] = (update**2).sum(-1).mean()
    assert squares[True] < 1e-4
    assert 0.7 < squares[False] < 1.4


def permuted(weights, heads, order):
    """The same weights with the heads of every layer in another order."""

    def rows(matrix):
        blocks = matrix.reshape(heads, -1, matrix.shape[-1])
        return blocks[jnp.array(order)].reshape(matrix.shape)

    def turned(matrix):
        return rows(matrix.T).T if matrix.shape[0] == DIMENSION else rows(matrix)

    return jax.tree.map(turned, weights)


@pytest.mark.parametrize("name", ["heads", "all"])
def test_the_order_of_heads_does_not_matter(name):
    model, order = VARIANTS[name], [2, 0, 1]
    weights = drawn(model)
    f, s = forward(model, weights, tokens())
    moved_f, moved_s = forward(model, permuted(weights, 3, order), tokens())
    assert_close(moved_f, f)
    assert_close(moved_s, s[jnp.array(order)])
    swapped = eqx.tree_at(
        lambda tree: tree.readout.query,
        weights,
        permuted(weights, 3, order).readout.query,
    )
    assert abs(forward(model, swapped, tokens())[0] - f) > 1e-6


@every_variant
def test_the_order_of_tokens_does_not_matter_to_the_output(model):
    f, s = forward(model, drawn(model), tokens())
    swapped_f, swapped_s = forward(model, drawn(model), tokens()[::-1])
    assert_close(swapped_f, f)
    assert_close(swapped_s, s[:, ::-1, ::-1])


def test_equal_heads_are_one_head_of_their_width():
    """Two heads with the same queries, keys and values say what one of them says."""
    one = Stack(**WIDTHS | {"key_width": 6, "value_width": 3})
    weights = drawn(one)
    doubled = jax.tree.map(lambda matrix: jnp.concatenate([matrix] * 2), weights)
    f, s = forward(one, weights, tokens())
    twice_f, twice_s = forward(Stack(heads=2, **WIDTHS), doubled, tokens())
    assert_close(twice_f, f)
    assert_close(twice_s, jnp.concatenate([s, s]))


def test_layer_norm_is_pytorchs_up_to_the_length():
    x = np.random.default_rng(3).normal(size=(4, DIMENSION)) + 2
    standard = (x - x.mean(-1, keepdims=True)) / x.std(-1, keepdims=True)
    assert_close(layer_norm(jnp.asarray(x)), standard / DIMENSION**0.5, slack=10)
    assert_close(layer_norm(jnp.asarray(-3 * x)), -layer_norm(jnp.asarray(x)), slack=10)


def test_a_token_of_zeros_stays_zero_with_a_finite_gradient():
    zeros = jnp.zeros((2, DIMENSION))
    assert_close(layer_norm(zeros), zeros)
    slope = jax.grad(lambda x: layer_norm(x)[:, 0].sum())(zeros)
    assert np.isfinite(slope).all()


def test_layer_norm_hides_the_length_of_tokens_and_nothing_else_does():
    """The first layer reads normalised tokens, so a single one cannot see the SNR."""
    louder = tokens() * jnp.array([[1.0], [5.0]])
    for name, same in (("norm", True), ("heads", False)):
        model = VARIANTS[name]
        f, _ = forward(model, drawn(model), tokens())
        louder_f, _ = forward(model, drawn(model), louder)
        assert (abs(louder_f - f) < 1e-9 * abs(f)) == same


@every_variant
def test_json_brings_it_back(model):
    assert from_json(Stack, to_json(model)) == model


def test_the_papers_fields_survive_the_switch_of_the_model():
    stack = override_model(TwoLayer(key_width=8, value_width=4), heads=2)
    assert stack == Stack(heads=2, key_width=8, value_width=4)


def override_model(model, **changes):
    dotted = {f"model.{name}": to for name, to in changes.items()}
    return override(signgd_experiment(model=model), {"model": "stack"} | dotted).model


@pytest.mark.parametrize(
    ("fields", "line"),
    [
        ({"heads": 0}, "heads = 0: must be at least 1"),
        ({"depth": 0}, "depth = 0: must be at least 1"),
        ({"heads": 3}, "key-width = 100: must be a multiple of heads = 3"),
        (
            {"heads": 4, "value_width": 10},
            "value-width = 10: must be a multiple of heads = 4",
        ),
        ({"residual": "no"}, "residual = no: must be true or false"),
        ({"init_scale": 0.0}, "init-scale = 0.0: must be greater than 0"),
        (
            {"kernel": "cosine"},
            f"kernel = cosine: must be one of {', '.join(KERNELS)}",
        ),
    ],
)
def test_a_bad_field_is_one_line(fields, line):
    with pytest.raises(InputError) as caught:
        from_json(Stack, {"type": "stack"} | fields)
    assert str(caught.value) == line

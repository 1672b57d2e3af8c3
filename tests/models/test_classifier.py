"""The classifier's symmetries, its dropout and what it refuses."""

import dataclasses

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from piste.errors import InputError
from piste.models import classifier
from piste.models.classifier import Classifier, accuracy, cross_entropy
from piste.testing import assert_close
from piste.values import from_json, to_json

SIZES = {"vocabulary": 13, "length": 12, "classes": 3}
MODEL = Classifier(dimension=8, hidden=10)
every_kernel = pytest.mark.parametrize("kernel", ["softmax", "gaussian"])


def drawn(model=MODEL, seed=0):
    return model.init(key=jax.random.key(seed), **SIZES)


def sequences(length=9, batch=3, seed=0):
    rng = np.random.default_rng(seed)
    return jnp.asarray(rng.integers(0, SIZES["vocabulary"], (batch, length)))


def everywhere(tokens):
    return jnp.ones(tokens.shape, bool)


logits = jax.jit(classifier.logits)


@every_kernel
def test_padding_changes_nothing(kernel):
    model = dataclasses.replace(MODEL, kernel=kernel)
    weights, tokens = drawn(model), sequences()
    truth = logits(model, weights, tokens, everywhere(tokens))
    for other in (0, 5):
        padded = jnp.pad(tokens, ((0, 0), (0, 3)), constant_values=other)
        mask = jnp.arange(12) < jnp.full((3, 1), 9)
        assert_close(logits(model, weights, padded, mask), truth)
    assert abs(logits(model, weights, padded, everywhere(padded)) - truth).max() > 1e-4


@every_kernel
def test_a_sequence_does_not_see_the_others(kernel):
    model = dataclasses.replace(MODEL, kernel=kernel)
    weights, tokens = drawn(model), sequences()
    mask = jnp.arange(9) < jnp.array([[9], [4], [7]])
    together = logits(model, weights, tokens, mask)
    for i, length in enumerate((9, 4, 7)):
        alone = tokens[i : i + 1, :length]
        assert_close(logits(model, weights, alone, everywhere(alone))[0], together[i])


@every_kernel
def test_without_positions_the_order_does_not_matter(kernel):
    model = dataclasses.replace(MODEL, kernel=kernel)
    weights, tokens = drawn(model), sequences()
    order = jnp.array(np.random.default_rng(1).permutation(9))
    mask = jnp.array(np.random.default_rng(2).random((3, 9)) < 0.7)
    moved = logits(model, weights, tokens[:, order], mask[:, order])
    assert abs(moved - logits(model, weights, tokens, mask)).max() > 1e-6
    blind = eqx.tree_at(lambda w: w.position, weights, jnp.zeros_like(weights.position))
    moved = logits(model, blind, tokens[:, order], mask[:, order])
    assert_close(moved, logits(model, blind, tokens, mask), slack=10)


@every_kernel
def test_attention_alone_moves_with_its_tokens(kernel):
    model = dataclasses.replace(MODEL, kernel=kernel)
    block = drawn(model).blocks[0]
    x = jnp.asarray(np.random.default_rng(3).normal(size=(2, 7, 8)))
    mask, order = jnp.ones((2, 7), bool), jnp.array([3, 1, 6, 0, 2, 5, 4])
    update = classifier.attention(model, block, x, mask)
    moved = classifier.attention(model, block, x[:, order], mask)
    assert_close(moved, update[:, order], slack=10)


def test_heads_are_scaled_by_their_width():
    """One head of width D and equal halves of two heads differ by the scale alone."""
    block = drawn().blocks[0]
    half = jnp.tile(jnp.asarray(np.random.default_rng(4).normal(size=(8, 4))), 2)
    block = eqx.tree_at(lambda b: (b.query, b.key), block, (half, half))
    x, mask = (
        jnp.asarray(np.random.default_rng(5).normal(size=(1, 6, 8))),
        jnp.ones((1, 6), bool),
    )
    two = classifier.attention(MODEL, block, x, mask)
    # One head sums both halves, 2 q·k, over √8 where the two had q·k over √4.
    smaller = eqx.tree_at(lambda b: b.query, block, half / 2**0.5)
    one = classifier.attention(dataclasses.replace(MODEL, heads=1), smaller, x, mask)
    assert_close(one, two, slack=10)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_the_logits_have_the_precision_of_the_weights(dtype):
    weights = jax.tree.map(lambda x: x.astype(dtype), drawn())
    tokens, keys = sequences(), jax.random.split(jax.random.key(0), 3)
    for found in (
        logits(MODEL, weights, tokens, everywhere(tokens)),
        logits(MODEL, weights, tokens, everywhere(tokens), keys=keys),
    ):
        assert found.dtype == dtype


def test_initial_weights_have_the_stated_scales():
    model = Classifier(dimension=256, hidden=300)
    weights = model.init(key=jax.random.key(1), vocabulary=200, length=150, classes=2)
    spread = {
        0.02: [weights.embedding, weights.position],
        256**-0.5: [weights.blocks[0].query, weights.blocks[1].mlp_in.matrix],
        300**-0.5: [weights.blocks[1].mlp_out.matrix],
    }
    for scale, parts in spread.items():
        for part in parts:
            assert abs(part.std() / scale - 1) < 0.05
    rows = jnp.concatenate([block.query for block in weights.blocks]).reshape(2, -1)
    assert abs(jnp.corrcoef(rows)[0, 1]) < 0.02
    assert len(weights.blocks) == model.layers


# --- dropout -------------------------------------------------------------------------


def test_dropout_is_off_without_keys_and_at_rate_0():
    weights, tokens = drawn(), sequences()
    mask, keys = everywhere(tokens), jax.random.split(jax.random.key(0), 3)
    truth = logits(MODEL, weights, tokens, mask)
    never = dataclasses.replace(MODEL, dropout=0.0)
    assert_close(logits(never, weights, tokens, mask, keys=keys), truth)
    assert abs(logits(MODEL, weights, tokens, mask, keys=keys) - truth).max() > 1e-4


def test_dropout_is_decided_by_the_key_of_each_sequence():
    weights, tokens = drawn(), sequences()
    mask, keys = everywhere(tokens), jax.random.split(jax.random.key(0), 3)
    truth = logits(MODEL, weights, tokens, mask, keys=keys)
    again = logits(MODEL, weights, tokens, mask, keys=keys)
    assert_close(again, truth, slack=0)
    others = keys.at[1].set(jax.random.key(9))
    changed = abs(logits(MODEL, weights, tokens, mask, keys=others) - truth).max(1)
    assert (changed > 1e-4).tolist() == [False, True, False]


# --- loss and accuracy ---------------------------------------------------------------


def test_loss_and_accuracy_of_written_out_logits():
    found = jnp.log(jnp.array([[0.7, 0.2, 0.1], [0.25, 0.25, 0.5]])) + 3
    labels = jnp.array([0, 1])
    assert_close(cross_entropy(found, labels), -np.log([0.7, 0.25]).mean())
    assert_close(accuracy(found, labels), 0.5)


@pytest.mark.parametrize(
    ("fields", "line"),
    [
        ({"heads": 3}, "dimension = 64: must be a multiple of heads = 3"),
        ({"layers": 0}, "layers = 0: must be at least 1"),
        ({"dropout": 1.0}, "dropout = 1.0: must be less than 1"),
        ({"dropout": -0.1}, "dropout = -0.1: must be at least 0"),
        ({"hidden": 0}, "hidden = 0: must be at least 1"),
    ],
)
def test_a_bad_field_is_one_line(fields, line):
    with pytest.raises(InputError) as caught:
        Classifier(**fields)
    assert str(caught.value) == line


def test_too_long_a_sequence_is_one_line():
    tokens = sequences(length=13)
    with pytest.raises(InputError, match="^length = 13: the model has 12 positions$"):
        classifier.logits(MODEL, drawn(), tokens, everywhere(tokens))


def test_json_brings_it_back():
    model = Classifier(layers=3, kernel="gaussian", dropout=0.25)
    assert from_json(Classifier, to_json(model)) == model

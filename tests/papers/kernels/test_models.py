"""The multi-head layer: its start, its outputs by loops, its targets."""

import dataclasses
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from piste.attention import KERNELS, softmax
from piste.errors import InputError
from piste.papers.kernels.models import (
    KernelLayer,
    attention,
    draw_data_and_weights,
    features,
    multi_head,
    squared_loss,
)
from piste.papers.kernels.tasks import TokenRegression
from piste.testing import assert_close
from piste.values import from_json, to_json
from support import layer_oracle

TASK = TokenRegression(sequences=3, length=4, dimension=6, outputs=2)
MATCHED = KernelLayer(heads=4, width=6, init="matched", values="signed", key_scale=6.0)
every_kernel = pytest.mark.parametrize("kernel", tuple(KERNELS))


def begun(task=TASK, seed=0, **fields):
    fields = {"heads": 3, "width": 5, "values": "random"} | fields
    return draw_data_and_weights(task, KernelLayer(**fields), seed=seed)


def outputs(kernel, weights, tokens):
    return jax.vmap(lambda x: multi_head(KERNELS[kernel], weights, x))(tokens)


@every_kernel
def test_outputs_features_and_loss_are_those_of_loops(kernel):
    data, weights = begun(kernel=kernel)
    truth = layer_oracle.outputs(kernel, weights, data.tokens)
    assert_close(outputs(kernel, weights, data.tokens), truth, slack=10)
    b = features(KERNELS[kernel], weights, data.tokens)
    assert b.shape == (12, 18)
    assert_close(b, layer_oracle.features(kernel, weights, data.tokens), slack=10)
    found = squared_loss(KERNELS[kernel], weights, data)
    assert_close(found, np.array(layer_oracle.loss(kernel, weights, data)), slack=10)


@every_kernel
def test_the_layer_is_linear_in_its_features(kernel):
    data, weights = begun(kernel=kernel)
    b = features(KERNELS[kernel], weights, data.tokens).reshape(12, 3, 6)
    mixed = jnp.einsum("rhd,hdw,hwo->ro", b, weights.value, weights.output)
    found = outputs(kernel, weights, data.tokens)
    assert_close(found.reshape(12, 2), mixed, slack=10)


@every_kernel
def test_the_order_of_tokens_and_of_heads(kernel):
    data, weights = begun(kernel=kernel)
    layer, x = partial(multi_head, KERNELS[kernel]), data.tokens[0]
    order = jnp.array([2, 0, 3, 1])
    assert_close(layer(weights, x[order]), layer(weights, x)[order], slack=10)
    turned = jax.tree.map(lambda matrix: matrix[jnp.array([2, 0, 1])], weights)
    assert_close(layer(turned, x), layer(weights, x), slack=10)


def test_the_scores_are_divided_by_the_root_of_the_width():
    data, weights = begun()
    x = data.tokens[0]
    scores = jnp.einsum("td,hdw,hew,se->hts", x, weights.query, weights.key, x)
    expected = jax.nn.softmax(scores / 5**0.5, axis=-1)
    assert_close(attention(softmax, weights, x), expected, slack=10)


def test_gaussian_scores_are_divided_by_twice_the_root_of_the_width():
    data, weights = begun()
    x = data.tokens[0]
    gap = (x @ weights.query)[:, :, None] - (x @ weights.key)[:, None]
    expected = jnp.exp(-(gap**2).sum(-1) / (2 * 5**0.5))
    assert_close(attention(KERNELS["gaussian"], weights, x), expected, slack=10)


# --- the start -------------------------------------------------------------------------


def moment(matrix):
    return float((np.asarray(matrix) ** 2).mean())


def test_a_random_start_has_the_stated_variances():
    task = TokenRegression(dimension=40, outputs=20)
    fields = {"key_scale": 3.0, "value_scale": 2.0, "output_scale": 0.5}
    _, weights = begun(task, heads=8, width=30, **fields)
    expected = {"query": 9 / 40, "key": 9 / 40, "value": 4 / 40, "output": 0.25 / 30}
    for name, variance in expected.items():
        matrix = getattr(weights, name)
        spread = variance * (2 / matrix.size) ** 0.5
        assert abs(moment(matrix) - variance) < 4 * spread
    size = weights.output.size
    flat = [np.ravel(part)[:size] for part in jax.tree.leaves(weights)]
    correlations = np.corrcoef(flat)[np.triu_indices(4, 1)]
    assert np.abs(correlations).max() < 4 / size**0.5


def test_values_start_at_zero_by_default():
    data, weights = begun(values="zero")
    assert not np.asarray(weights.value).any()
    assert_close(squared_loss(softmax, weights, data), (data.targets**2).sum() / 2)


def test_equal_heads_have_orthonormal_outputs():
    _, weights = begun(output="equal", output_scale=0.3)
    grams = weights.output.swapaxes(1, 2) @ weights.output
    assert_close(grams, jnp.broadcast_to(0.09 * jnp.eye(2), grams.shape), slack=10)


@pytest.mark.parametrize("width", [6, 4, 9])
def test_the_matched_start(width):
    model = dataclasses.replace(MATCHED, heads=50, width=width, value_scale=0.5)
    _, weights = draw_data_and_weights(TASK, model, seed=1)
    least, many = min(width, 6), (50, min(width, 6), min(width, 6))
    key = weights.key if width <= 6 else weights.key.swapaxes(1, 2)
    grams = key.swapaxes(1, 2) @ key
    assert_close(grams, jnp.broadcast_to(36 * jnp.eye(least), many), slack=10)
    offset = weights.query - weights.key
    spread = 0.49 / 6 * (2 / offset.size) ** 0.5
    assert abs(moment(offset) - 0.49 / 6) < 4 * spread
    seen = weights.value @ weights.output
    signs = np.where(np.arange(50) % 2, -1.0, 1.0)
    assert_close(seen[:, -1], np.stack([signs, signs], -1), slack=100)
    rest = seen[:, :-1]
    assert abs(moment(rest) - 0.25 / 6) < 4 * 0.25 / 6 * (2 / rest.size) ** 0.5


def test_matched_softmax_is_saturated_and_matched_gaussian_is_not_flat():
    task = TokenRegression(sequences=4, inputs="sphere")
    data, weights = draw_data_and_weights(
        task, dataclasses.replace(MATCHED, width=8), seed=0
    )

    def own(kernel):
        each = jax.vmap(lambda x: attention(kernel, weights, x))(data.tokens)
        return float(jnp.diagonal(each, axis1=2, axis2=3).mean())

    assert own(softmax) > 0.98
    assert 0.2 < own(KERNELS["gaussian"]) < 0.8


# --- targets ---------------------------------------------------------------------------


def test_a_teacher_is_softmax_with_another_query():
    task = dataclasses.replace(TASK, targets="teacher")
    data, weights = begun(task, kernel="gaussian", key_scale=5.0)
    plain, same = begun(TASK, kernel="gaussian", key_scale=5.0)
    assert_close((data.tokens, weights), (plain.tokens, same), slack=0)
    # Softmax reaches every target: a query exists, so the output spans are the same.
    softmax_data, _ = begun(task, kernel="softmax", key_scale=5.0)
    assert_close(softmax_data, data, slack=0)
    assert squared_loss(softmax, weights, data) > 0.01


@pytest.mark.parametrize("scale", [0.1, 1.0, 6.0])
def test_logits_of_a_teacher_are_of_order_one(scale, monkeypatch):
    seen = []

    def spy(kernel, weights, tokens):
        seen.append(weights)
        return multi_head(kernel, weights, tokens)

    monkeypatch.setattr("piste.papers.kernels.models.kernel_layer.multi_head", spy)
    task = TokenRegression(targets="teacher", inputs="sphere", sequences=20)
    data, weights = draw_data_and_weights(
        task, KernelLayer(values="random", key_scale=scale, heads=30), seed=0
    )
    (teacher,) = seen
    assert_close(teacher.key, weights.key, slack=0)
    assert_close(teacher.value, weights.value, slack=0)
    x = data.tokens.reshape(-1, 8)
    logits = jnp.einsum("td,hdw,hew,se->hts", x, teacher.query, teacher.key, x)
    assert 0.8 < float(jnp.std(logits / 8**0.5)) < 1.25


@pytest.mark.parametrize("kernel", ["softmax", "gaussian"])
@pytest.mark.parametrize("heads", [1, 2, 5], ids=["narrow", "square", "wide"])
def test_the_hardest_target_is_the_last_left_singular_vector(kernel, heads):
    task = TokenRegression(sequences=3, length=4, dimension=6, targets="hardest")
    data, weights = begun(task, kernel=kernel, heads=heads)
    b = layer_oracle.features(kernel, weights, data.tokens)
    y = np.ravel(data.targets)
    eigenvalues = np.linalg.eigvalsh(b @ b.T)
    assert_close(np.linalg.norm(y), 1.0)
    assert abs(y @ b @ b.T @ y - eigenvalues[0]) < 1e-12 * eigenvalues[-1]


# --- batches and mistakes -------------------------------------------------------------


def test_seeds_are_a_batch_and_floats_share_one_program():
    traces = []

    @jax.jit
    def starts(model, seeds):
        traces.append(model)
        return jax.vmap(lambda seed: draw_data_and_weights(TASK, model, seed=seed))(
            seeds
        )

    models = [dataclasses.replace(MATCHED, key_scale=scale) for scale in (1.0, 6.0)]
    batches = [starts(model, jnp.arange(3)) for model in models]
    assert len(traces) == 1
    alone = draw_data_and_weights(TASK, models[1], seed=2)
    assert_close(jax.tree.map(lambda leaf: leaf[2], batches[1]), alone, slack=10)


def test_json_brings_it_back():
    assert from_json(KernelLayer, to_json(MATCHED)) == MATCHED


@pytest.mark.parametrize(
    ("fields", "line"),
    [
        ({"heads": 0}, "heads = 0: must be at least 1"),
        ({"train": "O"}, "train = O: must be one of Q, K, V, QK, QV, KV, QKV"),
        ({"train": ""}, "train = : must be one of Q, K, V, QK, QV, KV, QKV"),
        ({"init": "zero"}, "init = zero: must be one of random, matched"),
        ({"key_scale": 0.0}, "key-scale = 0.0: must be greater than 0"),
    ],
)
def test_a_bad_field_is_one_line(fields, line):
    with pytest.raises(InputError) as caught:
        KernelLayer(**fields)
    assert str(caught.value) == line


@pytest.mark.parametrize(
    ("task", "fields", "line"),
    [
        (
            TokenRegression(targets="teacher"),
            {"values": "zero"},
            "values = zero: must be random or signed for targets of a teacher",
        ),
        (
            TokenRegression(outputs=3),
            {"width": 2, "output": "equal"},
            "width = 2: must be at least outputs = 3 for this start",
        ),
        (
            TokenRegression(outputs=3),
            {"width": 2, "values": "signed"},
            "width = 2: must be at least outputs = 3 for this start",
        ),
    ],
)
def test_a_start_that_cannot_be_is_one_line(task, fields, line):
    with pytest.raises(InputError) as caught:
        begun(task, **fields)
    assert str(caught.value) == line

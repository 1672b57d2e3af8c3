"""The model: its initial weights, its loss and its attention."""

import jax.numpy as jnp
import numpy as np
import pytest

from piste.attention import KERNELS, attend
from piste.papers.signgd.models import TwoLayer, logistic_loss
from piste.streams import Stream, stream
from piste.testing import assert_close


def test_initial_weights_are_normal_of_the_stated_scale():
    model = TwoLayer(key_width=40, value_width=30, init_scale=0.3)
    weights = model.init(key=stream(0, Stream.INIT), dimension=500)
    assert weights.query.shape == weights.key.shape == (40, 500)
    assert weights.value_plus.shape == weights.value_minus.shape == (30, 500)
    matrices = [np.ravel(m) for m in (weights.query, weights.key, weights.value_plus)]
    for entries in matrices:
        variance = 0.3**2 / 500
        spread = variance * (2 / entries.size) ** 0.5
        assert abs((entries**2).mean() - variance) < 4 * spread
    size = min(entries.size for entries in matrices)
    correlations = np.corrcoef([entries[:size] for entries in matrices])
    assert np.abs(correlations[np.triu_indices(3, 1)]).max() < 4 / size**0.5


def test_mean_value_is_the_difference_of_the_class_means():
    model = TwoLayer(key_width=2, value_width=3)
    weights = model.init(key=stream(0, Stream.INIT), dimension=4)
    by_hand = [
        sum(weights.value_plus[r, j] - weights.value_minus[r, j] for r in range(3)) / 3
        for j in range(4)
    ]
    assert_close(weights.mean_value(), jnp.stack(by_hand))


def test_the_loss_is_stable_in_both_tails():
    margins = jnp.array([-1e4, -1.0, 0.0, 1.0, 50.0, 700.0])
    truth = [1e4, np.log1p(np.e), np.log(2), np.log1p(1 / np.e), np.exp(-50)]
    found = np.asarray(logistic_loss(margins))
    np.testing.assert_allclose(found[:5], truth, rtol=1e-14)
    np.testing.assert_allclose(found[5], np.exp(-700.0), rtol=1e-12)


@pytest.mark.parametrize("kernel", KERNELS)
def test_attention_permutes_with_the_keys(kernel):
    rng = np.random.default_rng(0)
    queries, keys, values = (jnp.asarray(rng.normal(size=(4, 3))) for _ in range(3))
    order = jnp.array([2, 0, 3, 1])
    weights = KERNELS[kernel](queries, keys)
    assert (np.asarray(weights) > 0).all() == (kernel not in ("linear", "none"))
    assert_close(KERNELS[kernel](queries, keys[order]), weights[:, order])
    assert_close(
        attend(KERNELS[kernel], queries, keys[order], values[order]),
        attend(KERNELS[kernel], queries, keys, values),
    )


def test_softmax_rows_sum_to_one_and_gaussian_is_one_on_itself():
    rng = np.random.default_rng(1)
    queries, keys = (jnp.asarray(rng.normal(size=(3, 5))) for _ in range(2))
    assert_close(KERNELS["softmax"](queries, keys).sum(1), jnp.ones(3))
    assert_close(jnp.diag(KERNELS["gaussian"](queries, queries)), jnp.ones(3))

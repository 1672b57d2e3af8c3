"""What is dropped: how often, how independently, and decided by the key."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from piste.models.dropout import dropout, keep
from piste.testing import assert_close

SHAPE = (400, 50)


def kept(rate, batch=8, seed=0):
    keys = jax.random.split(jax.random.key(seed), batch)
    return np.asarray(keep(rate, SHAPE, keys=keys))


@pytest.mark.parametrize("rate", [0.0, 0.1, 0.5, 0.99])
def test_the_rate_is_kept_to_five_standard_errors(rate):
    found = kept(rate)
    allowed = 5 * (rate * (1 - rate) / found.size) ** 0.5
    assert abs((~found).mean() - rate) <= allowed


def test_entries_sequences_and_keys_are_independent():
    """Correlations at many shifts are those of independent numbers."""
    found = kept(0.5).reshape(8, -1) - 0.5
    flat, count = found.ravel(), found.size
    for shift in (1, 2, 3, 49, 50, 64, 256, 1024):
        assert abs((flat[shift:] * flat[:-shift]).mean() * 4) < 5 / count**0.5
    between = np.corrcoef(
        np.concatenate([found, kept(0.5, seed=1).reshape(8, -1) - 0.5])
    )
    largest = np.abs(between[np.triu_indices(16, 1)]).max()
    assert largest < 5 / found.shape[1] ** 0.5


def test_runs_of_eight_entries_are_equally_frequent():
    words = np.packbits(kept(0.5).ravel())
    counts = np.bincount(words, minlength=256)
    expected = words.size / 256
    chi_square = ((counts - expected) ** 2 / expected).sum()
    assert abs(chi_square - 255) < 5 * (2 * 255) ** 0.5


def test_the_mean_is_preserved_and_what_is_left_is_scaled():
    keys = jax.random.split(jax.random.key(2), 8)
    found = np.asarray(dropout(jnp.ones((8, *SHAPE)), 0.2, keys=keys))
    assert_close(np.unique(found), np.array([0, 1.25]))
    assert abs(found.mean() - 1) < 5 * (0.25 / found.size) ** 0.5


def test_gradients_pass_where_entries_do():
    keys = jax.random.split(jax.random.key(3), 2)
    x = jnp.asarray(np.random.default_rng(0).normal(size=(2, 30)))
    slope = jax.grad(lambda x: dropout(x, 0.4, keys=keys).sum())(x)
    assert_close(slope, keep(0.4, (30,), keys=keys) / 0.6)


def test_the_same_key_drops_the_same_whatever_the_batch():
    keys = jax.random.split(jax.random.key(4), 5)
    together = keep(0.3, SHAPE, keys=keys)
    assert_close(keep(0.3, SHAPE, keys=keys[3:4])[0], together[3])
    assert (together[0] != together[1]).any()

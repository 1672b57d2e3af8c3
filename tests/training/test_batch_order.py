"""Batches by number: every sample once in an epoch, in an order of its own."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from piste.training.batch_order import batch_of, permuted


def order(seed, count):
    return np.asarray(permuted(jax.random.key(seed), jnp.arange(count), count))


@pytest.mark.parametrize("count", [1, 2, 3, 7, 64, 100, 1000, 4097])
def test_it_is_a_permutation(count):
    assert np.sort(order(0, count)).tolist() == list(range(count))


def test_a_place_alone_leads_where_it_leads_among_all():
    whole = order(3, 1000)
    few = permuted(jax.random.key(3), jnp.array([5, 999]), 1000)
    assert few.tolist() == whole[[5, 999]].tolist()


def test_orders_are_as_random_as_those_of_numpy():
    """Where a number goes, which pairs follow each other, and how many stay in place."""
    count, seeds = 24, 2000
    one = jax.vmap(
        lambda seed: permuted(jax.random.key(seed), jnp.arange(count), count)
    )
    orders = np.asarray(jax.jit(one)(jnp.arange(seeds)))
    expected = seeds / count
    for place in (0, 1, count // 2, count - 1):
        found = np.bincount(orders[:, place], minlength=count)
        chi = ((found - expected) ** 2 / expected).sum()
        assert chi < count - 1 + 5 * (2 * (count - 1)) ** 0.5
    pairs = orders[:, 0] * count + orders[:, 1]
    found = np.bincount(pairs, minlength=count**2)[~np.eye(count, dtype=bool).ravel()]
    expected = seeds / found.size
    chi = ((found - expected) ** 2 / expected).sum()
    assert chi < found.size - 1 + 5 * (2 * (found.size - 1)) ** 0.5
    fixed = (orders == np.arange(count)).sum(1)
    assert abs(fixed.mean() - 1) < 5 * fixed.std() / seeds**0.5


def test_an_epoch_takes_every_sample_once_and_the_next_in_another_order():
    key = jax.random.key(1)
    batches = np.stack([batch_of(key, step, 23, 5) for step in range(8)])
    first, second = batches.reshape(2, 20)
    for epoch in (first, second):
        assert len(set(epoch.tolist())) == 20 and epoch.max() < 23
    assert first.tolist() != second.tolist()
    traced = jax.jit(lambda step: batch_of(key, step, 23, 5))(6)
    assert traced.tolist() == batches[6].tolist()

"""Which samples a step takes: every epoch has an order of its own, known by its number.

An order of 100,000 samples takes 35 ms to sort out, which is more than a training step,
and a step needs only a batch of it. So an order is a permutation that is computed place
by place: a Feistel network on as many bits as the count has, whose results beyond the
count are sent through again until they are inside it.
"""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Int, Key, UInt32

ROUNDS = 8
"""Rounds of the network; four already pass for random (Luby and Rackoff 1988)."""


def batch_of(
    key: Key[Array, ""], step: Int[Array, ""] | int, count: int, batch: int
) -> Int[Array, " batch"]:
    """The samples of a step: no sample comes twice in an epoch.

    What is left over at the end of an epoch, less than a batch, is not taken.
    """
    epoch, number = jnp.divmod(step, count // batch)
    places = number * batch + jnp.arange(batch)
    return permuted(jax.random.fold_in(key, epoch), places, count)


def permuted(
    key: Key[Array, ""], places: Int[Array, " place"], count: int
) -> Int[Array, " place"]:
    """Where some places of a random permutation of ``count`` numbers lead to.

    >>> found = permuted(jax.random.key(0), jnp.arange(10), 10)
    >>> sorted(found.tolist()) == list(range(10))
    True
    """
    half = max(1, -(-(count - 1).bit_length() // 2))
    keys = jax.random.bits(key, (ROUNDS,), jnp.uint32)

    def again(numbers):
        return jnp.where(numbers >= count, _network(keys, numbers, half), numbers)

    found = _network(keys, places.astype(jnp.uint32), half)
    found = jax.lax.while_loop(lambda n: (n >= count).any(), again, found)
    return found.astype(places.dtype)


def _network(
    keys: UInt32[Array, " round"], numbers: UInt32[Array, " place"], half: int
) -> UInt32[Array, " place"]:
    """A permutation of all numbers of twice ``half`` bits."""
    mask = jnp.uint32((1 << half) - 1)
    left, right = numbers >> half, numbers & mask
    for key in keys:
        left, right = right, left ^ (_mixed(right ^ key) & mask)
    return (left << half) | right


def _mixed(bits: UInt32[Array, " place"]) -> UInt32[Array, " place"]:
    """Spread every bit over all others (the finaliser of MurmurHash3)."""
    bits = (bits ^ (bits >> 16)) * jnp.uint32(0x85EBCA6B)
    bits = (bits ^ (bits >> 13)) * jnp.uint32(0xC2B2AE35)
    return bits ^ (bits >> 16)

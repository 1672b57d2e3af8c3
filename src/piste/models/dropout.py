r"""Dropout whose random numbers cost less than what they drop.

JAX's own generator takes 8 ns a number on a CPU, which is a tenth of a training step. The
decision to drop an entry needs much less than a cryptographic mixing: two rounds of an
integer hash of the entry's number, each with a random word of the key.
"""

import math

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Key, UInt32

Rate = float | Float[Array, ""]


def dropout(
    x: Float[Array, "batch *rest"], rate: Rate, *, keys: Key[Array, " batch"]
) -> Float[Array, "batch *rest"]:
    r"""Set entries to 0 with probability $p$ and divide the others by $1-p$.

    Every sequence has a key of its own, so what is dropped does not depend on how a batch
    is shared out over devices.
    """
    kept = keep(rate, x.shape[1:], keys=keys)
    return jnp.where(kept, x * jnp.asarray(1 / (1 - rate), x.dtype), 0)


def keep(
    rate: Rate, shape: tuple[int, ...], *, keys: Key[Array, " batch"]
) -> Bool[Array, "batch ..."]:
    r"""Independent truth values, each false with probability $p$ (to $2^{-32}$)."""
    count = math.prod(shape)
    words = jax.vmap(lambda key: jax.random.bits(key, (2,), "uint32"))(keys)
    numbers = jax.lax.iota(jnp.uint32, count)
    hashed = _mixed(_mixed(numbers ^ words[:, :1]) ^ words[:, 1:])
    threshold = jnp.asarray(rate * 2.0**32).astype(jnp.uint32)
    return (hashed >= threshold).reshape(-1, *shape)


def _mixed(x: UInt32[Array, "*any"]) -> UInt32[Array, "*any"]:
    """Wellons' `lowbias32`: a bijection in which every bit depends on every other."""
    x = (x ^ (x >> 16)) * jnp.uint32(0x7FEB352D)
    x = (x ^ (x >> 15)) * jnp.uint32(0x846CA68B)
    return x ^ (x >> 16)

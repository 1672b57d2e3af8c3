r"""Attention of several heads over a batch of padded sequences, for every kernel.

**Padding.** A kernel's weights are $g(q_i,k_j)$ as they are, divided by their sum over the
keys or by the number of keys; its ``divides_by`` says which. A
padding key has $g = 0$ and does not count. So, for any kernel: multiply its weights by the
mask, then divide them by their sum over $j$, or multiply by $n$ over the number of real
keys, or leave them. A query without a real key attends to nothing and gets 0.
"""

from collections.abc import Callable

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from .blockwise import centred, gaussian_attention, softmax_attention
from .kernels import KERNELS, KEY_COUNT, KEY_SUM

Heads = Float[Array, "batch head position width"]
Mask = Bool[Array, "batch position"]


MAX_PLAIN_POSITIONS = 64
"""Positions up to which all weights are written down, which is faster than blocks."""


def attend_heads(
    kernel: str, queries: Heads, keys: Heads, values: Heads, mask: Mask
) -> Heads:
    """Attend in every head of every sequence, in blocks if the kernel has such a form."""
    if kernel not in FAST or queries.shape[2] <= MAX_PLAIN_POSITIONS:
        return plain_heads(kernel, queries, keys, values, mask)
    real = jnp.repeat(mask, queries.shape[1], 0)
    flat = (x.reshape(-1, *x.shape[2:]) for x in (queries, keys, values))
    return FAST[kernel](*flat, real).reshape(queries.shape)


def _gaussian_rows(queries, keys, values, real):
    # The softmax of q·k - |k|²/2, as an inner product of one more coordinate.
    queries, keys = centred(queries, keys, real)
    squares = (keys**2).sum(-1, keepdims=True)
    queries = jnp.concatenate([queries, jnp.ones_like(queries[..., :1])], -1)
    keys = jnp.concatenate([keys, -squares / 2], -1)
    return softmax_attention(queries, keys, values, real)


def _gaussian_mean(queries, keys, values, real):
    return gaussian_attention(queries, keys, values, real) / _count(real)[:, None, None]


FAST: dict[str, Callable] = {
    "softmax": softmax_attention,
    "gaussian": gaussian_attention,
    "gaussian-rows": _gaussian_rows,
    "gaussian-mean": _gaussian_mean,
}
"""Kernels with a blockwise form; the others take :func:`plain_heads`."""


def plain_heads(
    kernel: str, queries: Heads, keys: Heads, values: Heads, mask: Mask
) -> Heads:
    """The same for any kernel, with all weights of all heads in memory at once."""
    keys = _without_padding(keys, mask)
    weights = jax.vmap(jax.vmap(KERNELS[kernel]))(queries, keys)
    return masked(weights, mask, KERNELS[kernel].divides_by) @ values


def _without_padding(keys: Heads, mask: Mask) -> Heads:
    """Put a real key in the place of every padding key.

    A padding key that scores far above all real ones would take the whole sum, and the
    weights of the others would be rounded to 0 before they are divided anew. One that
    lies far away would move the centre that distances are measured from.
    """
    first = jnp.argmax(mask, -1)[:, None, None, None]
    real = jnp.take_along_axis(keys, first, axis=2)
    return jnp.where(mask[:, None, :, None], keys, real)


def masked(
    weights: Float[Array, "batch head query key"],
    mask: Bool[Array, "batch key"],
    divides_by: str,
) -> Float[Array, "batch head query key"]:
    """The weights that the kernel would have without the padding keys."""
    weights = jnp.where(mask[:, None, None], weights, 0)
    if divides_by == KEY_SUM:
        sums = weights.sum(-1, keepdims=True)
        return weights / jnp.where(sums == 0, 1, sums)
    if divides_by == KEY_COUNT:
        scale = mask.shape[-1] / _count(mask)
        return weights * scale.astype(weights.dtype)[:, None, None, None]
    return weights


def _count(mask: Bool[Array, "batch key"]) -> Int[Array, " batch"]:
    return jnp.maximum(mask.sum(-1), 1)

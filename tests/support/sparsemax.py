"""A kernel whose weights add up to 1, but not by a division."""

import jax.numpy as jnp


def sparsemax(queries, keys):
    """The nearest point of the simplex to the scores (Martins and Astudillo 2016)."""
    scores = queries @ keys.T
    ordered = -jnp.sort(-scores, axis=-1)
    sums = jnp.cumsum(ordered, -1)
    count = jnp.arange(1, keys.shape[0] + 1, dtype=scores.dtype)
    size = (1 + count * ordered > sums).sum(-1, keepdims=True)
    cut = (jnp.take_along_axis(sums, size - 1, -1) - 1) / size.astype(scores.dtype)
    return jnp.maximum(scores - cut, 0)

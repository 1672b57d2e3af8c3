"""Gradient entries whose sign arithmetic decided, for gradients by differentiation.

The reduced forms count theirs by the closed form (``closed_form.near_zero``).
"""

from collections.abc import Callable

import jax.numpy as jnp
from jaxtyping import Array, Float, PyTree

from piste.models import TwoLayerWeights


def near_zero_entries(
    per_sample: Callable[[PyTree], TwoLayerWeights], params: PyTree, start: PyTree
) -> Float[Array, " layer"]:
    r"""Count the entries within rounding of zero, for the value, the query and the key.

    ``per_sample`` gives what each of $n$ samples adds to the gradient, along a first
    axis. An entry counts when $|\sum_i g_i| \leq n\epsilon\sum_i|g_i|$, the bound on the
    rounding error of the sum, and also where all parts are zero, if it had a gradient at
    the ``start``: then everything underflowed or cancelled.
    """
    now, first = per_sample(params), per_sample(start)
    parts = ((w.value_plus, w.query, w.key) for w in (now, first))
    return jnp.stack([_count(*pair) for pair in zip(*parts, strict=True)])


def _count(
    parts: Float[Array, "sample neuron dimension"],
    first: Float[Array, "sample neuron dimension"],
) -> Float[Array, ""]:
    allowed = len(parts) * jnp.finfo(parts.dtype).eps * jnp.abs(parts).sum(0)
    close = jnp.abs(parts.sum(0)) <= allowed
    return (close & (first != 0).any(0)).sum().astype(parts.dtype)

"""Count gradient entries whose sign is left to rounding, for gradients by autodiff.

The reduced forms count theirs by the closed form (``closed_form.count_near_zero``).
"""

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float


class SampleGradients(eqx.Module):
    """What each sample adds to a gradient; one value neuron stands for those of a head."""

    value: Float[Array, "sample head dimension"]
    query: Float[Array, "sample neuron dimension"]
    key: Float[Array, "sample neuron dimension"]


def count_near_zero_entries(
    parts: SampleGradients, tokens: Float[Array, "sample token dimension"]
) -> Float[Array, " layer"]:
    r"""Count the entries within rounding of zero, for the value, the query and the key.

    The ``parts`` $g_i$ are what each of $n$ samples adds to the gradient. An entry counts
    when $|\sum_i g_i| \leq n\epsilon\sum_i|g_i|$, the bound on the rounding error of the
    sum; so do sums that vanish because all parts underflowed or cancelled. Coordinates
    that are zero in all ``tokens`` have no gradient to be undecided about.
    """
    present = (tokens != 0).any((0, 1))
    layers = (parts.value, parts.query, parts.key)
    return jnp.stack([_count(layer, present) for layer in layers])


def _count(
    parts: Float[Array, "sample neuron dimension"], present: Bool[Array, " dimension"]
) -> Float[Array, ""]:
    allowed = len(parts) * jnp.finfo(parts.dtype).eps * jnp.abs(parts).sum(0)
    close = jnp.abs(parts.sum(0)) <= allowed
    return (close & present).sum().astype(parts.dtype)

"""Attention kernels and the one function through which every model attends."""

from collections.abc import Callable

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

Kernel = Callable[
    [Float[Array, "query width"], Float[Array, "key width"]], Float[Array, "query key"]
]


def softmax(
    queries: Float[Array, "query width"], keys: Float[Array, "key width"]
) -> Float[Array, "query key"]:
    """Row-stochastic weights from inner products."""
    return jax.nn.softmax(queries @ keys.T, axis=-1)


def gaussian(
    queries: Float[Array, "query width"], keys: Float[Array, "key width"]
) -> Float[Array, "query key"]:
    r"""Weights $\exp(-\|q-k\|^2/2)$, not normalised."""
    return jnp.exp(-squared_distances(queries, keys) / 2)


def squared_distances(
    queries: Float[Array, "query width"], keys: Float[Array, "key width"]
) -> Float[Array, "query key"]:
    """Squared Euclidean distances between all queries and keys."""
    norms = (queries**2).sum(-1)[:, None] + (keys**2).sum(-1)
    return norms - 2 * queries @ keys.T


KERNELS: dict[str, Kernel] = {"softmax": softmax, "gaussian": gaussian}


def attend(
    kernel: Kernel,
    queries: Float[Array, "query width"],
    keys: Float[Array, "key width"],
    values: Float[Array, "key channel"],
) -> Float[Array, "query channel"]:
    """Average the values of all keys with the kernel's weights."""
    return kernel(queries, keys) @ values

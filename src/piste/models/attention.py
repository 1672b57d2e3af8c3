r"""Attention kernels and the one function through which every model attends.

A kernel turns queries and keys into weights. It takes them as they are: a model that
wants $1/\sqrt d$ in its scores scales both by $d^{-1/4}$.
"""

import re
from collections.abc import Callable

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from piste.values import field_error

Kernel = Callable[
    [Float[Array, "query width"], Float[Array, "key width"]], Float[Array, "query key"]
]


def softmax(
    queries: Float[Array, "query width"], keys: Float[Array, "key width"]
) -> Float[Array, "query key"]:
    """Row-stochastic weights from inner products."""
    return jax.nn.softmax(queries @ keys.T, axis=-1)


def two_key_softmax(
    queries: Float[Array, "query width"], keys: Float[Array, "two width"]
) -> Float[Array, "query two"]:
    r"""Softmax over two keys, whose derivative $s_1 s_2$ keeps all its digits.

    The derivative of the usual softmax has $1 - s_1$ in place of $s_2$, which is zero as
    soon as $s_2 < 10^{-16}$; this one goes down to $10^{-308}$.
    """
    z = queries @ (keys[0] - keys[1])
    return jnp.stack([_logistic(z), _logistic(-z)], axis=-1)


@jax.custom_jvp
def _logistic(z: Float[Array, " query"]) -> Float[Array, " query"]:
    return jnp.exp(jax.nn.log_sigmoid(z))


@_logistic.defjvp
def _logistic_jvp(primals, tangents):
    (z,), (change,) = primals, tangents
    slope = jnp.exp(jax.nn.log_sigmoid(z) + jax.nn.log_sigmoid(-z))
    return _logistic(z), slope * change


def gaussian(
    queries: Float[Array, "query width"], keys: Float[Array, "key width"]
) -> Float[Array, "query key"]:
    r"""Weights $\exp(-\|q-k\|^2/2)$, not normalised."""
    return jnp.exp(-squared_distances(queries, keys) / 2)


def gaussian_rows(
    queries: Float[Array, "query width"], keys: Float[Array, "key width"]
) -> Float[Array, "query key"]:
    r"""Gaussian weights divided by their sum over the keys.

    $\|q\|^2$ cancels: this is softmax with a bias of $-\|k\|^2/2$ for every key.
    """
    return jax.nn.softmax(queries @ keys.T - (keys**2).sum(-1) / 2, axis=-1)


def gaussian_mean(
    queries: Float[Array, "query width"], keys: Float[Array, "key width"]
) -> Float[Array, "query key"]:
    r"""Weights $\exp(-\|q-k\|^2/2)/n$ for $n$ keys: their mean, whatever the length."""
    return gaussian(queries, keys) / keys.shape[0]


def linear(
    queries: Float[Array, "query width"], keys: Float[Array, "key width"]
) -> Float[Array, "query key"]:
    r"""The scores $\langle q, k\rangle$ themselves: of any sign, not normalised."""
    return queries @ keys.T


def squared_distances(
    queries: Float[Array, "query width"], keys: Float[Array, "key width"]
) -> Float[Array, "query key"]:
    """Squared Euclidean distances between all queries and keys, never negative."""
    # Distances ignore a common shift, rounding does not: put the keys around zero.
    centre = jax.lax.stop_gradient(keys.mean(0))
    queries, keys = queries - centre, keys - centre
    norms = (queries**2).sum(-1)[:, None] + (keys**2).sum(-1)
    squares = norms - 2 * queries @ keys.T
    # A maximum would also clip the derivatives where a query meets its key.
    return squares + jax.lax.stop_gradient(jnp.maximum(-squares, 0))


KERNELS: dict[str, Kernel] = {
    "softmax": softmax,
    "gaussian": gaussian,
    "gaussian-rows": gaussian_rows,
    "gaussian-mean": gaussian_mean,
    "linear": linear,
}
"""All kernels by name; :func:`add_kernel` adds to it."""


def add_kernel(name: str, function: Kernel | None = None):
    r"""Add a kernel that every model then takes by its name; also as a decorator.

    It sees the queries and the keys of one head and one sequence, and must be
    differentiable.

    >>> @add_kernel("cauchy")
    ... def cauchy(queries, keys):
    ...     return 1 / (1 + squared_distances(queries, keys))
    >>> float(KERNELS["cauchy"](jnp.zeros((1, 2)), jnp.ones((1, 2)))[0, 0])
    0.3333333333333333
    >>> del KERNELS["cauchy"]
    """
    if function is None:
        return lambda given: add_kernel(name, given)
    if not isinstance(name, str) or not re.fullmatch(
        r"[a-z][a-z0-9]*(-[a-z0-9]+)*", name
    ):
        raise field_error("kernel", name, "must be words of a–z and 0–9, joined by -")
    if name in KERNELS:
        raise field_error("kernel", name, "is there already; choose another name")
    _check_shape(name, function)
    KERNELS[name] = function
    return function


def _check_shape(name: str, function: Kernel) -> None:
    queries, keys = jnp.zeros((2, 3)), jnp.zeros((4, 3))
    shape = getattr(jax.eval_shape(function, queries, keys), "shape", None)
    if shape != (2, 4):
        rule = f"2 queries and 4 keys must give weights of shape (2, 4), not {shape}"
        raise field_error("kernel", name, rule)


def attend(
    kernel: Kernel,
    queries: Float[Array, "query width"],
    keys: Float[Array, "key width"],
    values: Float[Array, "key channel"],
) -> Float[Array, "query channel"]:
    """Add up the values of all keys with the kernel's weights."""
    return kernel(queries, keys) @ values

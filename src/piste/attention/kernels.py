r"""Attention kernels and the one function through which every model attends.

A kernel turns queries and keys into weights. It takes them as they are: a model that
wants $1/\sqrt d$ in its scores scales both by $d^{-1/4}$.
"""

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from piste.errors import field_error
from piste.registry import Family

KernelFunction = Callable[
    [Float[Array, "query width"], Float[Array, "key width"]], Float[Array, "query key"]
]
"""The queries and the keys of one head and one sequence become weights."""

# These words are part of the address of stored runs of a kernel that is not ours.
NOTHING = "alone"
"""A weight depends on its own query and key alone, and is divided by nothing."""
KEY_SUM = "sum"
"""Each weight is divided by the sum of the weights over all keys."""
KEY_COUNT = "count"
"""Each weight is divided by the number of keys."""
OTHER_KEYS = "other"
"""A weight depends on the other keys in another way: padding cannot be skipped."""


@dataclass(frozen=True)
class Kernel:
    """How queries and keys become weights, and what that means for padding."""

    function: KernelFunction
    """Pure and differentiable, of one head and one sequence."""
    normalised: bool = False
    """Whether the weights of a query add up to 1."""
    divisor: str = ""
    """One of the four constants above; empty to find out by leaving keys away."""

    def __call__(
        self, queries: Float[Array, "query width"], keys: Float[Array, "key width"]
    ) -> Float[Array, "query key"]:
        """The weights of all keys for all queries."""
        return self.function(queries, keys)

    @property
    def divides_by(self) -> str:
        """What the weights are divided by: a padding key must not count in it."""
        return self.divisor or _divisor(self.function)


KERNELS: Family[Kernel] = Family("kernel")
"""All kernels by name; :func:`kernel` adds to it."""


def kernel(
    name: str, *, normalised: bool = False, divisor: str = ""
) -> Callable[[KernelFunction], KernelFunction]:
    r"""Add a function as a kernel that every model then takes by its name.

    It sees the queries and the keys of one head and one sequence, must be differentiable,
    and says whether the weights of a query add up to 1 (``normalised``).

    >>> @kernel("cauchy")
    ... def cauchy(queries, keys):
    ...     return 1 / (1 + squared_distances(queries, keys))
    >>> float(KERNELS["cauchy"](jnp.zeros((1, 2)), jnp.ones((1, 2)))[0, 0])
    0.3333333333333333
    >>> KERNELS["cauchy"].divides_by
    'alone'
    >>> KERNELS.remove("cauchy")
    """

    def add(function: KernelFunction) -> KernelFunction:
        _check_shape(name, function)
        KERNELS.add(name, Kernel(function, normalised, divisor), function)
        return function

    return add


def _check_shape(name: str, function: KernelFunction) -> None:
    # Shapes alone: numbers would start JAX before it is told how many devices to use.
    sizes = (jax.ShapeDtypeStruct((rows, 3), jnp.float32) for rows in (2, 4))
    shape = getattr(jax.eval_shape(function, *sizes), "shape", None)
    if shape != (2, 4):
        expected = (
            f"2 queries and 4 keys must give weights of shape (2, 4), not {shape}"
        )
        raise field_error("kernel", name, expected)


def check_normalised(name: str) -> None:
    """Refuse a kernel whose weights do not do what it says of their sums."""
    found = KERNELS[name]
    if not found.divisor and (fault := normalised_fault(found)):
        raise field_error("kernel", name, fault)


@functools.cache
def normalised_fault(kernel: Kernel) -> str:
    """What is wrong with a kernel's word about its sums; empty if it is right."""
    with jax.ensure_compile_time_eval(), jax.enable_x64(True):
        parts = [np.asarray(kernel(*drawn).sum(-1)) for drawn in _examples()]
    sums = np.concatenate(parts)
    off = np.abs(sums - 1)
    adds_up = bool((off <= 1e-5).all())
    if adds_up and not kernel.normalised:
        return "its weights add up to 1 for every query; must say normalised=True"
    if kernel.normalised and not adds_up:
        worst = sums[np.argmax(np.nan_to_num(off, nan=np.inf))]
        return f"must add up to 1 for every query, as it says; adds up to {worst:.3g}"
    return ""


def _examples() -> list[tuple[Any, Any]]:
    """Queries and keys of several sizes: a kernel may cut off what is large or small."""
    random = np.random.default_rng(0)
    queries, keys = random.standard_normal((2, 3)), random.standard_normal((5, 3))
    scales = 0.1, 1.0, 3.0
    return [(jnp.asarray(s * queries), jnp.asarray(s * keys)) for s in scales]


@functools.cache
def _divisor(function: KernelFunction) -> str:
    """Find out by leaving keys away what the weights are divided by."""
    with jax.ensure_compile_time_eval(), jax.enable_x64(True):
        pairs = [
            (np.asarray(function(q, keys[:few])), np.asarray(function(q, keys)))
            for q, keys in _examples()
            for few in (2, 4)
        ]
    for word, shorten in _SHORTENED.items():
        if all(np.allclose(few, shorten(every, few.shape[1])) for few, every in pairs):
            return word
    return OTHER_KEYS


def _renormalised(weights: np.ndarray, few: int) -> np.ndarray:
    sums = weights[:, :few].sum(-1, keepdims=True)
    return weights[:, :few] / np.where(sums == 0, 1, sums)


_SHORTENED: dict[str, Callable[[np.ndarray, int], np.ndarray]] = {
    NOTHING: lambda weights, few: weights[:, :few],
    KEY_SUM: _renormalised,
    KEY_COUNT: lambda weights, few: weights[:, :few] * weights.shape[1] / few,
}
"""What the first few weights become when all other keys are left away."""


def squared_distances(
    queries: Float[Array, "query width"], keys: Float[Array, "key width"]
) -> Float[Array, "query key"]:
    """Squared Euclidean distances between all queries and keys, never negative."""
    queries, keys = _centred(queries, keys)
    norms = (queries**2).sum(-1)[:, None] + (keys**2).sum(-1)
    squares = norms - 2 * queries @ keys.T
    # A maximum would also clip the derivatives where a query meets its key.
    return squares + jax.lax.stop_gradient(jnp.maximum(-squares, 0))


def _centred(queries: Array, keys: Array) -> tuple[Array, Array]:
    """Put the keys around zero: distances ignore a common shift, rounding does not."""
    centre = jax.lax.stop_gradient(keys.mean(0))
    return queries - centre, keys - centre


@kernel("softmax", normalised=True, divisor=KEY_SUM)
def softmax(
    queries: Float[Array, "query width"], keys: Float[Array, "key width"]
) -> Float[Array, "query key"]:
    """Row-stochastic weights from inner products."""
    return jax.nn.softmax(queries @ keys.T, axis=-1)


@kernel("gaussian", divisor=NOTHING)
def gaussian(
    queries: Float[Array, "query width"], keys: Float[Array, "key width"]
) -> Float[Array, "query key"]:
    r"""Weights $\exp(-\|q-k\|^2/2)$, not normalised."""
    return jnp.exp(-squared_distances(queries, keys) / 2)


@kernel("none", divisor=NOTHING)
def none(
    queries: Float[Array, "query width"], keys: Float[Array, "key width"]
) -> Float[Array, "query key"]:
    """No attention at all: every weight is 0. A control, beside any other kernel."""
    return jnp.zeros((len(queries), len(keys)), queries.dtype)


@kernel("gaussian-rows", normalised=True, divisor=KEY_SUM)
def gaussian_rows(
    queries: Float[Array, "query width"], keys: Float[Array, "key width"]
) -> Float[Array, "query key"]:
    r"""Gaussian weights divided by their sum over the keys.

    $\|q\|^2$ cancels: this is softmax with a bias of $-\|k\|^2/2$ for every key.
    """
    queries, keys = _centred(queries, keys)
    return jax.nn.softmax(queries @ keys.T - (keys**2).sum(-1) / 2, axis=-1)


@kernel("gaussian-mean", divisor=KEY_COUNT)
def gaussian_mean(
    queries: Float[Array, "query width"], keys: Float[Array, "key width"]
) -> Float[Array, "query key"]:
    r"""Weights $\exp(-\|q-k\|^2/2)/n$ for $n$ keys: their mean, whatever the length."""
    return gaussian(queries, keys) / keys.shape[0]


@kernel("linear", divisor=NOTHING)
def linear(
    queries: Float[Array, "query width"], keys: Float[Array, "key width"]
) -> Float[Array, "query key"]:
    r"""The scores $\langle q, k\rangle$ themselves: of any sign, not normalised."""
    return queries @ keys.T


def attend(
    kernel: KernelFunction,
    queries: Float[Array, "query width"],
    keys: Float[Array, "key width"],
    values: Float[Array, "key channel"],
) -> Float[Array, "query channel"]:
    """Add up the values of all keys with the kernel's weights."""
    return kernel(queries, keys) @ values

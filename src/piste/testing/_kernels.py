"""The contract of an attention kernel."""

import jax
import jax.numpy as jnp
import numpy as np

from piste.attention.heads import plain_heads
from piste.attention.kernels import KERNELS, OTHER_KEYS, Kernel, normalised_fault

from ._contract import alike, finite, require, same

SHAPES = (2, 5, 3), (4, 2, 3), (3, 3, 1), (1, 1, 2)
"""Numbers of queries and keys, and their width."""
STEP = 1e-5
"""Step of central differences."""


def check_kernel(name: str) -> None:
    """Check a kernel, ours or one that was added with :func:`piste.attention.kernel`.

    It must give one weight per query and key, in the precision of its inputs, be pure,
    work under ``jit`` and ``vmap``, have finite gradients (also where a query is its key,
    and where all are 0) that agree with finite differences, and keep its word on whether
    the weights of a query add up to 1. If padding can be left out of it, what is left
    must be its weights on the shorter sequence.

    >>> check_kernel("softmax")
    """
    require(
        name in KERNELS, f"kernel {name}: is not known; add it by @kernel('{name}')"
    )
    kernel, about = KERNELS[name], f"kernel {name}"
    with jax.enable_x64(True):
        for dtype in ("float64", "float32"):
            for shape in SHAPES:
                _check_weights(kernel, about, *_drawn(shape, dtype))
            _check_transformed(kernel, about, *_drawn(SHAPES[0], dtype))
        _check_gradient(kernel, about)
        fault = normalised_fault(kernel)
        require(not fault, f"{about}: {fault}")
        _check_padding(name, about)


def _drawn(shape: tuple[int, int, int], dtype: str = "float64", seed: int = 0):
    queries, keys, width = shape
    random = np.random.default_rng(seed)
    drawn = random.standard_normal((queries + keys, width))
    return jnp.asarray(drawn[:queries], dtype), jnp.asarray(drawn[queries:], dtype)


def _check_weights(kernel: Kernel, about: str, queries, keys) -> None:
    found = kernel.function(queries, keys)
    shape, kind = (len(queries), len(keys)), queries.dtype.name
    require(
        getattr(found, "shape", None) == shape,
        f"{about}: {shape[0]} queries and {shape[1]} keys must give weights of shape "
        f"{shape}, not {getattr(found, 'shape', None)}",
    )
    require(
        found.dtype == queries.dtype,
        f"{about}: turns {kind} into {found.dtype}; must keep the type of its inputs",
    )
    require(finite(found), f"{about}: its weights are not finite in {kind}")
    require(
        alike(found, kernel(queries, keys)),
        f"{about}: gives other weights when called again; must be pure",
    )


def _check_transformed(kernel: Kernel, about: str, queries, keys) -> None:
    found = kernel(queries, keys)
    same(jax.jit(kernel)(queries, keys), found, f"{about}: differs under jit")
    many = jax.vmap(kernel)(jnp.stack([queries, 2 * queries]), jnp.stack([keys, keys]))
    one_by_one = jnp.stack([found, kernel(2 * queries, keys)])
    same(many, one_by_one, f"{about}: differs under vmap")


def _check_gradient(kernel: Kernel, about: str) -> None:
    points = {
        "at random queries and keys": _drawn((2, 5, 3)),
        "where a query is equal to a key": _equal(),
        "where all queries and keys are 0": (jnp.zeros((2, 3)), jnp.zeros((5, 3))),
    }
    mix = jnp.asarray(np.random.default_rng(1).standard_normal((2, 5)))

    def mixed(pair):
        return (mix * kernel(*pair)).sum()

    for where, pair in points.items():
        slope = jax.grad(mixed)(pair)
        require(finite(slope), f"{about}: its gradient is not finite {where}")
    _check_differences(mixed, _drawn((2, 5, 3)), about)


def _equal():
    queries, keys = _drawn((2, 5, 3))
    return keys[:2], keys


def _check_differences(mixed, pair, about: str) -> None:
    slope = jax.grad(mixed)(pair)
    way = _drawn((2, 5, 3), seed=2)
    there, back = (
        mixed(jax.tree.map(lambda x, v, s=sign: x + s * STEP * v, pair, way))
        for sign in (1, -1)
    )
    measured = float(there - back) / (2 * STEP)
    given = sum(float((g * v).sum()) for g, v in zip(slope, way, strict=True))
    allowed = 1e-6 * max(1.0, abs(measured))
    require(
        abs(measured - given) <= allowed,
        f"{about}: its gradient is {given:.6g} in a direction in which finite "
        f"differences are {measured:.6g}",
    )


def _check_padding(name: str, about: str) -> None:
    """Compare what models make of it with its weights on the real keys alone."""
    kernel = KERNELS[name]
    if kernel.divides_by == OTHER_KEYS:
        return  # refused for padded sequences
    queries, keys = _drawn((5, 5, 5))
    for length in (1, 3, 5):
        mask = jnp.arange(5)[None] < length
        # A padding key that is far from all others must not matter either.
        padded = jnp.where(mask[0][:, None], keys, 30 * keys)
        q, k, values = (x[None, None] for x in (queries, padded, jnp.eye(5)))
        found = plain_heads(name, q, k, values, mask)[0, 0]
        short = kernel(queries, keys[:length])
        truth = jnp.zeros((5, 5)).at[:, :length].set(short)
        text = f"{about}: its weights beside padding are not those without it"
        same(found, truth, text, slack=1e4)

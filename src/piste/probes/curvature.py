r"""Extreme eigenvalues without matrices: Lanczos iteration on products alone.

For operators too large to write down. The absolute error is a few units of rounding of
the largest eigenvalue once the iteration is as deep as there are distinct eigenvalues;
before that the ends of the spectrum come first. Singular values of a Jacobian are roots,
so the small ones are known to $10^{-8}\sigma_{max}$ only; write small Jacobians down.
"""

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Float, PyTree
from matfree import decomp

DEPTH = 48
"""Lanczos steps; half as many leave an error of 2e-4 where eigenvalues are crowded."""


class Extremes(NamedTuple):
    """The two ends of a spectrum."""

    smallest: Float[Array, ""]
    largest: Float[Array, ""]


def extreme_eigenvalues(
    product: Callable[[PyTree], PyTree], like: PyTree, depth: int = DEPTH
) -> Extremes:
    """The extreme eigenvalues of a symmetric operator on trees such as ``like``.

    Lanczos iteration with full reorthogonalisation from a fixed random start; exact, up
    to rounding, where the depth reaches the number of entries.

    >>> found = extreme_eigenvalues(lambda x: 3 * x, jnp.zeros(4))
    >>> round(float(found.smallest), 9), round(float(found.largest), 9)
    (3.0, 3.0)
    """
    flat, unravel = ravel_pytree(like)
    start = jax.random.normal(jax.random.key(0), flat.shape, flat.dtype)

    def flat_product(vector):
        return ravel_pytree(product(unravel(vector)))[0]

    lanczos = decomp.tridiag_sym(min(depth, flat.size), materialize=False)
    found = lanczos(flat_product, start)
    return _ends(*_exhausted(*found.J_small))


def _exhausted(
    diagonal: Float[Array, " step"], beside: Float[Array, " gap"]
) -> tuple[Float[Array, " step"], Float[Array, " gap"]]:
    """Cut off what follows a residual of zero: noise, normalised, or 0/0.

    The space before it has every eigenvalue already. Its first entry is a mean of them
    and stands in for the rest, so that the shape stays.
    """
    tiny = diagonal.size * jnp.finfo(diagonal.dtype).eps
    sound = beside > tiny * jnp.nanmax(jnp.abs(diagonal))
    alive = jnp.cumprod(sound).astype(bool)
    rest = jnp.where(alive, diagonal[1:], diagonal[0])
    return jnp.concatenate([diagonal[:1], rest]), jnp.where(alive, beside, 0)


def _ends(diagonal, beside) -> Extremes:
    matrix = jnp.diag(diagonal) + jnp.diag(beside, 1) + jnp.diag(beside, -1)
    eigenvalues = jnp.linalg.eigvalsh(matrix)
    return Extremes(eigenvalues[0], eigenvalues[-1])


def hessian_extremes(
    gradient: Callable[[PyTree], PyTree], params: PyTree, depth: int = DEPTH
) -> Extremes:
    """The extreme eigenvalues of the Hessian, from a gradient function alone."""

    def product(vector):
        return jax.jvp(gradient, (params,), (vector,))[1]

    return extreme_eigenvalues(product, params, depth)


class Eigenpairs(NamedTuple):
    """Eigenvalues, the largest first, and a unit vector (a tree) for each."""

    values: list[Float[Array, ""]]
    vectors: list[PyTree]


def top_eigenpairs(
    product: Callable[[PyTree], PyTree],
    like: PyTree,
    count: int = 2,
    depth: int = DEPTH,
) -> Eigenpairs:
    """The largest eigenvalues of a symmetric operator, with their Ritz vectors.

    One Lanczos iteration for each, with those found before moved to the other end of
    the spectrum: a single iteration never sees the second vector of a double eigenvalue.

    >>> scale = jnp.array([1.0, 5.0, 5.0])
    >>> found = top_eigenpairs(lambda x: scale * x, jnp.zeros(3))
    >>> [round(float(value), 4) for value in found.values]
    [5.0, 5.0]
    """
    flat, unravel = ravel_pytree(like)
    values, vectors = [], []
    bottom = jnp.zeros((), flat.dtype)

    def deflated(vector):
        image = ravel_pytree(product(unravel(vector)))[0]
        for value, known in zip(values, vectors, strict=True):
            image = image - (value + bottom) * (known @ vector) * known
        return image

    for number in range(count):
        start = jax.random.normal(jax.random.key(number), flat.shape, flat.dtype)
        for known in vectors:
            start = start - (known @ start) * known
        value, vector, reach = _top(deflated, start, min(depth, flat.size - number))
        values, vectors = [*values, value], [*vectors, vector]
        bottom = jnp.maximum(bottom, 2 * reach)
    return Eigenpairs(values, [unravel(vector) for vector in vectors])


def _top(product, start, depth: int):
    """The largest Ritz value, its vector, and a bound on the size of all Ritz values."""
    found = decomp.tridiag_sym(depth, materialize=False)(product, start)
    diagonal, beside = _exhausted(*found.J_small)
    alive = jnp.concatenate([jnp.ones(1, bool), jnp.cumprod(beside > 0).astype(bool)])
    reach = jnp.abs(diagonal).max() + 2 * jnp.abs(beside).max(initial=0) + 1e-30
    # What stands in for exhausted steps must not tie with the largest.
    diagonal = jnp.where(alive, diagonal, -2 * reach)
    matrix = jnp.diag(diagonal) + jnp.diag(beside, 1) + jnp.diag(beside, -1)
    values, ritz = jnp.linalg.eigh(matrix)
    basis = jnp.asarray(found.Q_tall)
    vector = ritz[:, -1] @ jnp.where(alive[:, None], basis, 0)
    return values[-1], vector / jnp.linalg.norm(vector), reach


def hessian_eigenpairs(
    gradient: Callable[[PyTree], PyTree],
    params: PyTree,
    count: int = 2,
    depth: int = DEPTH,
) -> Eigenpairs:
    """The largest eigenvalues of the Hessian and their vectors, from a gradient alone."""

    def product(vector):
        return jax.jvp(gradient, (params,), (vector,))[1]

    return top_eigenpairs(product, params, count, depth)


def jacobian_extremes(
    outputs: Callable[[PyTree], PyTree], params: PyTree, depth: int = DEPTH
) -> Extremes:
    r"""The extreme squared singular values of the Jacobian $J$ of a function.

    By $JJ^\top$ or $J^\top J$, whichever is smaller: there are as many singular values.
    """
    values, pull = jax.vjp(outputs, params)

    def push(vector):
        return jax.jvp(outputs, (params,), (vector,))[1]

    if _size(values) <= _size(params):
        return extreme_eigenvalues(lambda v: push(pull(v)[0]), values, depth)
    return extreme_eigenvalues(lambda v: pull(push(v))[0], params, depth)


def _size(tree: PyTree) -> int:
    return sum(leaf.size for leaf in jax.tree.leaves(tree))


def dense_jacobian(
    outputs: Callable[[PyTree], PyTree], params: PyTree
) -> Float[Array, "output parameter"]:
    """The Jacobian of a small function, outputs and parameters in a row each."""
    flat, unravel = ravel_pytree(params)
    return jax.jacrev(lambda vector: ravel_pytree(outputs(unravel(vector)))[0])(flat)


def empirical_ntk(
    outputs: Callable[[PyTree], PyTree], params: PyTree
) -> Float[Array, "output output"]:
    r"""The empirical neural tangent kernel $K = JJ^\top$ of a small model."""
    jacobian = dense_jacobian(outputs, params)
    return jacobian @ jacobian.T

r"""Planes through the weights: an origin and two directions.

Loss surfaces depend on the scale of their directions, so that is part of the choice:

- ``qk`` and ``random`` directions are filter-normalised (Li et al. 2018, "Visualizing
  the loss landscape of neural nets"): a coordinate of 1 moves every neuron by its own
  norm;
- along those of ``pca`` it is the furthest that the trajectory goes in the plane;
- along those of ``hessian`` it is the norm of all parameters.
"""

from collections.abc import Callable, Sequence
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Key, PyTree

from piste.errors import InputError, field_error
from piste.probes.curvature import DEPTH, hessian_eigenpairs

KINDS = ("qk", "random", "pca", "hessian")
"""The ways to choose a plane, by name."""

Loss = Callable[[PyTree], Float[Array, ""]]
Picks = Callable[[str], bool]
"""Told the dotted name of a leaf, such as ``blocks.0.query``; whether it may move."""


class Plane(eqx.Module):
    """The points $o + a u + b v$ for an origin $o$ and directions $u, v$."""

    origin: PyTree
    first: PyTree
    second: PyTree
    labels: tuple[str, str] = eqx.field(static=True, default=("first", "second"))

    def __check_init__(self):
        like = _shapes(self.origin)
        for name in ("first", "second"):
            if _shapes(getattr(self, name)) != like:
                expected = "must have the structure and the shapes of the origin"
                raise InputError(f"{name}: {expected}")

    def at(self, a: Float[Array, ""] | float, b: Float[Array, ""] | float) -> PyTree:
        """The parameters at a point of the plane."""

        def move(o, u, v):
            return o + jnp.asarray(a, o.dtype) * u + jnp.asarray(b, o.dtype) * v

        return jax.tree.map(move, self.origin, self.first, self.second)

    def coordinates(self, params: PyTree) -> np.ndarray:
        """The coordinates of the point of the plane that is nearest to the parameters."""
        away = flat(params) - flat(self.origin)
        directions = np.stack([flat(self.first), flat(self.second)], axis=1)
        return np.linalg.lstsq(directions, away)[0]


def _shapes(tree: PyTree) -> Any:
    leaves, structure = jax.tree.flatten(tree)
    return structure, [jnp.shape(leaf) for leaf in leaves]


def flat(tree: PyTree) -> np.ndarray:
    """All entries in a row, in float64, on the host."""
    leaves = [np.asarray(leaf, float).ravel() for leaf in jax.tree.leaves(tree)]
    return np.concatenate(leaves)


def names(params: PyTree) -> list[str]:
    """The dotted name of every leaf.

    >>> names({"blocks": [{"query": 1.0, "key": 2.0}]})
    ['blocks.0.key', 'blocks.0.query']
    """
    paths = jax.tree_util.tree_flatten_with_path(params)[0]
    return [jax.tree_util.keystr(path, simple=True, separator=".") for path, _ in paths]


def called(name: str) -> Picks:
    """Pick the leaves of a name, in every layer."""
    return lambda dotted: dotted.split(".")[-1] == name


def filter_normalised(direction: PyTree, params: PyTree, over: int = -1) -> PyTree:
    """Give every filter of a direction the norm of the same filter of the parameters.

    The entries of a filter lie along the axis ``over``: −1 where a neuron is a row, −2
    where matrices are written input by output. Vectors (biases, norms) do not move.
    """

    def scaled(d, w):
        if w.ndim < 2:
            return jnp.zeros_like(w)
        sizes = [jnp.linalg.norm(x, axis=over, keepdims=True) for x in (w, d)]
        return d * jnp.where(sizes[1] > 0, sizes[0] / sizes[1], 0)

    return jax.tree.map(scaled, direction, params)


def random_direction(
    params: PyTree,
    *,
    key: Key[Array, ""],
    over: int = -1,
    picks: Picks = lambda name: True,
) -> PyTree:
    """A Gaussian direction, filter-normalised, zero in the leaves that are not picked."""
    leaves, structure = jax.tree.flatten(params)
    keys = jax.random.split(key, len(leaves))
    drawn = [
        jax.random.normal(part, leaf.shape, leaf.dtype) * picks(name)
        for part, leaf, name in zip(keys, leaves, names(params), strict=True)
    ]
    direction = filter_normalised(jax.tree.unflatten(structure, drawn), params, over)
    if not any(np.any(part) for part in jax.tree.leaves(direction)):
        raise InputError(
            "the selected matrices are all zero, so they have no direction; must be "
            "trained first, or choose another plane"
        )
    return direction


def random(params: PyTree, *, key: Key[Array, ""], over: int = -1) -> Plane:
    """Two filter-normalised random directions in all matrices."""
    keys = jax.random.split(key)
    u, v = (random_direction(params, key=part, over=over) for part in keys)
    return Plane(params, u, v, ("random 1", "random 2"))


def qk(params: PyTree, *, key: Key[Array, ""], over: int = -1) -> Plane:
    """A random direction in the query matrices alone, and one in the key matrices."""
    known = names(params)
    for name in ("query", "key"):
        if not any(called(name)(dotted) for dotted in known):
            absent = f"there is no trained matrix '{name}' among {', '.join(known)}"
            expected = f"{absent}; must be random, pca or hessian"
            raise field_error("plane", "qk", expected)
    u, v = (
        random_direction(params, key=part, over=over, picks=called(name))
        for part, name in zip(jax.random.split(key), ("query", "key"), strict=True)
    )
    return Plane(params, u, v, ("$W^Q$", "$W^K$"))


def pca(
    snapshots: Sequence[PyTree], origin: PyTree | None = None
) -> tuple[Plane, np.ndarray]:
    """The plane that holds most of a trajectory's displacement, and the shares of both.

    Displacements are those from the origin, by default the last snapshot.
    """
    origin = snapshots[-1] if origin is None else origin
    away = np.stack([flat(point) for point in snapshots]) - flat(origin)
    # Few snapshots, many weights: the small Gram matrix has the same eigenvalues.
    squares, left = np.linalg.eigh(away @ away.T)
    squares, left = squares[:-3:-1], left[:, :-3:-1]
    if len(squares) < 2 or not squares[1] > 1e-12 * squares[0]:
        expected = (
            "they lie on one line through the origin; must span a plane; take more of "
            "them, or another plane than pca"
        )
        raise field_error("snapshots", len(snapshots), expected)
    directions = left.T @ away / np.sqrt(squares)[:, None]
    furthest = np.abs(away @ directions.T).max()
    u, v = (_like(furthest * part, origin) for part in directions)
    shares = squares / (away**2).sum()
    return Plane(origin, u, v, ("principal axis 1", "principal axis 2")), shares


def hessian(loss: Loss, params: PyTree, depth: int = DEPTH) -> tuple[Plane, np.ndarray]:
    """The two directions of largest curvature, and the eigenvalues of the Hessian."""
    values, vectors = _eigenpairs(loss, params, depth)
    size = float(np.linalg.norm(flat(params))) or 1.0
    u, v = (_like(size * flat(vector), params) for vector in vectors)
    plane = Plane(params, u, v, ("eigenvector 1", "eigenvector 2"))
    return plane, np.array([float(value) for value in values])


@eqx.filter_jit
def _eigenpairs(loss: Loss, params: PyTree, depth: int):
    return tuple(hessian_eigenpairs(jax.grad(loss), params, 2, depth))


def _like(vector: np.ndarray, params: PyTree) -> PyTree:
    """A vector of all entries as a tree such as the parameters."""
    leaves, structure = jax.tree.flatten(params)
    cuts = np.cumsum([leaf.size for leaf in leaves])[:-1]
    parts = zip(np.split(vector, cuts), leaves, strict=True)
    shaped = [jnp.asarray(p.reshape(leaf.shape), leaf.dtype) for p, leaf in parts]
    return jax.tree.unflatten(structure, shaped)

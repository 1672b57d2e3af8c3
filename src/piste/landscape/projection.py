"""A trajectory seen from a plane, and what the plane does not show of it."""

from collections.abc import Sequence
from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import PyTree

from .planes import Loss, Plane, flat
from .surface import values_at


@dataclass(frozen=True)
class Projection:
    """Every snapshot's nearest point of the plane."""

    coordinates: np.ndarray
    """A row for each snapshot."""
    explained_share: float
    """Share of the squared displacements from the origin that lies in the plane."""
    true_loss: np.ndarray
    """The loss at the snapshots themselves."""
    projected_loss: np.ndarray
    """The loss at their nearest points of the plane."""


def project(loss: Loss, plane: Plane, snapshots: Sequence[PyTree]) -> Projection:
    """Project a trajectory on a plane; both losses, at the snapshots and below them."""
    coordinates = np.stack([plane.coordinates(point) for point in snapshots])
    below = [plane.at(a, b) for a, b in coordinates]
    return Projection(
        coordinates=coordinates,
        explained_share=_share(plane, snapshots, coordinates),
        true_loss=np.asarray(values_at(loss, stacked(snapshots))),
        projected_loss=np.asarray(values_at(loss, stacked(below))),
    )


def _share(plane: Plane, snapshots: Sequence[PyTree], coordinates) -> float:
    """NaN for a trajectory that never leaves the origin."""
    away = np.stack([flat(point) for point in snapshots]) - flat(plane.origin)
    inside = coordinates @ np.stack([flat(plane.first), flat(plane.second)])
    total = (away**2).sum()
    return float((inside**2).sum() / total) if total > 0 else float("nan")


def stacked(snapshots: Sequence[PyTree]) -> PyTree:
    """One tree whose arrays have a first axis over the snapshots."""
    return jax.tree.map(lambda *leaves: jnp.stack(leaves), *snapshots)

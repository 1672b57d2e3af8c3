"""Margins and scores at given times along the flows of Theorem 1."""

from collections.abc import Iterator, Sequence

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from piste.training import Units, flow

from .flow_problem import (
    FlowData,
    Problem,
    attention_gradient,
    side_by_side,
    similar_problems,
    sizes_of,
)

RECORDS_PER_CHUNK = 200
"""Records of all scores that are held at once, for the sake of memory."""


def margins_at(
    problems: Sequence[Problem], times: Float[np.ndarray, "problem record"]
) -> Float[np.ndarray, "problem record"]:
    """The margins of classification along the flows, by explicit integration.

    Records that a flow did not get to are not a number, and neither are those of a
    problem whose times are not finite.
    """
    margins = np.full(times.shape, np.nan)
    for rows, data, units in _finite_batches(problems, times):
        lanes = rows + rows[-1:] * (np.size(units.time) - len(rows))
        margins[rows] = _chunked_margins(data, units, times[lanes])[: len(rows)]
    return margins


def scores_at(
    problems: Sequence[Problem], times: Float[np.ndarray, "problem record"]
) -> list[Float[np.ndarray, "record key column"]]:
    """The scores along the flows; not a number where a flow did not get to."""
    paths = [np.full((times.shape[1], *sizes_of(p)[2:]), np.nan) for p in problems]
    for rows, data, units in _finite_batches(problems, times):
        lanes = rows + rows[-1:] * (np.size(units.time) - len(rows))
        scores = np.asarray(_scores(data, units, times[lanes]))
        for lane, row in enumerate(rows):
            keys, columns = paths[row].shape[1:]
            paths[row][:] = scores[lane, :, :keys, :columns]
    return paths


def _finite_batches(
    problems: Sequence[Problem], times: np.ndarray
) -> Iterator[tuple[list[int], FlowData, Units]]:
    """Batches of the problems whose times are finite: their indices and their data."""
    finite = np.flatnonzero(np.isfinite(times).all(1)).tolist()
    for batch in similar_problems([problems[i] for i in finite]):
        rows = [finite[i] for i in batch]
        yield rows, *side_by_side([problems[i] for i in rows])


def _chunked_margins(data: FlowData, units: Units, times: np.ndarray) -> np.ndarray:
    """Chunk by chunk, each from where the one before it ended: flows have no clock."""
    scores, parts = 0 * np.asarray(data.entries), []
    begun, alive = np.zeros(len(times)), np.ones(len(times), bool)
    for first in range(0, times.shape[1], RECORDS_PER_CHUNK):
        chunk = times[:, first : first + RECORDS_PER_CHUNK]
        later, margins = _margins(data, units, scores, chunk - begun[:, None])
        parts.append(np.where(alive[:, None], margins, np.nan))
        alive &= np.isfinite(margins[:, -1])
        # A lane that failed goes on with zeros, which cost little; nobody looks at it.
        scores = np.where(alive[:, None, None], later, 0)
        begun = chunk[:, -1]
    return np.concatenate(parts, axis=1)


@eqx.filter_jit
def _margins(data: FlowData, units: Units, scores, times):
    def one(data, units, scores, times):
        path = flow(attention_gradient, scores, times, data=data, units=units)
        margins = jax.vmap(data.cases.margin)(path.params)
        known = jnp.isfinite(path.times)
        return path.params[-1], jnp.where(known, margins, jnp.nan)

    return jax.vmap(one)(data, units, scores, times)


@eqx.filter_jit
def _scores(data: FlowData, units: Units, times):
    def one(data, units, times):
        path = flow(attention_gradient, 0 * data.entries, times, data=data, units=units)
        known = jnp.isfinite(path.times)[:, None, None]
        return jnp.where(known, path.params, jnp.nan)

    return jax.vmap(one)(data, units, times)

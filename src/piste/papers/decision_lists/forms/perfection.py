r"""When gradient flow from $W = 0$ with $V = cP$ first classifies perfectly.

The natural units are $n/c$ for a score (it moves a logit by one) and $(n/c)^2/\gamma$ for
time. The margin is exactly 0 at the start, so the event is a margin of $10^{-4} n/c$.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from piste.training import (
    EVENT,
    OUTCOMES,
    FlowSettings,
    FlowSolution,
    Units,
    flow,
    flow_until,
)

from ._base import AbstractPopulation
from .cases import Cases

EVENT_MARGIN = 1e-4
"""The margin that counts as perfect, in units of $n/c$."""
STIFF_TRAVEL = 100.0
"""Scores that must travel more units than this make the flow stiff."""
BATCH_CASES = 2**19
"""Cases of all problems that are followed at once, for the sake of memory."""


@dataclass(frozen=True)
class Problem:
    r"""A population, the scale $c$ of $V = cP$, and how long to follow the flow."""

    population: AbstractPopulation
    scale: float
    horizon: float

    @property
    def units(self) -> Units:
        r"""$n/c$ and $(n/c)^2/\gamma$, with $\gamma$ the frequency of the rarest query."""
        unit = self.population.length / self.scale
        queries = np.bincount(np.asarray(self.population.column))
        frequency = np.asarray(self.population.frequency) / queries
        return Units(unit, unit**2 / frequency[frequency > 0].min())

    @property
    def stiff(self) -> bool:
        r"""Whether scores must travel far: $\log(n-1)$ with repetition, in units of $n/c$.

        Without repetition any order of the scores will do, however small the gaps. With
        it, the sequences that are nearly right keep an explicit step at one unit.
        """
        n = self.population.length
        travel = np.log(max(n - 1, 1)) * self.scale / n
        return bool(self.population.repeats and travel > STIFF_TRAVEL)

    @property
    def solver(self) -> str:
        """The implicit solver if the flow is stiff."""
        return "kvaerno5" if self.stiff else "tsit5"


@dataclass(frozen=True)
class Perfection:
    """The first perfect classification, or how the flow ended without it."""

    time: float
    """Infinite if it was not reached."""
    outcome: str
    ended: float
    """The time up to which the flow was followed."""
    steps: int
    margin: float
    start_size: float
    """The largest entry of the start, $\\max|W_0|$."""
    scores: Float[np.ndarray, "key column"]


class FlowData(eqx.Module):
    """What the flow of one problem needs."""

    cases: Cases
    entries: Float[Array | np.ndarray, "key column"]
    scale: Float[Array, ""] | float
    offset: Float[Array, ""] | float

    @staticmethod
    def of(problem: Problem, sizes: tuple[int, ...] | None = None):
        """The data of a problem, padded to sizes (cases, groups, keys, columns)."""
        sizes = sizes or sizes_of(problem)
        given = np.asarray(problem.population.entries)
        entries = np.ones(sizes[2:])
        entries[: given.shape[0], : given.shape[1]] = given
        return FlowData(
            problem.population.cases.padded(*sizes[:2]),
            entries,
            problem.scale,
            EVENT_MARGIN * problem.units.params,
        )


def sizes_of(problem: Problem) -> tuple[int, ...]:
    """Cases, groups, and rows and columns of the scores."""
    return problem.population.cases.key.shape + problem.population.entries.shape


def attention_gradient(
    scores: Float[Array, "key column"], data: FlowData
) -> Float[Array, "key column"]:
    r"""$\nabla_W \mathcal{L}(W, cP)$, one entry for each score."""

    def loss(scores):
        return (data.cases.weight * data.cases.losses(scores, data.scale)).sum()

    return jax.grad(loss)(scores) / data.entries


def lead(scores: Float[Array, "key column"], data: FlowData) -> Float[Array, ""]:
    """The margin of classification, less what counts as perfect."""
    return data.cases.margin(scores) - data.offset


def first_perfect(
    problems: Sequence[Problem], settings: FlowSettings | None = None
) -> list[Perfection]:
    """Follow the flows of many problems, in compiled batches of similar size.

    Without ``settings`` a stiff problem gets the implicit solver.
    """
    found: dict[int, Perfection] = {}
    for batch in _batches(problems):
        chosen = settings or FlowSettings(solver=problems[batch[0]].solver)
        results = _run([problems[i] for i in batch], chosen)
        found |= dict(zip(batch, results, strict=True))
    return [found[i] for i in range(len(problems))]


def _batches(problems: Sequence[Problem]) -> list[list[int]]:
    """Problems of one solver and of one magnitude, so that padding costs little."""
    groups: dict[tuple[str, int], list[int]] = {}
    for i, problem in enumerate(problems):
        magnitude = (sizes_of(problem)[0] - 1).bit_length() // 4
        groups.setdefault((problem.solver, magnitude), []).append(i)
    batches = []
    for (_, magnitude), members in groups.items():
        most = max(1, BATCH_CASES >> (4 * magnitude + 4))
        batches += [members[i : i + most] for i in range(0, len(members), most)]
    return batches


CHUNK = 200
"""Records of all scores that are held at once."""


def margins_at(
    problems: Sequence[Problem], times: Float[np.ndarray, "problem record"]
) -> Float[np.ndarray, "problem record"]:
    """The margins of classification along the flows, by explicit integration.

    Records that a flow did not get to are not a number, and neither are those of a
    problem whose times are not finite.
    """
    found = np.full(times.shape, np.nan)
    for rows, data, units in _asked(problems, times):
        lanes = rows + rows[-1:] * (np.size(units.time) - len(rows))
        found[rows] = _long_margins(data, units, times[lanes])[: len(rows)]
    return found


def _asked(problems: Sequence[Problem], times: np.ndarray):
    """Batches of those problems whose times are finite: their places and their data."""
    asked = np.flatnonzero(np.isfinite(times).all(1)).tolist()
    for batch in _batches([problems[i] for i in asked]):
        rows = [asked[i] for i in batch]
        yield rows, *_lanes([problems[i] for i in rows])


def _long_margins(data: FlowData, units: Units, times: np.ndarray) -> np.ndarray:
    """Chunk by chunk, each from where the one before it ended: flows have no clock."""
    scores, parts = 0 * np.asarray(data.entries), []
    begun, alive = np.zeros(len(times)), np.ones(len(times), bool)
    for first in range(0, times.shape[1], CHUNK):
        chunk = times[:, first : first + CHUNK]
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
        went = flow(attention_gradient, scores, times, data=data, units=units)
        margins = jax.vmap(data.cases.margin)(went.params)
        known = jnp.isfinite(went.times)
        return went.params[-1], jnp.where(known, margins, jnp.nan)

    return jax.vmap(one)(data, units, scores, times)


def scores_at(
    problems: Sequence[Problem], times: Float[np.ndarray, "problem record"]
) -> list[Float[np.ndarray, "record key column"]]:
    """The scores along the flows; not a number where a flow did not get to."""
    found = [np.full((times.shape[1], *sizes_of(p)[2:]), np.nan) for p in problems]
    for rows, data, units in _asked(problems, times):
        lanes = rows + rows[-1:] * (np.size(units.time) - len(rows))
        scores = np.asarray(_scores(data, units, times[lanes]))
        for lane, row in enumerate(rows):
            keys, columns = found[row].shape[1:]
            found[row][:] = scores[lane, :, :keys, :columns]
    return found


@eqx.filter_jit
def _scores(data: FlowData, units: Units, times):
    def one(data, units, times):
        went = flow(attention_gradient, 0 * data.entries, times, data=data, units=units)
        known = jnp.isfinite(went.times)[:, None, None]
        return jnp.where(known, went.params, jnp.nan)

    return jax.vmap(one)(data, units, times)


def _run(problems: list[Problem], settings: FlowSettings) -> list[Perfection]:
    data, units = _lanes(problems)
    horizons = np.array([problem.horizon for problem in problems])
    horizons = np.append(
        horizons, [horizons[-1]] * (np.size(units.time) - len(problems))
    )
    seen = jax.tree.map(np.asarray, _flows(data, units, horizons, settings))
    return [_perfection(problem, seen, lane) for lane, problem in enumerate(problems)]


def _lanes(problems: list[Problem]) -> tuple[FlowData, Units]:
    """All problems side by side; the last fills what a power of two leaves over."""
    sizes = common_sizes(problems)
    filling = _power_of_two(len(problems)) - len(problems)
    lanes = problems + problems[-1:] * filling
    data = _stack([FlowData.of(problem, sizes) for problem in lanes])
    return data, _stack([problem.units for problem in lanes])


def common_sizes(problems: Sequence[Problem]) -> tuple[int, ...]:
    """Sizes that hold all problems, rounded up so that few programs serve all."""
    cases, *others = np.max([sizes_of(problem) for problem in problems], axis=0)
    return _power_of_two(int(cases)), *(4 * -(-int(size) // 4) for size in others)


def _power_of_two(least: int) -> int:
    return 1 << (least - 1).bit_length()


def _stack(trees: list):
    return jax.tree.map(lambda *parts: np.stack(parts), *trees)


@eqx.filter_jit
def _flows(data: FlowData, units: Units, horizons, settings: FlowSettings):
    def one(data, units, horizon):
        start = 0 * data.entries
        ended = flow_until(
            attention_gradient,
            lead,
            start,
            horizon,
            data=data,
            units=units,
            settings=settings,
        )
        return ended, data.cases.margin(ended.params[0]), jnp.abs(start).max()

    return jax.vmap(one)(data, units, horizons)


def _perfection(
    problem: Problem, seen: tuple[FlowSolution, np.ndarray, np.ndarray], lane: int
) -> Perfection:
    flows, margins, starts = seen
    code, ended = int(flows.outcome[lane]), float(flows.times[lane, 0])
    rows, columns = sizes_of(problem)[2:]
    return Perfection(
        time=ended if code == EVENT else float("inf"),
        outcome=OUTCOMES[code],
        ended=ended,
        steps=int(flows.steps[lane]),
        margin=float(margins[lane]),
        start_size=float(starts[lane]),
        scores=flows.params[lane, 0, :rows, :columns],
    )

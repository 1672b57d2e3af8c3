r"""When gradient flow from $W = 0$ with $V = cP$ first classifies perfectly.

The margin is exactly 0 at the start, so the event is a margin of $10^{-4} n/c$.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from piste.training import (
    EVENT,
    OUTCOMES,
    FlowSettings,
    FlowSolution,
    Units,
    flow_until,
)

from .flow_problem import (
    FlowData,
    Problem,
    attention_gradient,
    event_height,
    side_by_side,
    similar_problems,
    sizes_of,
)

PERFECT = OUTCOMES[EVENT]
"""The outcome of a flow that became perfect."""


@dataclass(frozen=True)
class Perfection:
    """The first perfect classification, or how the flow ended without it."""

    time: float
    """Infinite if it was not reached."""
    outcome: str
    """How the flow ended, one of ``piste.training.OUTCOMES``."""
    ended: float
    """The time up to which the flow was followed."""
    steps: int
    margin: float
    start_size: float
    r"""The largest entry of the start, $\max|W_0|$."""
    scores: Float[np.ndarray, "key column"]


def first_perfect(
    problems: Sequence[Problem], settings: FlowSettings | None = None
) -> list[Perfection]:
    """Follow the flows of many problems, in compiled batches of similar size.

    Without ``settings`` a stiff problem gets the implicit solver.
    """
    results: dict[int, Perfection] = {}
    for batch in similar_problems(problems):
        chosen = settings or FlowSettings(solver=problems[batch[0]].solver)
        solved = _solve([problems[i] for i in batch], chosen)
        results |= dict(zip(batch, solved, strict=True))
    return [results[i] for i in range(len(problems))]


def _solve(problems: list[Problem], settings: FlowSettings) -> list[Perfection]:
    data, units = side_by_side(problems)
    horizons = np.array([problem.horizon for problem in problems])
    horizons = np.append(
        horizons, [horizons[-1]] * (np.size(units.time) - len(problems))
    )
    lanes = jax.tree.map(np.asarray, _flows(data, units, horizons, settings))
    return [_perfection(problem, lanes, lane) for lane, problem in enumerate(problems)]


@eqx.filter_jit
def _flows(data: FlowData, units: Units, horizons, settings: FlowSettings):
    def one(data, units, horizon):
        start = 0 * data.entries
        ended = flow_until(
            attention_gradient,
            event_height,
            start,
            horizon,
            data=data,
            units=units,
            settings=settings,
        )
        return ended, data.cases.margin(ended.params[0]), jnp.abs(start).max()

    return jax.vmap(one)(data, units, horizons)


def _perfection(
    problem: Problem, lanes: tuple[FlowSolution, np.ndarray, np.ndarray], lane: int
) -> Perfection:
    flows, margins, starts = lanes
    outcome = OUTCOMES[int(flows.outcome[lane])]
    ended = float(flows.times[lane, 0])
    rows, columns = sizes_of(problem)[2:]
    return Perfection(
        time=ended if outcome == PERFECT else float("inf"),
        outcome=outcome,
        ended=ended,
        steps=int(flows.steps[lane]),
        margin=float(margins[lane]),
        start_size=float(starts[lane]),
        scores=flows.params[lane, 0, :rows, :columns],
    )

r"""Problems of Theorem 1: gradient flow from $W = 0$ with $V = cP$, many side by side.

The natural units are $n/c$ for a score (it moves a logit by one) and $(n/c)^2/\gamma$ for
time.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import equinox as eqx
import jax
import numpy as np
from jaxtyping import Array, Float

from piste.training import Units

from ._base import AbstractPopulation
from .cases import Cases

EVENT_MARGIN = 1e-4
"""The margin that counts as perfect, in units of $n/c$: at the start it is exactly 0."""
MAX_EXPLICIT_TRAVEL = 100.0
"""Scores that must travel more units than this make the flow stiff."""
MAX_BATCH_CASES = 2**19
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
        return bool(self.population.repeats and travel > MAX_EXPLICIT_TRAVEL)

    @property
    def solver(self) -> str:
        """The implicit solver if the flow is stiff."""
        return "kvaerno5" if self.stiff else "tsit5"


class FlowData(eqx.Module):
    """What the flow of one problem needs."""

    cases: Cases
    entries: Float[Array | np.ndarray, "key column"]
    scale: Float[Array, ""] | float
    event_margin: Float[Array, ""] | float

    @staticmethod
    def of(problem: Problem, sizes: tuple[int, ...] | None = None) -> "FlowData":
        """The data of a problem, padded to sizes (cases, groups, keys, columns)."""
        sizes = sizes or sizes_of(problem)
        own_entries = np.asarray(problem.population.entries)
        entries = np.ones(sizes[2:])
        entries[: own_entries.shape[0], : own_entries.shape[1]] = own_entries
        return FlowData(
            problem.population.cases.padded(*sizes[:2]),
            entries,
            problem.scale,
            EVENT_MARGIN * problem.units.params,
        )


def sizes_of(problem: Problem) -> tuple[int, ...]:
    """Cases, groups, and rows and columns of the scores."""
    return problem.population.cases.key.shape + problem.population.entries.shape


def common_sizes(problems: Sequence[Problem]) -> tuple[int, ...]:
    """Sizes that hold all problems, rounded up so that few programs serve all."""
    cases, *others = np.max([sizes_of(problem) for problem in problems], axis=0)
    return _power_of_two(int(cases)), *(4 * -(-int(size) // 4) for size in others)


def attention_gradient(
    scores: Float[Array, "key column"], data: FlowData
) -> Float[Array, "key column"]:
    r"""$\nabla_W \mathcal{L}(W, cP)$, one entry for each score."""

    def loss(scores):
        return (data.cases.weight * data.cases.losses(scores, data.scale)).sum()

    return jax.grad(loss)(scores) / data.entries


def event_height(
    scores: Float[Array, "key column"], data: FlowData
) -> Float[Array, ""]:
    """The margin of classification, less what counts as perfect."""
    return data.cases.margin(scores) - data.event_margin


def similar_problems(problems: Sequence[Problem]) -> list[list[int]]:
    """Indices of problems of one solver and one magnitude: padding then costs little."""
    groups: dict[tuple[str, int], list[int]] = {}
    for i, problem in enumerate(problems):
        magnitude = (sizes_of(problem)[0] - 1).bit_length() // 4
        groups.setdefault((problem.solver, magnitude), []).append(i)
    batches = []
    for (_, magnitude), members in groups.items():
        largest = max(1, MAX_BATCH_CASES >> (4 * magnitude + 4))
        batches += [members[i : i + largest] for i in range(0, len(members), largest)]
    return batches


def side_by_side(problems: list[Problem]) -> tuple[FlowData, Units]:
    """All problems stacked; the last is repeated up to a power of two of them."""
    sizes = common_sizes(problems)
    filling = _power_of_two(len(problems)) - len(problems)
    lanes = problems + problems[-1:] * filling
    data = _stack([FlowData.of(problem, sizes) for problem in lanes])
    return data, _stack([problem.units for problem in lanes])


def _power_of_two(minimum: int) -> int:
    return 1 << (minimum - 1).bit_length()


def _stack(trees: list):
    return jax.tree.map(lambda *parts: np.stack(parts), *trees)

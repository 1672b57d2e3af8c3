"""The descents of Theorem 2: W and V where all of its conditions are true."""

from dataclasses import dataclass
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import xarray as xr
from jaxtyping import Array, Float

from piste.claims import Condition
from piste.values import option, value

from ...forms import (
    Descent,
    JointLoss,
    ListedPopulation,
    descend_to_perfection,
    descent_states,
    population_loss,
)
from ...models import OneHotWeights, at_permutation
from ...tasks import DecisionLists, Instance
from ...theory import (
    ValueTheorem,
    repetition_travel,
    smallest_length,
    value_theorem,
    worst_case,
)
from ...thresholds import MAX_TIE
from .._cells import to_dataset
from .._other_sequences import other_sets, sequences_with_repetition, shares_right
from ..instances import check_parallel

STUDY = "theorem-2"
START_DISTANCE = 0.99
"""How much of the allowed distance from $cP$ the start takes."""


@value
class Descents:
    r"""Descent from $W_0 = 0$ and $V_0$ within $\epsilon/2$ of $cP$ until all is right.

    First on all sequences of positive probability, then on all sets of distinct tokens.
    """

    vocabularies: tuple[int, ...] = option(
        default=(40, 64, 64, 64, 48, 64, 80, 64), minimum=2
    )
    """$L$ of every instance."""
    lengths: tuple[int, ...] = option(
        default=(19, 32, 32, 32, 29, 45, 40, 32), minimum=1
    )
    """$n$ of every instance."""
    list_bounds: tuple[int, ...] = option(default=(1, 2, 2, 2, 2, 1, 3, 2), minimum=1)
    """$m$ of every instance, the length of all lists."""
    support_sets: tuple[int, ...] = option(
        default=(60, 200, 200, 400, 200, 80, 200, 40), minimum=1
    )
    """Sets of positive probability of every instance."""
    limit: int = option(default=80, minimum=1)
    """Steps after which a descent ends unfinished."""
    samples: int = option(default=300, minimum=1)
    """Random sequences of probability 0."""
    seed: int = option(default=0, minimum=0)

    def __post_init__(self):
        names = ("vocabularies", "lengths", "list_bounds", "support_sets")
        check_parallel(self, *names)

    def parts(self) -> int:
        """One for every instance."""
        return len(self.vocabularies)

    def part(self, index: int) -> xr.Dataset:
        """Check the conditions, and descend whatever they say."""
        instance = self._instance(index)
        population = population_loss(instance, train_value=True)
        assert isinstance(population, ListedPopulation)
        objective = JointLoss(population)
        theorem, start = prepare(instance, population)
        descent = descend_to_perfection(objective, start, limit=self.limit)
        after = continue_descent(instance, objective, descent, self.limit)
        row = _constants(instance, theorem, descent) | _start(instance, theorem, start)
        row |= self._other_sequences(instance, theorem, descent, after)
        data = to_dataset([row]).assign(self._path(descent, after))
        step = theorem.step_condition(descent.learning_rate, descent.max_curvature)
        return with_conditions(data, (*theorem.conditions, step))

    def _instance(self, index: int) -> Instance:
        task = DecisionLists(
            self.vocabularies[index],
            self.lengths[index],
            self.list_bounds[index],
            list_lengths="fixed",
            distribution="support",
            support_sets=self.support_sets[index],
        )
        key = jax.random.fold_in(jax.random.key(self.seed), index)
        return task.instance(key=key)

    def _path(self, descent: Descent, after: "AfterPerfection") -> dict[str, Any]:
        path = np.array(
            [descent.curvatures + after.curvatures, descent.margins + after.margins]
        )
        filled = np.full((2, self.limit + 1), np.nan)
        filled[:, : path.shape[1]] = path
        return {
            "curvature": (("cell", "step"), filled[:1]),
            "margin": (("cell", "step"), filled[1:]),
        }

    def _other_sequences(
        self,
        instance: Instance,
        theorem: ValueTheorem,
        descent: Descent,
        after: "AfterPerfection",
    ) -> dict[str, float]:
        """What was right on sequences of probability 0, and what can ever be."""
        rng = np.random.default_rng([self.seed, instance.vocabulary])
        others = other_sets(instance, self.samples, rng)
        repeated = sequences_with_repetition(instance, self.samples, rng)
        travel = theorem.travel()
        shares = [np.nan] * 4
        if descent.steps is not None:
            matrices = as_numpy(descent.params)
            shares = [
                *shares_right(instance, *matrices, others),
                *shares_right(instance, *matrices, repeated),
            ]
        error = theorem.epsilon / 2 + travel
        return {
            "other_sets": len(others),
            "all_sets_step": np.nan if after.step is None else float(after.step),
            "last_step": after.last,
            "tokens_right": shares[0],
            "sets_right": shares[1],
            "repeated_tokens_right": shares[2],
            "repeated_right": shares[3],
            "travel": travel,
            "travel_needed": repetition_travel(instance, theorem.scale, error),
        }


def with_conditions(data: xr.Dataset, conditions: tuple[Condition, ...]) -> xr.Dataset:
    """Add conditions to a dataset of one cell, by name: both sides, and if they are met."""
    dims = ("cell", "condition")
    return data.assign_coords(condition=[each.name for each in conditions]).assign(
        met=(dims, [[each.met for each in conditions]]),
        left=(dims, [[each.left for each in conditions]]),
        right=(dims, [[each.right for each in conditions]]),
    )


@eqx.filter_jit
def start_loss(
    population: ListedPopulation,
    unit: OneHotWeights,
    error: Float[Array, "label token"],
    scale: Float[Array, ""],
) -> Float[Array, ""]:
    r"""$\mathcal{L}(0, cP + E)$; all data are arguments, see ``AbstractLoss``."""
    return population.loss(unit.attention, scale * unit.value + error)


def prepare(
    instance: Instance, population: ListedPopulation
) -> tuple[ValueTheorem, OneHotWeights]:
    r"""The constants for a start at random within $\epsilon/2$, and that start.

    $\mathcal{L}_0$ depends on the start and $c$ on $\mathcal{L}_0$, so the fixed point is
    looked for with the loss of the very start.
    """
    epsilon = value_theorem(instance).epsilon
    unit = at_permutation(instance.permutation, 1.0)
    shape, key = unit.value.shape, jax.random.key(instance.vocabulary)
    error = START_DISTANCE * epsilon / 2 * jax.random.uniform(key, shape, minval=-1.0)

    def loss(scale: float) -> float:
        return float(start_loss(population, unit, error, jnp.asarray(scale)))

    distance = float(jnp.abs(error).max())
    theorem = value_theorem(instance, epsilon, distance, initial_loss=loss)
    start = OneHotWeights(unit.attention, theorem.scale * unit.value + error)
    return theorem, start


@dataclass(frozen=True)
class AfterPerfection:
    """The descent after its first perfect step, to the last that was looked at."""

    step: int | None
    """The first step at which all sets of distinct tokens are right, if any."""
    last: int
    """The last step that was looked at."""
    curvatures: tuple[float, ...] = ()
    margins: tuple[float, ...] = ()


def continue_descent(
    instance: Instance, objective: JointLoss, descent: Descent, limit: int
) -> AfterPerfection:
    """Descend from the first perfect step until all sets are right, exactly judged."""
    if descent.steps is None:
        return AfterPerfection(None, len(descent.margins) - 1)
    curvatures, margins, right = [], [], False
    rest = descent_states(
        objective, descent.params, descent.learning_rate, limit - descent.steps
    )
    for chunk in rest:
        if chunk.index > 0:  # the first one is where the descent already is
            curvatures.append(float(chunk.records["curvature"][0]))
            margins.append(float(chunk.records["margin"][0]))
        right = _all_sets_right(instance, chunk.state.params)
        if right:
            break
    step = descent.steps + len(margins)
    first = step if right else None
    return AfterPerfection(first, step, tuple(curvatures), tuple(margins))


def _all_sets_right(instance: Instance, params: OneHotWeights) -> bool:
    return worst_case(*as_numpy(params), instance) > MAX_TIE


def as_numpy(params: OneHotWeights) -> tuple[np.ndarray, np.ndarray]:
    """Both matrices as NumPy arrays."""
    return np.asarray(params.attention), np.asarray(params.value)


def _constants(
    instance: Instance, theorem: ValueTheorem, descent: Descent
) -> dict[str, float]:
    shortest, longest = theorem.steps(descent.learning_rate)
    return {
        "vocabulary": instance.vocabulary,
        "length": instance.length,
        "list_bound": instance.list_bound,
        "possible_sets": instance.sequences.count(),
        "smallest_length": smallest_length(instance.list_bound),
        "delta": theorem.delta,
        "epsilon": theorem.epsilon,
        "scale": theorem.scale,
        "initial_loss": theorem.initial_loss,
        "progress": theorem.progress,
        "learning_rate": descent.learning_rate,
        "shortest": shortest,
        "longest": longest,
        "perfect_step": np.nan if descent.steps is None else float(descent.steps),
    }


def _start(
    instance: Instance, theorem: ValueTheorem, start: OneHotWeights
) -> dict[str, float]:
    """How the start really is: the size of $W_0$, and the distance of $V_0$ from $cP$."""
    centre = at_permutation(instance.permutation, theorem.scale).value
    return {
        "start_size": float(jnp.abs(start.attention).max()),
        "start_error": float(jnp.abs(start.value - centre).max()),
    }

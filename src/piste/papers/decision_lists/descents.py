"""Theorem 2: gradient descent on W and V where all of its conditions are true."""

from dataclasses import dataclass

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import xarray as xr
from jaxtyping import Array, Float

from piste.values import option, value

from .forms import (
    Descent,
    JointLoss,
    Listed,
    descend,
    descend_to_perfection,
    look,
    population_loss,
)
from .instances import table
from .models import OneHotWeights, at_permutation
from .tasks.decision_lists import DecisionLists, Instance
from .theory.all_sequences import TIE, repetition_travel, worst_case
from .theory.bounds import ValueTheorem, smallest_length, value_theorem
from .unseen import other_sets, repeated, shares_right

SIZES = (
    "40,19,1,60 64,32,2,200 64,32,2,200 64,32,2,400 48,29,2,200 64,45,1,80 "
    "80,40,3,200 64,32,2,40"
)
CLOSE = 0.99
"""How much of the allowed distance from $cP$ the start takes."""
CONDITIONS = ("scale", "start", "below", "above", "step")


@value
class Descents:
    r"""Descent from $W_0 = 0$ and $V_0$ within $\epsilon/2$ of $cP$ until all is right.

    First on all sequences of positive probability, then on all sets of distinct tokens.
    """

    sizes: str = SIZES
    """Sizes L,n,m and the number of sets of positive probability."""
    limit: int = option(default=80, minimum=1)
    """Steps after which a descent ends unfinished."""
    samples: int = option(default=300, minimum=1)
    """Random sequences of probability 0."""
    seed: int = option(default=0, minimum=0)

    def parts(self) -> int:
        """One for every size."""
        return len(self.sizes.split())

    def part(self, index: int) -> xr.Dataset:
        """Check the conditions, and descend whatever they say."""
        instance = self._instance(index)
        population = population_loss(instance, train_value=True)
        assert isinstance(population, Listed)
        theorem, start = prepare(instance, population)
        found = descend_to_perfection(JointLoss(population), start, limit=self.limit)
        after = go_on(instance, JointLoss(population), found, self.limit)
        row = _constants(instance, theorem, found) | _start(instance, theorem, start)
        row |= _conditions(theorem, found)
        row |= self._unseen(instance, theorem, found, after)
        return table([row]).assign(self._path(found, after))

    def _path(self, found: Descent, after: "AfterPerfection") -> dict:
        path = np.array(
            [found.curvatures + after.curvatures, found.margins + after.margins]
        )
        filled = np.full((2, self.limit + 1), np.nan)
        filled[:, : path.shape[1]] = path
        return {
            "curvature": (("cell", "step"), filled[:1]),
            "margin": (("cell", "step"), filled[1:]),
        }

    def _unseen(
        self,
        instance: Instance,
        theorem: ValueTheorem,
        found: Descent,
        after: "AfterPerfection",
    ) -> dict:
        """What was right on sequences of probability 0, and what can ever be."""
        rng = np.random.default_rng([self.seed, instance.vocabulary])
        others = other_sets(instance, self.samples, rng)
        double = repeated(instance, self.samples, rng)
        travel = theorem.travel()
        shares = [np.nan] * 4
        if found.steps is not None:
            shares = [
                *shares_right(instance, *matrices(found.params), others),
                *shares_right(instance, *matrices(found.params), double),
            ]
        return {
            "others": len(others),
            "all_sets": np.nan if after.step is None else float(after.step),
            "last": after.last,
            "other_tokens": shares[0],
            "other_sets": shares[1],
            "repeated_tokens": shares[2],
            "repeated": shares[3],
            "travel": travel,
            "travel_needed": repetition_travel(
                instance, theorem.scale, theorem.epsilon / 2 + travel
            ),
        }

    def _instance(self, index: int) -> Instance:
        size, length, bound, sets = map(int, self.sizes.split()[index].split(","))
        task = DecisionLists(
            size,
            length,
            bound,
            list_lengths="fixed",
            distribution="support",
            support_sets=sets,
        )
        key = jax.random.fold_in(jax.random.key(self.seed), index)
        return task.instance(key=key)


@eqx.filter_jit
def start_loss(
    population: Listed,
    unit: OneHotWeights,
    error: Float[Array, "label token"],
    scale: Float[Array, ""],
) -> Float[Array, ""]:
    r"""$\mathcal{L}(0, cP + E)$; all data are arguments, see ``AbstractLoss``."""
    return population.loss(unit.attention, scale * unit.value + error)


def prepare(
    instance: Instance, population: Listed
) -> tuple[ValueTheorem, OneHotWeights]:
    r"""The constants for a start at random within $\epsilon/2$, and that start.

    $\mathcal{L}_0$ depends on the start and $c$ on $\mathcal{L}_0$, so the fixed point is
    looked for with the loss of the very start.
    """
    epsilon = value_theorem(instance).epsilon
    unit = at_permutation(instance.permutation, 1.0)
    shape, key = unit.value.shape, jax.random.key(instance.vocabulary)
    error = CLOSE * epsilon / 2 * jax.random.uniform(key, shape, minval=-1.0)

    def loss(scale: float) -> float:
        return float(start_loss(population, unit, error, jnp.asarray(scale)))

    off = float(jnp.abs(error).max())
    theorem = value_theorem(instance, epsilon, off, initial_loss=loss)
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


def go_on(
    instance: Instance, objective: JointLoss, found: Descent, limit: int
) -> AfterPerfection:
    """Descend from the first perfect step until all sets are right, exactly judged."""
    if found.steps is None:
        return AfterPerfection(None, len(found.margins) - 1)
    params, path, step = found.params, [], found.steps
    while not (right := _all_right(instance, params)) and step < limit:
        params, step = descend(objective, params, found.learning_rate), step + 1
        path.append(tuple(map(float, look(objective, params))))
    curvatures, margins = zip(*path, strict=True) if path else ((), ())
    return AfterPerfection(step if right else None, step, curvatures, margins)


def _all_right(instance: Instance, params: OneHotWeights) -> bool:
    return worst_case(*matrices(params), instance) > TIE


def matrices(params: OneHotWeights) -> tuple[np.ndarray, np.ndarray]:
    """Both matrices as NumPy's."""
    return np.asarray(params.attention), np.asarray(params.value)


def _constants(instance: Instance, theorem: ValueTheorem, found: Descent) -> dict:
    shortest, longest = theorem.steps(found.learning_rate)
    return {
        "vocabulary": instance.vocabulary,
        "length": instance.length,
        "list_bound": instance.list_bound,
        "sets": instance.sequences.count(),
        "smallest_length": smallest_length(instance.list_bound),
        "delta": theorem.delta,
        "epsilon": theorem.epsilon,
        "scale": theorem.scale,
        "initial_loss": theorem.initial_loss,
        "progress": theorem.progress,
        "learning_rate": found.learning_rate,
        "shortest": shortest,
        "longest": longest,
        "perfect": np.nan if found.steps is None else float(found.steps),
    }


def _start(instance: Instance, theorem: ValueTheorem, start: OneHotWeights) -> dict:
    """How the start really is: the size of $W_0$, and the distance of $V_0$ from $cP$."""
    centre = at_permutation(instance.permutation, theorem.scale).value
    return {
        "start_size": float(jnp.abs(start.attention).max()),
        "start_error": float(jnp.abs(start.value - centre).max()),
    }


def _conditions(theorem: ValueTheorem, found: Descent) -> dict:
    step = theorem.step_condition(found.learning_rate, found.steepest)
    rows = {}
    for name, condition in zip(CONDITIONS, (*theorem.conditions, step), strict=True):
        rows |= {
            f"{name}_holds": condition.met,
            f"{name}_left": condition.left,
            f"{name}_right": condition.right,
        }
    return rows

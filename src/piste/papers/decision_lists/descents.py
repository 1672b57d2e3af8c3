"""Theorem 2: gradient descent on W and V where all of its conditions are true."""

import jax
import jax.numpy as jnp
import numpy as np
import xarray as xr

from piste.dynamics.population import Listed, descend_to_perfection, population_loss
from piste.models.one_hot import OneHotWeights, at_permutation
from piste.tasks.decision_lists import DecisionLists, Instance
from piste.theory.decision_lists import ValueTheorem, smallest_length, value_theorem
from piste.values import option, value

from .calculations import table

SIZES = (
    "40,19,1,60 64,32,2,200 64,32,2,200 64,32,2,400 48,29,2,200 64,45,1,80 "
    "80,40,3,200 64,32,2,40"
)
CLOSE = 0.99
"""How much of the allowed distance from $cP$ the start takes."""


@value
class Descents:
    r"""Descent from $W_0 = 0$ and $V_0$ within $\epsilon/2$ of $cP$ until all is right."""

    sizes: str = SIZES
    """Sizes L,n,m and the number of sets of positive probability."""
    limit: int = option(default=80, least=1)
    """Steps after which a descent ends unfinished."""
    seed: int = option(default=0, least=0)

    def parts(self) -> int:
        """One for every size."""
        return len(self.sizes.split())

    def part(self, index: int) -> xr.Dataset:
        """Check the conditions, and descend whatever they say."""
        instance = self._instance(index)
        population = population_loss(instance, train_value=True)
        assert isinstance(population, Listed)
        theorem, weights = _prepared(instance, population)
        found = descend_to_perfection(population, weights, limit=self.limit)
        shortest, longest = theorem.steps(found.learning_rate)
        row = {
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
        path = np.array([found.curvatures, found.margins])
        filled = np.full((2, self.limit + 1), np.nan)
        filled[:, : path.shape[1]] = path
        data = table([row | _conditions(theorem, found)])
        return data.assign(
            curvature=(("cell", "step"), filled[:1]),
            margin=(("cell", "step"), filled[1:]),
        )

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


def _prepared(
    instance: Instance, population: Listed
) -> tuple[ValueTheorem, OneHotWeights]:
    r"""The constants for a start at random within $\epsilon/2$, and that start.

    $\mathcal{L}_0$ depends on the start and $c$ on $\mathcal{L}_0$, so the fixed point is
    looked for with the loss of the very start.
    """
    epsilon = value_theorem(instance).epsilon
    off = CLOSE * epsilon / 2
    unit = at_permutation(instance.permutation, 1.0)
    shape, key = unit.value.shape, jax.random.key(instance.vocabulary)
    error = off * jax.random.uniform(key, shape, minval=-1.0)

    @jax.jit
    def loss(scale):
        return population.loss(unit.attention, scale * unit.value + error)

    theorem = value_theorem(
        instance, epsilon, off, initial_loss=lambda c: float(loss(jnp.asarray(c)))
    )
    start = OneHotWeights(unit.attention, theorem.scale * unit.value + error)
    return theorem, start


def _conditions(theorem: ValueTheorem, found) -> dict:
    step = theorem.step_condition(found.learning_rate, found.steepest)
    names = ("scale", "start", "below", "above", "step")
    every = (*theorem.conditions, step)
    rows = {}
    for name, condition in zip(names, every, strict=True):
        rows |= {
            f"{name}_holds": condition.holds,
            f"{name}_left": condition.left,
            f"{name}_right": condition.right,
        }
    return rows

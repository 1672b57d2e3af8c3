"""The one-hot model on a population, as forms that can be trained."""

import dataclasses

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, Key

from piste.training import AbstractForm

from ..models import OneHotWeights
from ..probes import (
    CASE_PROBES,
    LOSS,
    LOSS_ERROR,
    MATRIX_PROBES,
    VALUE_PROBES,
    ListView,
)
from ..tasks import Instance
from ._base import AbstractPopulation
from .flow_problem import Problem
from .listed import ListedPopulation
from .monte_carlo import MonteCarlo, estimate

MAX_RECORDED_VOCABULARY = 128
"""The largest vocabulary for which probes record whole matrices."""


class Lists(eqx.Module):
    """The lists and the permutation for probes, of one shape for all seeds."""

    lists: Int[Array | np.ndarray, "token slot"]
    list_lengths: Int[Array | np.ndarray, " token"]
    permutation: Int[Array | np.ndarray, " token"]

    @staticmethod
    def of(instance: Instance, bound: int) -> "Lists":
        """Fill the lists up to a bound with their own token, which changes nothing."""
        own = np.arange(instance.vocabulary)[:, None]
        missing = bound - instance.lists.shape[1]
        lists = np.concatenate([instance.lists, own.repeat(missing, 1)], axis=1)
        return Lists(lists, instance.list_lengths, instance.permutation)


class AttentionForm(AbstractForm):
    r"""Only $W$ is trained, from 0, with $V = cP$ and softmax: the setting of Theorem 1.

    The parameters are the population's scores: one for all entries of $W$ that stay equal.
    """

    population: AbstractPopulation
    scale: Float[Array, ""] | float
    lists: Lists
    score_row: Int[np.ndarray, "key query"] | None
    """The row of the scores for every entry of $W$, where it is recorded."""

    def initial(self):
        """Uniform attention, $W = 0$."""
        return self.population.initial()

    def loss_and_gradient(self, params, step=0):
        """The gradient of one entry of $W$ for each score."""
        population = self.population
        loss, slope = jax.value_and_grad(population.attention_loss)(params, self.scale)
        return loss, slope / population.entries

    def norm(self, gradient):
        """Norm over all entries of $W$."""
        return jnp.sqrt((self.population.entries * gradient**2).sum())

    def unit(self):
        """A score of $n/c$ moves a logit by one."""
        return self.population.length / self.scale

    def stiff(self, time):
        """With repetition scores must travel far, see :class:`Problem`."""
        return Problem(self.population, float(self.scale), time).stiff

    def view(self, params):
        """All cases of the population, and $W$ where it is small."""
        cases = self.population.cases
        logs, shares = cases.log_masses(params), cases.attention(params)
        others = jnp.where(cases.decides, -jnp.inf, logs).max(-1)
        own = jnp.take_along_axis(logs, cases.decider[:, None], -1)[:, 0]
        decided = jnp.take_along_axis(shares, cases.decider[:, None], -1)[:, 0]
        view = ListView(
            loss=self.population.attention_loss(params, self.scale),
            standard_error=jnp.zeros(()),
            margins=own - others,
            decided=decided,
            weight=jnp.asarray(cases.weight),
        )
        if self.score_row is None:
            return view
        attention = params[self.score_row, jnp.asarray(self.population.column)]
        return dataclasses.replace(view, attention=attention, **_as_jax(self.lists))

    def test_view(self, params):
        """The same: a population has no test data."""
        return self.view(params)

    def probes(self):
        """All but those of $V$, which is fixed."""
        matrices = MATRIX_PROBES if self.score_row is not None else ()
        return (LOSS, *CASE_PROBES, *matrices)


class WeightsForm(AbstractForm):
    r"""$W$, $V$ or both, from any start, with any kernel; the other one stays."""

    weights: OneHotWeights
    population: ListedPopulation
    """All sequences; or, where they are too many, a batch on which to measure."""
    lists: Lists
    sampler: MonteCarlo | None
    """Draws the batch of every step, where sequences are too many to list."""
    key: Key[Array, ""]
    train: str = eqx.field(static=True)

    def initial(self):
        """The trained matrices by name."""
        return {name: getattr(self.weights, name) for name in self._trained()}

    def _trained(self) -> tuple[str, ...]:
        return ("attention", "value") if self.train == "both" else (self.train,)

    def loss_and_gradient(self, params, step=0):
        """Differentiate the exact loss, or that of the step's own batch."""
        population = self.population
        if self.sampler is not None:
            population = self.sampler.draw(key=jax.random.fold_in(self.key, step))

        def loss(params):
            weights = dataclasses.replace(self.weights, **params)
            return population.loss(weights.attention, weights.value)

        return jax.value_and_grad(loss)(params)

    def view(self, params):
        """Every position of every sequence, and both matrices where they are small."""
        weights = dataclasses.replace(self.weights, **params)
        population = self.population
        losses = population.losses(weights.attention, weights.value)
        margins = population.label_margins(weights.attention, weights.value)
        chance = jnp.asarray(population.probability)
        exact = self.sampler is None
        view = ListView(
            loss=jnp.dot(chance, losses),
            standard_error=0 * losses[0] if exact else estimate(losses).standard_error,
            margins=margins.reshape(-1),
            decided=self._decided(weights).reshape(-1),
            weight=jnp.repeat(chance / population.length, population.length),
        )
        if not self._small():
            return view
        matrices = {"attention": weights.attention, "value": weights.value}
        return dataclasses.replace(view, **matrices, **_as_jax(self.lists))

    def _decided(self, weights: OneHotWeights) -> Float[Array, "sequence position"]:
        """Attention on all copies of the label-determining token."""
        labels, pi = self.population.labels, jnp.asarray(self.lists.permutation)
        decides = jnp.asarray(labels)[..., None] == pi
        return jnp.where(decides, self.population.attended(weights), 0).sum(-1)

    def _small(self) -> bool:
        return len(self.lists.list_lengths) <= MAX_RECORDED_VOCABULARY

    def test_view(self, params):
        """The same: a population has no test data."""
        return self.view(params)

    def probes(self):
        """All; the standard error only where there is one."""
        error = () if self.sampler is None else (LOSS_ERROR,)
        matrices = (*MATRIX_PROBES, *VALUE_PROBES) if self._small() else ()
        return (LOSS, *error, *CASE_PROBES, *matrices)


def _as_jax(lists: Lists) -> dict[str, Array]:
    return {
        "lists": jnp.asarray(lists.lists),
        "list_lengths": jnp.asarray(lists.list_lengths),
        "permutation": jnp.asarray(lists.permutation),
    }

"""Assembly of decision lists with the one-hot model, and which form is chosen."""

import functools

import jax
import numpy as np

from piste.errors import field_error
from piste.experiment import Experiment
from piste.rules import AbstractFlow
from piste.streams import Stream, stream
from piste.training import AbstractForm, InitialState, form

from ..models import OneHot, at_permutation
from ..probes import ListView
from ..tasks import FEW_SETS, DecisionLists, Instance
from ..theory import attention_theorem, value_theorem
from ._base import AbstractPopulation
from .choose import choose_population_form, population_loss
from .condensed import AbstractCondensedPopulation
from .experiments import in_theorem_1, parts_of
from .form import MAX_RECORDED_VOCABULARY, AttentionForm, Lists, WeightsForm
from .listed import ListedPopulation
from .monte_carlo import MonteCarlo
from .needs import list_needs


def _draw(experiment: Experiment, loaded: None) -> InitialState:
    (task, model), seed = parts_of(experiment), experiment.seed
    instance, _ = task.datasets(loaded, seed=seed)
    if model.start == "permutation":
        scale = model.value_scale or theorem_scale(model, instance)
        weights = at_permutation(instance.permutation, scale)
    else:
        key = stream(seed, Stream.INIT)
        weights = model.draw_weights(task, key=key)
    return InitialState(instance, None, weights)


def theorem_scale(model: OneHot, instance: Instance) -> float:
    """The scale $c$ that the theorem about what is trained asks for."""
    if model.train == "attention":
        return attention_theorem(instance).scale
    if instance.sequences.repeats:
        expected = "Theorem 2 has no scale c with repetition; must be above 0"
        raise field_error("model.value_scale", 0, expected)
    return value_theorem(instance).scale


@functools.lru_cache(maxsize=8)
def _cheapest(task: DecisionLists, symmetric: bool) -> str:
    # The lists do not matter for the choice, only how many sequences there are.
    instance = task.instance(key=jax.random.key(0))
    return choose_population_form(instance, train_value=not symmetric)


def _holds(name: str, experiment: Experiment) -> bool:
    """Whether a form computes the population loss of an experiment."""
    (task, _), symmetric = parts_of(experiment), in_theorem_1(experiment)
    return {
        "reduced": symmetric and task.distribution == "uniform",
        "partitions": symmetric and task.distribution == "iid",
        "support": task.distribution in ("dirichlet", *FEW_SETS),
        "enumeration": True,
        "monte-carlo": not isinstance(experiment.rule, AbstractFlow),
    }[name]


def _rank(name: str, index: int, experiment: Experiment) -> int | None:
    """The cheapest form that is affordable first, then in the order of the table."""
    cheapest = _cheapest(parts_of(experiment)[0], in_theorem_1(experiment))
    flow = isinstance(experiment.rule, AbstractFlow)
    if cheapest == "monte-carlo" and flow and experiment.form == "auto":
        message = "the flow needs an exact loss, which is too costly for this task"
        raise field_error("rule", "flow", f"{message}; must be a discrete rule")
    if not _holds(name, experiment):
        return None
    return 0 if name == cheapest else 1 + index


def _build(
    name: str, experiment: Experiment, initial: InitialState, pad_for_batching: bool
) -> AbstractForm:
    """The form that computes the population loss in the way of a name."""
    (task, model), instance = parts_of(experiment), initial.data
    lists = Lists.of(instance, task.list_bound)
    population = population_loss(instance, name, batch=task.batch, kernel=model.kernel)
    if in_theorem_1(experiment) and not isinstance(population, MonteCarlo):
        scale = initial.weights.value.max()
        rows = _score_rows(instance, population)
        return AttentionForm(population, scale, lists, rows)
    sampler, key = None, stream(experiment.seed, Stream.BATCH)
    if isinstance(population, MonteCarlo):
        sampler = population
        population = sampler.draw(key=stream(experiment.seed, Stream.PROBE))
    assert isinstance(
        population, ListedPopulation
    )  # the others hold for Theorem 1 alone
    return WeightsForm(initial.weights, population, lists, sampler, key, model.train)


def _score_rows(
    instance: Instance, population: AbstractPopulation
) -> np.ndarray | None:
    """The row of the scores for every entry of $W$, unless it is too large to record."""
    size, lists = instance.vocabulary, instance.lists
    if size > MAX_RECORDED_VOCABULARY:
        return None
    own = np.arange(size)
    if not isinstance(population, AbstractCondensedPopulation):
        return own[:, None].repeat(size, 1)
    rows = np.full((size, size), lists.shape[1])
    for slot in range(lists.shape[1]):
        queries = own[slot < instance.list_lengths]
        rows[lists[queries, slot], queries] = slot
    return rows


PREFERRED = ("reduced", "partitions", "support", "enumeration", "monte-carlo")

for _index, _name in enumerate(PREFERRED):
    form(
        _name,
        for_task=DecisionLists,
        for_model=OneHot,
        rank=functools.partial(_rank, _name, _index),
        draw=_draw,
        needs=list_needs,
        views=ListView,
        own_weights=_name in ("enumeration", "support"),
    )(functools.partial(_build, _name))

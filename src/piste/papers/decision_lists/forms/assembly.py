"""Assembly of decision lists with the one-hot model: the engines are the forms."""

import functools

import jax
import numpy as np

from piste.errors import InputError, field_error
from piste.experiment import Experiment
from piste.rules import Flow
from piste.streams import Stream, stream
from piste.training import AbstractForm, InitialState, form

from ..models import OneHot, at_permutation
from ..tasks import DecisionLists
from ..tasks.decision_lists import FEW_SETS, Instance
from ..theory.bounds import attention_theorem, value_theorem
from .choose import choose_engine, population_loss
from .condensed import AbstractCondensed
from .experiments import in_theorem_1, parts_of
from .form import WRITTEN_OUT, AttentionForm, Lists, WeightsForm
from .listed import Listed
from .monte_carlo import MonteCarlo
from .needs import list_needs


def _start(experiment: Experiment, loaded) -> InitialState:
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
        rule = "Theorem 2 has no scale c with repetition; must be above 0"
        raise field_error("model.value_scale", 0, rule)
    return value_theorem(instance).scale


@functools.lru_cache(maxsize=8)
def _best(task: DecisionLists, symmetric: bool) -> str:
    # The lists do not matter for the choice, only how many sequences there are.
    instance = task.instance(key=jax.random.key(0))
    return choose_engine(instance, train_value=not symmetric)


def _holds(engine: str, experiment: Experiment) -> bool:
    """Whether an engine computes the population loss of an experiment."""
    (task, _), symmetric = parts_of(experiment), in_theorem_1(experiment)
    finite = ("dirichlet", *FEW_SETS)
    return {
        "reduced": symmetric and task.distribution == "uniform",
        "partitions": symmetric and task.distribution == "iid",
        "support": task.distribution in finite,
        "enumeration": True,
        "monte-carlo": not isinstance(experiment.rule, Flow),
    }[engine]


def _rank(engine: str, place: int, experiment: Experiment) -> int | None:
    """The cheapest engine that is affordable first, then in the order of the table."""
    best = _best(parts_of(experiment)[0], in_theorem_1(experiment))
    flow = isinstance(experiment.rule, Flow)
    if best == "monte-carlo" and flow and experiment.form == "auto":
        rule = "the flow needs an exact loss, which is too costly for this task"
        raise field_error("rule", "flow", f"{rule}; must be a discrete rule")
    if not _holds(engine, experiment):
        return None
    return 0 if engine == best else 1 + place


def _build(
    name: str, experiment: Experiment, start: InitialState, pad_for_batching: bool
) -> AbstractForm:
    """The form that computes the population loss with an engine of a name."""
    (task, model), instance = parts_of(experiment), start.data
    lists = Lists.of(instance, task.list_bound)
    try:
        population = population_loss(
            instance, name, batch=task.batch, kernel=model.kernel
        )
    except InputError as error:
        # What an engine is called elsewhere, an experiment calls a form.
        raise field_error("form", error.value, error.expected) from None
    if in_theorem_1(experiment) and not isinstance(population, MonteCarlo):
        scale = start.weights.value.max()
        place = _place(instance, population)
        return AttentionForm(population, scale, lists, place)
    sampler, key = None, stream(experiment.seed, Stream.BATCH)
    if isinstance(population, MonteCarlo):
        sampler = population
        population = sampler.draw(key=stream(experiment.seed, Stream.PROBE))
    assert isinstance(population, Listed)  # the others hold for Theorem 1 alone
    return WeightsForm(start.weights, population, lists, sampler, key, model.train)


def _place(instance: Instance, population) -> np.ndarray | None:
    """Where in the scores every entry of $W$ is found."""
    size, lists = instance.vocabulary, instance.lists
    if size > WRITTEN_OUT:
        return None
    own = np.arange(size)
    if not isinstance(population, AbstractCondensed):
        return own[:, None].repeat(size, 1)
    place = np.full((size, size), lists.shape[1])
    for slot in range(lists.shape[1]):
        queries = own[slot < instance.list_lengths]
        place[lists[queries, slot], queries] = slot
    return place


PREFERRED = ("reduced", "partitions", "support", "enumeration", "monte-carlo")

for _place_in_table, _engine in enumerate(PREFERRED):
    form(
        _engine,
        for_task=DecisionLists,
        for_model=OneHot,
        rank=functools.partial(_rank, _engine, _place_in_table),
        draw=_start,
        needs=list_needs,
        own_weights=_engine in ("enumeration", "support"),
    )(functools.partial(_build, _engine))

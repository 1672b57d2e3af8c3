"""Assembly of decision lists with the one-hot model: the engines are the forms."""

import jax
import numpy as np

from piste.errors import InputError
from piste.experiment import Experiment
from piste.models import OneHot
from piste.models.one_hot import at_permutation
from piste.rules import Flow
from piste.streams import Stream, stream
from piste.tasks import DecisionLists
from piste.tasks.decision_lists import FEW_SETS, Instance
from piste.theory.decision_lists import attention_theorem, value_theorem

from .._base import AbstractForm, Assembly, Start
from .choose import choose_engine, population_loss
from .condensed import AbstractCondensed
from .form import WRITTEN_OUT, AttentionForm, Lists, WeightsForm
from .listed import Listed
from .monte_carlo import MonteCarlo


def _parts(experiment: Experiment) -> tuple[DecisionLists, OneHot]:
    task, model = experiment.task, experiment.model
    assert isinstance(task, DecisionLists) and isinstance(model, OneHot)
    return task, model


def _start(experiment: Experiment, loaded) -> Start:
    (task, model), seed = _parts(experiment), experiment.seed
    instance = task.instance(key=stream(seed, Stream.DATA))
    if model.start == "permutation":
        scale = model.value_scale or theorem_scale(model, instance)
        weights = at_permutation(instance.permutation, scale)
    else:
        key = stream(seed, Stream.INIT)
        weights = model.init(key=key, vocabulary=task.vocabulary)
    return Start(instance, None, weights)


def theorem_scale(model: OneHot, instance: Instance) -> float:
    """The scale $c$ that the theorem about what is trained asks for."""
    if model.train == "attention":
        return attention_theorem(instance).scale
    if instance.sequences.repeats:
        rule = "Theorem 2 has no scale c with repetition; must be above 0"
        raise InputError(f"model.value-scale = 0: {rule}")
    return value_theorem(instance).scale


def _forms(experiment: Experiment) -> dict[str, bool]:
    (task, _), symmetric = _parts(experiment), in_theorem_1(experiment)
    best = _best(task, symmetric)
    sets, finite = task.distribution == "uniform", ("dirichlet", *FEW_SETS)
    exact = not isinstance(experiment.rule, Flow)
    holds = {
        "reduced": symmetric and sets,
        "partitions": symmetric and task.distribution == "iid",
        "support": task.distribution in finite,
        "enumeration": True,
        "monte-carlo": exact,
    }
    if best == "monte-carlo" and not exact and experiment.form == "auto":
        rule = "the flow needs an exact loss, which is too costly for this task"
        raise InputError(f"rule = flow: {rule}; must be a discrete rule")
    return {best: holds[best]} | holds


def in_theorem_1(experiment: Experiment) -> bool:
    """Whether tokens stay exchangeable: only $W$ is trained, $V = cP$, softmax."""
    _, model = _parts(experiment)
    return (model.train, model.start, model.kernel) == (
        "attention",
        "permutation",
        "softmax",
    )


def _best(task: DecisionLists, symmetric: bool) -> str:
    # The lists do not matter for the choice, only how many sequences there are.
    instance = task.instance(key=jax.random.key(0))
    return choose_engine(instance, train_value=not symmetric)


def _make(name: str, experiment: Experiment, start: Start, whole: bool) -> AbstractForm:
    (task, model), instance = _parts(experiment), start.data
    lists = Lists.of(instance, task.list_bound)
    try:
        population = population_loss(
            instance, name, batch=task.batch, kernel=model.kernel
        )
    except InputError as error:
        # What an engine is called elsewhere, an experiment calls a form.
        raise InputError(str(error).replace("engine = ", "form = ", 1)) from None
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


LISTS = Assembly((DecisionLists,), (OneHot,), _start, _forms, _make)

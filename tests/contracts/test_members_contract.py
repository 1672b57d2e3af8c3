"""Tables: every task, model and form passes the contract tests that users call too."""

import dataclasses

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from piste.errors import InputError
from piste.models import MODELS, AbstractModel, model
from piste.probes import Probe
from piste.registry import _NAMES, name_of
from piste.streams import Stream, stream
from piste.tasks import TASKS, AbstractTask, Text, task
from piste.testing import check_form, check_model, check_task
from piste.training import FORMS, AbstractForm, find_form, form
from support.contract_rows import IMAGES, collected, experiment_of, is_ours, ours
from support.families import forgotten
from support.small import reviews

TASK_TABLE = collected("TASKS")
MODEL_TABLE = collected("MODELS")
FORM_TABLE = collected("FORMS")


@pytest.fixture(autouse=True)
def texts(monkeypatch):
    monkeypatch.setattr(Text, "load", lambda self: reviews())


@pytest.fixture(autouse=True)
def known():
    """What a test adds is gone after it."""
    before, forms = {id(f): set(f) for f in (TASKS, MODELS)}, list(FORMS)
    yield
    FORMS[:] = forms
    for family in (TASKS, MODELS):
        for name in set(family) - before[id(family)]:
            _NAMES.pop(family[name])
            family.remove(name)


def test_the_tables_have_a_row_for_every_member():
    assert {name_of(row) for row in TASK_TABLE} == ours(TASKS)
    assert {name_of(row) for row, _ in MODEL_TABLE} == ours(MODELS)
    rows = {
        (name, entry.name)
        for entry in FORMS
        for name, cls in MODELS.items()
        if issubclass(cls, entry.models) and is_ours(cls)
    }
    assert set(FORM_TABLE) == rows


@pytest.mark.parametrize("row", range(len(TASK_TABLE)), ids=lambda k: str(k))
def test_every_task_passes_the_contract(row):
    check_task(TASK_TABLE[row])


@pytest.mark.parametrize("row", range(len(MODEL_TABLE)))
def test_every_model_passes_the_contract(row):
    check_model(*MODEL_TABLE[row])


@pytest.mark.parametrize("row", FORM_TABLE, ids=" ".join)
def test_every_form_passes_the_contract(row):
    assert find_form(FORM_TABLE[row]).name == row[1]
    check_form(FORM_TABLE[row])


# --- broken ones ----------------------------------------------------------------------


def says(call, words):
    with pytest.raises(AssertionError) as caught:
        call()
    line = str(caught.value)
    assert words in line and "\n" not in line


def drawn(seed, dtype="float64"):
    return jax.random.normal(stream(seed, Stream.DATA), (3,), dtype)


class Loaded:
    digest = ""


BROKEN_TASKS = {
    "datasets must return a pair": lambda seed: drawn(seed),
    "the same seed gives other data when drawn again": lambda seed: (
        jnp.asarray(np.random.default_rng().normal(size=3)),
        None,
    ),
    "another seed gives the same data": lambda seed: (jnp.ones(3), None),
    "its data are in float32; must be in float64": lambda seed: (
        drawn(seed, "float32"),
        None,
    ),
    "its data hold a float; must be arrays": lambda seed: ((drawn(seed), 0.5), None),
    "draws otherwise where its seed is traced": lambda seed: (
        drawn(seed) * (2.0 if isinstance(seed, int) else 1.0),
        None,
    ),
}


def made_task(datasets, load=lambda: None):
    @task("mine")
    class Mine(AbstractTask):
        samples: int = 3

        def load(self):
            return load()

        def datasets(self, loaded, *, seed):
            return datasets(seed)

    return Mine()


def test_a_small_task_of_a_user_passes():
    check_task(made_task(lambda seed: (drawn(seed), None)))


@pytest.mark.parametrize("words", BROKEN_TASKS)
def test_a_broken_task_is_told_what_is_wrong(words):
    says(lambda: check_task(made_task(BROKEN_TASKS[words])), f"task mine: {words}")


def test_a_task_that_is_not_random_says_so():
    def computed(random, datasets):
        @task("mine")
        class Mine(AbstractTask):
            def datasets(self, loaded, *, seed):
                return datasets(seed)

        Mine.random = random
        return Mine()

    with forgotten():
        check_task(computed(False, lambda seed: (jnp.ones(3), None)))
    broken = computed(False, lambda seed: (drawn(seed), None))
    says(lambda: check_task(broken), "task mine: says random = False, but another")


def test_what_a_task_loads_must_be_told_apart():
    broken = made_task(lambda seed: (drawn(seed), None), Loaded)
    says(lambda: check_task(broken), "task mine: what it loads has no digest")


def test_a_task_must_be_frozen_and_come_back_from_json():
    @task("mine")
    class Tagged(AbstractTask):
        tags: object = frozenset("a")

        def datasets(self, loaded, *, seed):
            return drawn(seed), None

    says(lambda: check_task(Tagged()), "task mine: its JSON cannot be read (")


def made_model(draw, kernel="softmax"):
    @model("mine")
    class Mine(AbstractModel):
        kernel: str = "softmax"

        def draw_weights(self, task, *, key):
            return draw(key)

    return Mine(kernel)


BROKEN_MODELS = {
    "no form trains it on task pathfinder; add one by @form": lambda key: (
        jax.random.normal(key, (3,))
    ),
    "has no weights": lambda key: None,
    "its weights are in float32": lambda key: jax.random.normal(key, (3,), "float32"),
    "another seed gives the same weights": lambda key: jnp.ones(3),
    "its weights are not finite": lambda key: jax.random.normal(key, (3,)) / 0,
}


@pytest.mark.parametrize("words", BROKEN_MODELS)
def test_a_broken_model_is_told_what_is_wrong(words):
    broken = made_model(BROKEN_MODELS[words])
    says(lambda: check_model(broken, IMAGES), f"model mine: {words}")


def test_a_kernel_that_nobody_knows_is_caught():
    broken = made_model(lambda key: jax.random.normal(key, (3,)), "nowhere")
    says(lambda: check_model(broken, IMAGES), "its kernel 'nowhere' is not known")


class Seen(eqx.Module):
    loss: jax.Array


LOSS = Probe("train_loss", "$L$", "the loss", lambda view: view.loss)


class Line(AbstractForm):
    """The mean square of the distance of one vector to another."""

    start: jax.Array
    goal: jax.Array

    def initial(self):
        return {"w": self.start}

    def _loss(self, params):
        return ((params["w"] - self.goal) ** 2).mean()

    def loss_and_gradient(self, params, step=0):
        return jax.value_and_grad(self._loss)(params)

    def view(self, params):
        return Seen(self._loss(params))

    test_view = view

    def probes(self):
        return (LOSS,)


class WrongSlope(Line):
    def loss_and_gradient(self, params, step=0):
        loss, slope = jax.value_and_grad(self._loss)(params)
        return loss, jax.tree.map(lambda leaf: 2 * leaf, slope)


class WrongTree(Line):
    def loss_and_gradient(self, params, step=0):
        return self._loss(params), params["w"]


class WrongNorm(Line):
    def norm(self, gradient):
        return 2 * jnp.sqrt(sum((g**2).sum() for g in jax.tree.leaves(gradient)))


class Vector(Line):
    def loss_and_gradient(self, params, step=0):
        loss, slope = jax.value_and_grad(self._loss)(params)
        return loss[None], slope


class WrongProbe(Line):
    def probes(self):
        return (dataclasses.replace(LOSS, dims=("sample",)),)


class Twice(Line):
    def probes(self):
        return (LOSS, LOSS)


class Narrow(Line):
    def apply(self, params, updates):
        return {"w": (params["w"] + updates["w"])[:1]}


class HalfEvaluated(Line):
    def evaluation_loss(self, params):
        return 3 * self._loss(params)


class Evaluated(HalfEvaluated):
    def gradient(self, params):
        return jax.grad(self._loss)(params)


def line(cls, size=lambda experiment: 3):
    """An experiment that trains in a form of this class."""
    mine = made_task(lambda seed: (drawn(seed), None))

    def built(key):
        return jax.random.normal(key, (3,))

    layer = made_model(built)

    @form("line", for_task=type(mine), for_model=type(layer))
    def build(experiment, start, pad_for_batching):
        count = size(experiment)
        return cls(start.weights[:count], start.data[:count])

    return experiment_of(mine, layer)


BROKEN_FORMS = {
    "loss_and_gradient's gradient is": WrongSlope,
    "its gradient is not a tree like its parameters": WrongTree,
    "norm says that a gradient of length": WrongNorm,
    "its loss has 1 axes, not 0": Vector,
    "has two probes of the name train_loss": Twice,
    "apply changes the shape or the type": Narrow,
    "gradient, of the loss that evaluation_loss gives,": Evaluated,
    "has part of the ability HasFixedLoss, but no gradient": HalfEvaluated,
}


def test_a_small_form_of_a_user_passes():
    check_form(line(Line))


@pytest.mark.parametrize("words", BROKEN_FORMS)
def test_a_broken_form_is_told_what_is_wrong(words):
    says(lambda: check_form(line(BROKEN_FORMS[words])), f"form line: {words}")


def test_a_probe_of_another_rank_is_caught():
    words = "probe train_loss: declares 1 axes (sample) but gives an array of 0"
    says(lambda: check_form(line(WrongProbe)), words)


def test_shapes_that_depend_on_the_seed_are_caught():
    broken = line(Line, size=lambda experiment: 1 + experiment.seed % 2)
    words = "form line: two seeds have other shapes when they are padded"
    says(lambda: check_form(broken), words)


def test_a_form_without_the_loss_is_refused_in_one_line():
    class Blind(Line):
        def probes(self):
            return ()

    with pytest.raises(InputError, match="^form = line: has no probe train_loss; "):
        check_form(line(Blind))

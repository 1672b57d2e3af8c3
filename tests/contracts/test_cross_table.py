"""Every task × model × kernel × rule that can run does; the others say why in one line."""

import dataclasses
import functools

import jax
import numpy as np
import pytest

from piste import training
from piste.attention import KERNELS
from piste.datasets import TextSet
from piste.errors import InputError
from piste.experiment import Experiment, Schedule
from piste.models import MODELS
from piste.registry import name_of
from piste.rules import RULES
from piste.tasks import TASKS, Text
from piste.values import override
from support.contract_rows import collected, ours
from support.small import finish

STEPS = 50
TABLE = collected("PAIRS")
# Too few steps to converge, small enough for every kernel not to blow up.
SETTINGS = {"flow": {"time_step": 1e-3, "solver": "tsit5"}}
RATE = {"learning_rate": 1e-3}

DISCRETE = [rule for rule in RULES if rule != "flow"]


def by_default(row: str) -> tuple[str, str]:
    """The kernels that every run of the tests tries; the others are among the slow ones.

    A classifier has its attention in blocks for the first, and plain for the second.
    """
    return ("softmax", "linear") if TABLE[row].slow else ("softmax", "gaussian")


def kernels_of(row: str) -> tuple[str, ...]:
    """All kernels, or one that does not matter where a model has no choice of them."""
    return tuple(KERNELS) if hasattr(TABLE[row].model, "kernel") else ("softmax",)


CELLS = [
    pytest.param(
        row, kernel, marks=() if kernel in by_default(row) else pytest.mark.slow
    )
    for row in TABLE
    for kernel in kernels_of(row)
]
# A solver takes seconds to compile: one kernel per row, the others among the slow tests.
FLOWS = [
    pytest.param(row, kernel, marks=() if kernel == "gaussian" else pytest.mark.slow)
    for row in TABLE
    for kernel in kernels_of(row)
    if not TABLE[row].in_batches
]


@pytest.fixture(autouse=True)
def reviews(monkeypatch):
    """A few texts whose first word is their class."""

    def load(self):
        texts = tuple(f"{'good' if k % 2 else 'bad'} film {k}" for k in range(20))
        tests = tuple(f"{'good' if k % 2 else 'bad'} other {k}" for k in range(4))
        return TextSet(texts, np.arange(20) % 2, tests, np.arange(4) % 2)

    monkeypatch.setattr(Text, "load", load)


def experiment(row: str, kernel: str, rule: str) -> Experiment:
    task, model = TABLE[row].task, TABLE[row].model
    return Experiment(
        task=task,
        model=override(model, {"kernel": kernel} if hasattr(model, "kernel") else {}),
        rule=RULES[rule](**SETTINGS.get(rule, RATE)),
        steps=STEPS,
        record=Schedule(dense=1, test_every=8, chunk=8),
    )


@functools.cache
def start(row: str) -> training.InitialState:
    """The same for all kernels and rules, and slow to compile."""
    return training.draw(experiment(row, "softmax", "gd"))


def built(given: Experiment, row: str) -> training.System:
    form = training.find_form(given).build(given, start(row), False)
    return training.System(form, given.rule)


@jax.jit
def gradient(form, params, step):
    """Compiled once for all rules that share a form."""
    return form.loss_and_gradient(params, step)


def stepped(system: training.System):
    """50 steps of the rule on the form; the engine compiles the same two calls."""
    form, state = system.form, system.start()
    transform, losses = (
        system.rule.transform(functools.partial(training.gradient_norm, form)),
        [],
    )
    params, memory = state.params, state.rule
    for step in range(STEPS):
        loss, slope = gradient(form, params, step)
        updates, memory = transform.update(slope, memory, params)
        params = training.apply_updates(form, params, updates)
        losses.append(float(loss))
    return losses, params


@pytest.mark.parametrize(("row", "kernel"), CELLS)
def test_what_can_run_runs(row, kernel):
    for rule in DISCRETE:
        losses, params = stepped(built(experiment(row, kernel, rule), row))
        assert np.isfinite(losses).all() and losses[-1] != losses[0], rule
        assert all(np.isfinite(leaf).all() for leaf in jax.tree.leaves(params)), rule
        # Other rules need not descend, nor do batches from one to the next.
        if rule == "gd" and not TABLE[row].slow:
            assert losses[-1] < losses[0]


@pytest.mark.parametrize(("row", "kernel"), FLOWS)
def test_the_flow_runs(row, kernel):
    given = experiment(row, kernel, "flow")
    system = dataclasses.replace(built(given, row), only=("train_loss",))
    done = finish(system, training.Plan.of(given))
    losses = done.records["train_loss"]
    assert int(done.state.step) == STEPS and int(done.state.diverged) < 0
    assert np.isfinite(losses).all() and losses[-1] < losses[0]


PAIRS = {(name_of(pair.task), name_of(pair.model)) for pair in TABLE.values()}


def test_the_table_has_a_row_for_every_task_and_model():
    read = PAIRS | collected("ALSO_READ")
    assert {task for task, _ in read} == ours(TASKS) - collected("SAME_DATA")
    assert {model for _, model in read} == ours(MODELS)
    assert set(TABLE) == {", ".join(pair) for pair in PAIRS}


READ = PAIRS | collected("ALSO_READ")
TASK_ROWS = {name_of(row): row for row in collected("TASKS")}
MODEL_ROWS = {name_of(row): row for row, _ in collected("MODELS")}
WRONG = [
    (task, model)
    for task in dict.fromkeys(task for task, _ in READ)
    for model in MODEL_ROWS
    if (task, model) not in READ
]


@pytest.mark.parametrize(("task", "model"), sorted(WRONG))
def test_a_model_that_cannot_read_a_task_says_so(task, model):
    given = Experiment(TASK_ROWS[task], MODEL_ROWS[model], RULES["gd"]())
    with pytest.raises(InputError) as caught:
        training.build(given)
    line = str(caught.value)
    right = [m for t, m in READ if t == task]
    assert line.startswith(f"model = {model}: cannot read the data of task {task}")
    assert "\n" not in line and any(word in line for word in right)


@pytest.mark.parametrize(("row", "kernel", "rule", "form"), collected("NO_FORM"))
def test_a_form_that_does_not_hold_says_so(row, kernel, rule, form):
    given = dataclasses.replace(experiment(row, kernel, rule), form=form)
    with pytest.raises(InputError) as caught:
        training.build(given)
    line = str(caught.value)
    assert line.startswith(f"form = {form}: does not hold") and "\n" not in line
    assert kernel in line and "must be auto" in line

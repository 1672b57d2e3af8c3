"""Decision lists in training: every form trains alike, and probes mean what they say."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from piste import training
from piste.attention import KERNELS
from piste.errors import InputError
from piste.experiment import Experiment, Schedule
from piste.papers.decision_lists.models import (
    OneHot,
    OneHotWeights,
    label_loss,
    label_margin,
    matrix_logits,
    token_logits,
)
from piste.papers.decision_lists.tasks import DecisionLists
from piste.papers.decision_lists.theory import attention_theorem, ordering_margin
from piste.rules import GD, Adam, Flow, Lion, NormalisedGD, SignGD
from piste.store import run_in_memory
from piste.testing import assert_close
from support.contract_rows import CLASSIFIER, IMAGES, experiment_of

RECORD = Schedule(dense=40, test_every=4, chunk=8)
LISTS = DecisionLists(7, 3, 3)
JOINT = Experiment(
    task=LISTS, model=OneHot(), rule=GD(learning_rate=10.0), steps=40, record=RECORD
)
THEOREM = dataclasses.replace(
    JOINT,
    model=OneHot(train="attention", start="permutation", value_scale=30.0),
    rule=Flow(time_step=0.05),
)
RULES = {
    "gd": GD(learning_rate=0.05),
    "normalised-gd": NormalisedGD(learning_rate=0.05),
    "signgd": SignGD(learning_rate=0.01),
    "adam": Adam(learning_rate=0.01),
    "lion": Lion(learning_rate=0.01),
    "flow": Flow(time_step=0.05, rtol=1e-9, atol=1e-10),
}


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("distribution", ["uniform", "iid"])
def test_few_scores_train_as_the_whole_matrix(rule, distribution):
    task = dataclasses.replace(LISTS, distribution=distribution)
    experiment = dataclasses.replace(THEOREM, task=task, rule=RULES[rule])
    short = run_in_memory(experiment)
    full = run_in_memory(dataclasses.replace(experiment, form="enumeration"))
    assert (
        short.attrs["form"] == {"uniform": "reduced", "iid": "partitions"}[distribution]
    )
    for name in ("train_loss", "margin", "decider_attention", "attention_matrix"):
        np.testing.assert_allclose(short[name], full[name], rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("kernel", KERNELS)
def test_the_form_is_the_model_position_by_position(kernel):
    """Loss, margins and attention against the literal formula, one sequence at a time."""
    experiment = dataclasses.replace(
        JOINT, model=OneHot(init_scale=1.0, kernel=kernel), steps=1
    )
    system = training.build(experiment)
    form, instance = system.form, training.draw(experiment).data
    view = form.view(form.initial())
    tokens, chance = instance.sequences.rows()
    losses, margins = [], []
    for row in tokens:
        labels = jnp.asarray(instance.labels(row))
        logits = matrix_logits(form.weights, jnp.eye(7)[:, row], kernel)
        assert_close(token_logits(form.weights, jnp.asarray(row), kernel), logits)
        losses.append(float(label_loss(logits, labels)))
        margins.append(np.asarray(label_margin(logits, labels)))
    assert_close(view.loss, np.dot(chance, losses))
    assert_close(view.margins, np.concatenate(margins))
    right = np.concatenate(margins) > 0
    assert_close(view.accuracy(), np.mean(right))
    gradient = form.loss_and_gradient(form.initial())[1]
    # Softmax over labels: what one logit gains the others lose.
    np.testing.assert_allclose(gradient["value"].sum(0), 0, atol=1e-14)


def test_the_probe_of_the_order_is_the_theorem_s_criterion():
    experiment = dataclasses.replace(JOINT, rule=SignGD(learning_rate=0.05), steps=40)
    run = run_in_memory(experiment)
    instance = training.draw(experiment).data
    lengths, lists = instance.list_lengths, instance.lists
    for place, step in enumerate(run.test_step.values):
        w = run.attention_matrix.values[place]
        leads = run.ordering.sel(step=step).values
        for a, m in enumerate(lengths):
            listed = [w[b, a] for b in lists[a, :m]]
            outside = max(w[b, a] for b in range(7) if b not in lists[a, :m])
            expected = -np.diff([*listed, outside])
            np.testing.assert_allclose(leads[a, :m], expected)
            assert np.isnan(leads[a, m:]).all()
        assert np.nanmin(leads) == pytest.approx(ordering_margin(w, instance))


def test_perfect_is_a_positive_margin_and_an_accuracy_of_one():
    run = run_in_memory(dataclasses.replace(JOINT, rule=GD(learning_rate=30.0)))
    perfect = run.margin.values > 0
    assert perfect.any() and not perfect.all()
    np.testing.assert_array_equal(perfect, run.accuracy.values > 1 - 1e-12)
    assert float(run.decider_attention[-1]) > float(run.decider_attention[0])


def test_the_value_alone_turns_to_the_permutation_under_uniform_attention():
    model = OneHot(train="value")
    run = run_in_memory(dataclasses.replace(JOINT, model=model, steps=200))
    assert float(np.abs(run.attention_matrix).max()) == 0
    assert float(run.value_cosine_centred[-1]) > 0.8 > float(run.value_cosine[-1]) - 0.2
    assert float(run.accuracy.max()) < 1


def test_cosines_ignore_what_they_should():
    form = training.build(JOINT).form
    pi = np.asarray(form.lists.permutation)
    p = np.zeros((7, 7))
    p[pi, np.arange(7)] = 1
    shifted = 2 * p - 1 + np.arange(7)[:, None] + 10 * np.arange(7)
    view = form.view({"attention": jnp.zeros((7, 7)), "value": jnp.asarray(shifted)})
    assert_close(view.cosine(centred=True), 1.0)
    assert float(view.cosine(centred=False)) < 0.9


def test_the_theorem_s_scale_is_taken_where_none_is_given():
    model = OneHot(train="attention", start="permutation")
    experiment = dataclasses.replace(THEOREM, model=model)
    start = training.draw(experiment)
    assert float(start.weights.value.max()) == pytest.approx(
        attention_theorem(start.data).scale
    )
    assert float(np.abs(start.weights.attention).max()) == 0


def test_monte_carlo_draws_a_batch_for_every_step_and_states_its_error():
    task = dataclasses.replace(LISTS, batch=512)
    sampled = dataclasses.replace(JOINT, task=task, form="monte-carlo")
    run, exact = run_in_memory(sampled), run_in_memory(JOINT)
    error = np.abs(run.train_loss - exact.train_loss).values
    assert (run.loss_error > 0).all() and "loss_error" not in exact
    assert error[0] < 5 * float(run.loss_error[0]) + 1e-3
    form = training.build(sampled).form
    params = form.initial()
    first, second = (form.loss_and_gradient(params, step)[0] for step in (0, 1))
    assert float(first) != float(second)
    assert float(first) == float(form.loss_and_gradient(params, 0)[0])


BAD = [
    (
        {"task": DecisionLists(60, 8, 3), "form": "enumeration"},
        r"form = enumeration: .*rows, at most .*; use reduced \(V = cP\) or monte-carlo",
    ),
    (
        {"task": DecisionLists(60, 8, 3), "rule": Flow()},
        "rule = flow: the flow needs an exact loss",
    ),
    ({"form": "gram"}, "form = gram: does not hold for model one-hot, rule gd"),
    ({"form": "partitions"}, "form = partitions: does not hold"),
    ({"form": "reduced"}, "form = reduced: does not hold"),
    (
        {
            "task": dataclasses.replace(LISTS, distribution="iid"),
            "model": OneHot(start="permutation"),
        },
        "model.value-scale = 0: Theorem 2 has no scale c with repetition",
    ),
]


@pytest.mark.parametrize(("changes", "line"), BAD)
def test_what_cannot_be_trained_is_one_line(changes, line):
    with pytest.raises(InputError, match=line) as error:
        training.build(dataclasses.replace(JOINT, **changes))
    assert "\n" not in str(error.value)


def test_a_model_of_another_task_is_one_line():
    with pytest.raises(
        InputError, match="model = one-hot: cannot read the data of task"
    ):
        training.build(experiment_of(IMAGES, OneHot()))
    with pytest.raises(InputError, match="task decision-lists; must be one-hot"):
        training.build(experiment_of(LISTS, CLASSIFIER))


def test_the_flow_needs_an_exact_loss():
    task = DecisionLists(400, 6, 2, distribution="iid")
    given = Experiment(task=task, model=OneHot(), rule=Flow())
    with pytest.raises(InputError, match="rule = flow: the flow needs an exact loss"):
        training.build(given)


def test_seeds_share_one_program():
    systems = [
        training.build(dataclasses.replace(JOINT, seed=seed), pad_for_batching=True)
        for seed in range(6)
    ]
    shapes = [jax.tree.map(np.shape, system) for system in systems]
    assert all(shape == shapes[0] for shape in shapes)


def test_weights_are_named():
    form = training.build(JOINT).form
    assert isinstance(form.weights, OneHotWeights)
    assert set(form.initial()) == {"attention", "value"}

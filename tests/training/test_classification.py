"""The classifier on the engine: batches, gradients, probes, and stopping mid-epoch."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from piste import training
from piste.claims import stages
from piste.errors import InputError
from piste.experiment import Experiment, Schedule
from piste.models import Classifier
from piste.models.classifier import cross_entropy, logits
from piste.rules import GD, Adam, Flow
from piste.store import Store, read_manifest, run_in_memory
from piste.tasks import Text
from piste.tasks.text import TEXTS
from piste.testing import assert_close
from piste.training.classification import devices_for
from support.small import reviews

TASK = Text(tokeniser="words", frequent=20, length=6, validation_samples=8, batch=8)
SMALL = Experiment(
    task=TASK,
    model=Classifier(layers=1, dimension=8, hidden=8, heads=2),
    rule=Adam(learning_rate=1e-2, clip=1.0),
    steps=20,
    record=Schedule(every=5, chunk=2, test_every=2),
)


@pytest.fixture(autouse=True)
def texts(monkeypatch):
    """Fifty-eight reviews are left to train on."""
    found = reviews()
    monkeypatch.setitem(TEXTS, "imdb", lambda folder: found)


def test_an_epoch_takes_every_sequence_at_most_once_and_each_has_its_own_order():
    form = training.build(SMALL).form
    per_epoch = 58 // 8
    epochs = [
        np.concatenate([form.rows(e * per_epoch + s) for s in range(per_epoch)])
        for e in range(2)
    ]
    for rows in epochs:
        assert len(set(rows.tolist())) == per_epoch * 8
    assert not np.array_equal(*epochs)


def test_the_gradient_is_that_of_the_batch_alone():
    model = dataclasses.replace(SMALL.model, dropout=0.0)
    form = training.build(dataclasses.replace(SMALL, model=model)).form
    chosen = form.train.take(form.rows(3))

    def plain(weights):
        tokens = chosen.tokens.astype(jnp.int32)
        return cross_entropy(
            logits(model, weights, tokens, chosen.mask()), chosen.labels
        )

    found = jax.jit(lambda w: form.loss_and_gradient(w, 3))(form.initial())
    assert_close(found, jax.jit(jax.value_and_grad(plain))(form.initial()), slack=10)


def test_dropout_depends_on_the_step_alone():
    form = training.build(SMALL).form
    loss = jax.jit(lambda step: form.loss_and_gradient(form.initial(), step)[0])
    assert float(loss(3)) == float(loss(3)) != float(loss(4))


def test_probes_see_all_sets_without_dropout():
    form = training.build(SMALL).form
    view, test = form.view(form.initial()), form.test_view(form.initial())
    assert view.train.labels.shape == (58,) and view.validation.labels.shape == (8,)
    tokens = form.test.tokens.astype(jnp.int32)
    expected = logits(form.model, form.initial(), tokens, form.test.mask())
    assert_close(test.logits, expected, slack=10)
    right = np.argmax(expected, -1) == np.asarray(form.test.labels)
    assert float(test.accuracy()) == pytest.approx(right.mean())
    # Fewer sequences than a landscape surveys: the same loss.
    assert_close(form.evaluation_loss(form.initial()), view.train.loss())


@pytest.mark.parametrize(
    "kernel", ["softmax", pytest.param("linear", marks=pytest.mark.slow)]
)
def test_it_learns_what_the_first_word_says(kernel):
    model = dataclasses.replace(SMALL.model, kernel=kernel, dropout=0.0)
    run = run_in_memory(dataclasses.replace(SMALL, model=model, steps=60))
    assert float(run.test_accuracy[-1]) > 0.9
    assert run.step.values.tolist() == list(range(0, 61, 5))
    # This small batch starts with a loss below that of guessing, by chance.
    assert float(run.train_loss[-1]) < 0.3
    assert "starts at 0.5" in stages(run).boundaries["leaves"].evidence


def test_a_run_stopped_in_the_middle_of_an_epoch_ends_in_the_same_bits(tmp_path):
    whole = Store(tmp_path / "whole").run(SMALL).trajectory()

    def stop(step, loss):
        if step >= 5:
            raise KeyboardInterrupt

    store = Store(tmp_path / "parts")
    with pytest.raises(KeyboardInterrupt):
        store.run(SMALL, watch=stop)
    assert store.interrupted(SMALL).steps % (58 // 8) != 0
    (partial,) = store.root.glob("*.partial")
    manifest = read_manifest(partial)
    assert manifest.shares == 1 and manifest.inputs.data == TASK.load().digest
    dataclasses.replace(manifest, shares=2).write(partial)
    with pytest.raises(InputError, match="started on 2 devices .* .found 1.; --fresh"):
        store.run(SMALL)
    manifest.write(partial)
    again = store.run(SMALL).trajectory()
    for name in ("train_loss", "validation_loss", "test_loss", "test_accuracy"):
        np.testing.assert_array_equal(again[name], whole[name])


@pytest.mark.parametrize(
    ("cores", "shares"), [(1, 1), (2, 2), (3, 2), (6, 4), (64, 32)]
)
def test_as_many_devices_as_share_the_batch_evenly(monkeypatch, cores, shares):
    monkeypatch.setattr(jax, "devices", lambda: [None] * cores)
    assert devices_for(32) == shares


def test_no_validation_set_no_validation_probes():
    task = dataclasses.replace(TASK, validation_samples=0)
    system = training.build(dataclasses.replace(SMALL, task=task))
    assert "validation_loss" not in {probe.name for probe in system.probes()}


def test_the_gradient_is_cut_to_its_longest():
    long = {"a": jnp.array([3.0, 4.0])}

    def norm(tree):
        return jnp.sqrt((tree["a"] ** 2).sum())

    for clip, expected in ((0.0, 5.0), (1.0, 1.0), (7.0, 5.0)):
        rule = Adam(learning_rate=1.0, b1=0.0, clip=clip)
        _, state = rule.transform(norm).update(long, rule.transform(norm).init(long))
        assert_close(norm(state.first), expected)


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        ({"rule": Flow()}, "rule = flow: the flow needs the loss of all data"),
        ({"form": "gram"}, "form = gram: does not hold for model classifier"),
        (
            {"task": dataclasses.replace(TASK, batch=100)},
            "task.batch = 100: must be at most 58: the training set has no more",
        ),
        (
            {"task": dataclasses.replace(TASK, validation_samples=100)},
            "task.validation-samples = 100: must be at most",
        ),
    ],
)
def test_what_cannot_be_trained_is_one_line(changes, line):
    with pytest.raises(InputError, match=line):
        training.build(dataclasses.replace(SMALL, **changes))


@pytest.mark.slow
def test_plain_descent_is_stochastic_descent():
    run = run_in_memory(dataclasses.replace(SMALL, rule=GD(learning_rate=0.1)))
    assert np.isfinite(run.train_loss).all()

"""Training a classifier of images: batches, and the loss that is recorded."""

import jax
import numpy as np
import pytest

from piste import training
from piste.experiment import Experiment, Schedule
from piste.papers.signgd.models import PatchTransformer, SmallCNN
from piste.papers.signgd.tasks import LabelledDigits
from piste.rules import GD
from piste.testing import assert_close

CNN = SmallCNN(channels=2)
TRANSFORMER = PatchTransformer(patch=4, dimension=4, hidden=3)


def experiment(model, batch: int) -> Experiment:
    task = LabelledDigits(train_samples=20, test_samples=10, batch=batch)
    record = Schedule(dense=1, test_every=8, chunk=8)
    return Experiment(task, model, GD(0.1), steps=4, record=record)


def built(model, batch: int):
    with jax.enable_x64(True):
        return training.build(experiment(model, batch)).form


def test_every_epoch_sees_every_image_once_in_an_order_of_its_own():
    form = built(CNN, 5)
    rows = [np.asarray(form.rows(step)) for step in range(8)]
    first, second = np.concatenate(rows[:4]), np.concatenate(rows[4:])
    for epoch in (first, second):
        assert sorted(epoch) == list(range(20))
    assert not np.array_equal(first, second)


@pytest.mark.parametrize("model", [CNN, TRANSFORMER], ids=["cnn", "transformer"])
def test_a_step_has_the_gradient_of_its_own_batch(model):
    with jax.enable_x64(True):
        form = built(model, 5)
        found = form.loss_and_gradient(form.weights, 2)
        rows = np.asarray(form.rows(2))

        def loss(weights):
            logits = model.logits(weights, form.train.images[rows])
            log_p = logits - jax.scipy.special.logsumexp(logits, 1, keepdims=True)
            return -log_p[np.arange(5), np.asarray(form.train.labels)[rows]].mean()

        expected = jax.value_and_grad(loss)(form.weights)
    for one, other in zip(*map(jax.tree.leaves, (found, expected)), strict=True):
        assert_close(one, np.asarray(other))


def test_without_batches_a_step_sees_the_whole_set():
    with jax.enable_x64(True):
        form = built(CNN, 0)
        value, slope = form.loss_and_gradient(form.weights, 7)
        assert_close(value, np.asarray(form.evaluation_loss(form.weights)))
        whole = form.gradient(form.weights)
    for one, other in zip(*map(jax.tree.leaves, (slope, whole)), strict=True):
        assert_close(one, np.asarray(other))

"""Classifiers of images: a batch for every step, or the whole training set."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Int, Key, PyTree

from piste.experiment import Experiment
from piste.models.classifier import cross_entropy
from piste.probes.classification import (
    TEST_PROBES,
    TRAIN_PROBES,
    ClassifierView,
    SetScores,
)
from piste.streams import Stream, stream
from piste.training import AbstractForm, InitialState, batch_of, form

from ..models import PatchTransformer, SmallCNN
from ..tasks import LabelledDigits, LabelledImages


@form(
    "full",
    for_task=LabelledDigits,
    for_model=(SmallCNN, PatchTransformer),
    views=(ClassifierView, SetScores),
)
class ImageClassifierForm(AbstractForm):
    """All weights, gradients of a batch by autodiff."""

    model: SmallCNN | PatchTransformer
    weights: PyTree
    train: LabelledImages
    test: LabelledImages
    key: Key[Array, ""]
    batch: int = eqx.field(static=True)

    @classmethod
    def build(
        cls, experiment: Experiment, start: InitialState, pad_for_batching: bool
    ) -> "ImageClassifierForm":
        """The form of a run."""
        task, model = experiment.task, experiment.model
        assert isinstance(task, LabelledDigits)
        assert isinstance(model, (SmallCNN, PatchTransformer))
        key = stream(experiment.seed, Stream.BATCH)
        return cls(model, start.weights, start.data, start.test, key, task.batch)

    def initial(self):
        """All weights."""
        return self.weights

    def loss_and_gradient(self, params, step=0):
        """The mean loss of the step's own batch."""
        data = jax.tree.map(jnp.asarray, self.train)
        if self.batch:
            rows = self.rows(step)
            data = jax.tree.map(lambda x: x[rows], data)

        def loss(weights):
            return cross_entropy(self.model.logits(weights, data.images), data.labels)

        return jax.value_and_grad(loss)(params)

    def rows(self, step: Int[Array, ""] | int) -> Int[Array, " batch"]:
        """The batch of a step: every epoch has an order of its own."""
        return batch_of(self.key, step, self.train.labels.shape[0], self.batch)

    def evaluation_loss(self, params):
        """The loss on the whole training set, whatever the step's batch."""
        return self._scored(params, self.train).loss()

    def gradient(self, params):
        """That of the loss on the whole training set."""
        return jax.grad(self.evaluation_loss)(params)

    def view(self, params):
        """The whole training set."""
        return ClassifierView(self._scored(params, self.train), None)

    def test_view(self, params):
        """The test set."""
        return self._scored(params, self.test)

    def _scored(self, params, data: LabelledImages) -> SetScores:
        found = self.model.logits(params, jnp.asarray(data.images))
        return SetScores(found, jnp.asarray(data.labels))

    def probes(self):
        """Losses and accuracies."""
        return (*TRAIN_PROBES, *TEST_PROBES)

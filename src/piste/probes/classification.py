"""What training a classifier shows: loss and accuracy on three sets."""

import equinox as eqx
from jaxtyping import Array, Float, Int

from piste.models.classifier import accuracy, cross_entropy

from ._base import RARELY, Probe, summarise


class SetScores(eqx.Module):
    """A set of sequences, classified."""

    logits: Float[Array, "sequence class"]
    labels: Int[Array, " sequence"]

    def loss(self) -> Float[Array, ""]:
        """Mean cross-entropy."""
        return cross_entropy(self.logits, self.labels)

    def accuracy(self) -> Float[Array, ""]:
        """Share of sequences whose largest logit is that of the label, or NaN."""
        return accuracy(self.logits, self.labels)


class ClassifierView(eqx.Module):
    """A classifier on some of the training set and on the validation set."""

    train: SetScores
    validation: SetScores | None


TRAIN_PROBES = (
    Probe(
        "train_loss",
        r"$L_{\mathrm{train}}$",
        "mean cross-entropy on a fixed part of the training set",
        lambda view: view.train.loss(),
    ),
    Probe(
        "train_accuracy",
        r"$\mathrm{acc}_{\mathrm{train}}$",
        "accuracy on a fixed part of the training set",
        lambda view: view.train.accuracy(),
    ),
)
VALIDATION_PROBES = (
    Probe(
        "validation_loss",
        r"$L_{\mathrm{val}}$",
        "mean cross-entropy on the validation set",
        lambda view: view.validation.loss(),
        along=RARELY,
    ),
    Probe(
        "validation_accuracy",
        r"$\mathrm{acc}_{\mathrm{val}}$",
        "accuracy on the validation set",
        lambda view: view.validation.accuracy(),
        along=RARELY,
    ),
)
TEST_PROBES = (
    Probe(
        "test_loss",
        r"$L_{\mathrm{test}}$",
        "mean cross-entropy on the test set",
        SetScores.loss,
        along=RARELY,
        on_test=True,
    ),
    Probe(
        "test_accuracy",
        r"$\mathrm{acc}_{\mathrm{test}}$",
        "accuracy on the test set",
        SetScores.accuracy,
        along=RARELY,
        on_test=True,
    ),
)
summarise("validation_accuracy", "test_accuracy")

"""The classifier on token sequences: a batch for every step, dealt out by the seed.

Which sequences a step takes depends on the seed and the number of the step alone, so a
run that is stopped in the middle of an epoch goes on to the same bits.
"""

import functools

import equinox as eqx
import jax
import jax.numpy as jnp
from jax.sharding import NamedSharding, PartitionSpec
from jaxtyping import Array, Bool, Int, Integer, Key

from piste.errors import InputError
from piste.experiment import Experiment
from piste.models import Classifier, ClassifierWeights
from piste.models.classifier import cross_entropy, logits
from piste.probes.classification import (
    TEST_PROBES,
    TRAIN_PROBES,
    VALIDATION_PROBES,
    ClassifierView,
    Scored,
)
from piste.rules import Flow
from piste.streams import Stream, stream
from piste.tasks import Pathfinder, Text, TokenSequences
from piste.tasks.token_sequences import SequenceSets

from ._base import AbstractForm, Assembly, Start
from .sharded import (
    compiler_options,
    host_mesh,
    sharded_gradient,
    sharded_outputs,
)

SEEN = 512
"""Training sequences on which the training loss is measured."""
SURVEYED = 64
"""Training sequences whose loss a landscape shows, at thousands of points."""
PIECE = 2
"""Sequences that a device works on at a time while training; they stay in its cache."""
SCORED = 8
"""The same without gradients, which take less room."""


class Sequences(eqx.Module):
    """Token sequences on the device, in narrow types."""

    tokens: Integer[Array, "sequence position"]
    lengths: Int[Array, " sequence"]
    labels: Int[Array, " sequence"]

    @staticmethod
    def of(data: TokenSequences, most: int | None = None) -> "Sequences":
        """The first so many sequences, or all."""
        parts = (data.tokens, data.lengths, data.labels)
        return Sequences(*(jnp.asarray(x[:most]) for x in parts))

    def take(self, rows: Int[Array, " batch"]) -> "Sequences":
        """The sequences at some places."""
        return jax.tree.map(lambda x: jnp.asarray(x)[rows], self)

    def mask(self) -> Bool[Array, "sequence position"]:
        """Where there is a token, and not padding."""
        return jnp.arange(self.tokens.shape[1]) < self.lengths[:, None]


class ClassifierForm(AbstractForm):
    """All weights, gradients of a batch by autodiff, shared out over the devices."""

    model: Classifier
    weights: ClassifierWeights
    train: Sequences
    validation: Sequences | None
    test: Sequences
    key: Key[Array, ""]
    batch: int = eqx.field(static=True)
    devices: int = eqx.field(static=True)

    def initial(self):
        """All weights."""
        return self.weights

    def loss_and_gradient(self, params, step=0):
        """The mean loss of the step's own batch, with dropout."""
        chosen = self.train.take(self.rows(step))
        keys = jax.random.split(jax.random.fold_in(self.key, 2 * step + 1), self.batch)
        gradient = sharded_gradient(self._loss, self._mesh(), piece=self._piece())
        return gradient(params, (chosen, keys))

    def _loss(self, params, part):
        some, keys = part
        tokens = some.tokens.astype(jnp.int32)
        found = logits(self.model, params, tokens, some.mask(), keys=keys)
        return cross_entropy(found, some.labels)

    def rows(self, step: Int[Array, ""] | int) -> Int[Array, " batch"]:
        """The batch of a step: every epoch has an order of its own."""
        count = self.train.labels.shape[0]
        epoch, place = jnp.divmod(step, count // self.batch)
        # Even numbers for orders, odd ones for dropout: no key is used twice.
        key = jax.random.fold_in(self.key, 2 * epoch)
        order = jax.random.permutation(key, count)
        return jax.lax.dynamic_slice(order, (place * self.batch,), (self.batch,))

    def evaluation_loss(self, params):
        """The loss on a few fixed training sequences, without dropout: its landscape."""
        few = jax.tree.map(lambda x: jnp.asarray(x)[:SURVEYED], self.train)
        return self._scored(params, few).loss()

    def gradient(self, params):
        """That of the loss on these few sequences, whatever the step's batch."""
        return jax.grad(self.evaluation_loss)(params)

    def _seen(self) -> Sequences:
        return jax.tree.map(lambda x: jnp.asarray(x)[:SEEN], self.train)

    def view(self, params):
        """Part of the training set, and the validation set."""
        train = self._scored(params, self._seen())
        if self.validation is None:
            return ClassifierView(train, None)
        return ClassifierView(train, self._scored(params, self.validation))

    def test_view(self, params):
        """The test set."""
        return self._scored(params, self.test)

    def _scored(self, params, data: Sequences) -> Scored:
        def found(params, some):
            tokens = some.tokens.astype(jnp.int32)
            return logits(self.model, params, tokens, some.mask())

        outputs = sharded_outputs(found, self._mesh(), piece=SCORED)
        return Scored(outputs(params, data), jnp.asarray(data.labels))

    def _mesh(self):
        return host_mesh(self.devices)

    def _piece(self) -> int:
        share = self.batch // self.devices
        return next(
            size for size in range(min(PIECE, share), 0, -1) if share % size == 0
        )

    def shares(self):
        """One for each device."""
        return self.devices

    def placed(self, state):
        """A copy for every device."""
        return jax.device_put(state, NamedSharding(self._mesh(), PartitionSpec()))

    def compiler_options(self):
        """Those that suit a batch that is shared out."""
        return compiler_options(self._mesh())

    def probes(self):
        """Losses and accuracies; validation where there is such a set."""
        middle = () if self.validation is None else VALIDATION_PROBES
        return (*TRAIN_PROBES, *middle, *TEST_PROBES)


def _start(experiment: Experiment, loaded) -> Start:
    task, model = _parts(experiment)
    sets = _sets(task, loaded, experiment.seed)
    weights = jax.jit(model.init, static_argnames=("vocabulary", "length", "classes"))(
        key=stream(experiment.seed, Stream.INIT),
        vocabulary=task.vocabulary,
        length=task.length,
        classes=task.classes,
    )
    return Start(sets, sets.test, weights)


@functools.lru_cache(maxsize=1)
def _sets(task: Text | Pathfinder, loaded, seed: int) -> SequenceSets:
    """The data of a run; a landscape builds several systems on the same."""
    return task.datasets(loaded, seed=seed)


def _parts(experiment: Experiment) -> tuple[Text | Pathfinder, Classifier]:
    task, model = experiment.task, experiment.model
    assert isinstance(task, (Text, Pathfinder)) and isinstance(model, Classifier)
    return task, model


def _forms(experiment: Experiment) -> dict[str, bool]:
    if isinstance(experiment.rule, Flow):
        rule = "the flow needs the loss of all data; must be a discrete rule"
        raise InputError(f"rule = flow: {rule}")
    return {"full": True}


def _make(name: str, experiment: Experiment, start: Start, whole: bool) -> AbstractForm:
    (task, model), sets = _parts(experiment), start.data
    validation = Sequences.of(sets.validation) if sets.validation.count else None
    return ClassifierForm(
        model=model,
        weights=start.weights,
        train=Sequences.of(sets.train),
        validation=validation,
        test=Sequences.of(sets.test),
        key=stream(experiment.seed, Stream.BATCH),
        batch=task.batch,
        devices=devices_for(task.batch),
    )


def devices_for(batch: int) -> int:
    """As many of the devices as can share the batch evenly."""
    most = min(batch, len(jax.devices()))
    return next(count for count in range(most, 0, -1) if batch % count == 0)


SEQUENCES = Assembly((Text, Pathfinder), (Classifier,), _start, _forms, _make)

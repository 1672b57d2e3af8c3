"""The classifier on token sequences: a batch for every step, dealt out by the seed.

Which sequences a step takes depends on the seed and the number of the step alone, so a
run that is stopped in the middle of an epoch goes on to the same bits.
"""

import functools

import equinox as eqx
import jax
import jax.numpy as jnp
from jax.sharding import NamedSharding, PartitionSpec
from jaxtyping import Array, Bool, Int, Integer, Key, PyTree

from piste.attention.kernels import KERNELS, OTHER_KEYS
from piste.errors import field_error
from piste.experiment import Experiment
from piste.models import MODELS, AbstractSequenceClassifier
from piste.models.classifier import cross_entropy
from piste.probes.classification import (
    TEST_PROBES,
    TRAIN_PROBES,
    VALIDATION_PROBES,
    ClassifierView,
    SetScores,
)
from piste.registry import name_of
from piste.rules import AbstractFlow
from piste.streams import Stream, stream
from piste.tasks import AbstractSequenceTask, TokenSequences
from piste.tasks.token_sequences import SequenceSets

from ._base import AbstractForm, InitialState
from .batch_order import batch_of
from .classification_needs import (
    SCORING_BATCH,
    microbatch_of,
    sequence_needs,
)
from .forms import always_holds, form
from .sharded import compiler_options, host_mesh, sharded_gradient, sharded_outputs

TRAIN_EVAL_SIZE = 512
"""Training sequences on which the training loss is measured."""
LANDSCAPE_SIZE = 64
"""Training sequences whose loss a landscape shows, at thousands of points."""


class Sequences(eqx.Module):
    """Token sequences on the device, in narrow types."""

    tokens: Integer[Array, "sequence position"]
    lengths: Int[Array, " sequence"]
    labels: Int[Array, " sequence"]

    @staticmethod
    def of(data: TokenSequences, count: int | None = None) -> "Sequences":
        """The first so many sequences, or all."""
        parts = (data.tokens, data.lengths, data.labels)
        return Sequences(*(jnp.asarray(x[:count]) for x in parts))

    def take(self, rows: Int[Array, " batch"]) -> "Sequences":
        """The sequences at some places."""
        return jax.tree.map(lambda x: jnp.asarray(x)[rows], self)

    def mask(self) -> Bool[Array, "sequence position"]:
        """Where there is a token, and not padding."""
        return jnp.arange(self.tokens.shape[1]) < self.lengths[:, None]


def _start(experiment: Experiment, loaded) -> InitialState:
    task, seed = experiment.task, experiment.seed
    assert isinstance(task, AbstractSequenceTask)
    sets = _sets(task, loaded, seed)
    # One program: each operation by itself would be compiled apart.
    drawn = jax.jit(lambda key: experiment.model.draw_weights(task, key=key))
    return InitialState(sets, sets.test, drawn(stream(seed, Stream.INIT)))


@functools.lru_cache(maxsize=1)
def _sets(task: AbstractSequenceTask, loaded, seed: int) -> SequenceSets:
    """The data of a run; a landscape builds several systems on the same."""
    return task.sequence_sets(loaded, seed=seed)


def _rank(experiment: Experiment) -> int | None:
    """It always holds, but for a flow, models of images on words, and some kernels."""
    _check_images(experiment)
    if isinstance(experiment.rule, AbstractFlow):
        expected = "the flow needs the loss of all data; must be a discrete rule"
        raise field_error("rule", "flow", expected)
    kernel = experiment.model.attention
    padded = getattr(experiment.task, "padded", True)
    if kernel and padded and KERNELS[kernel].divides_by == OTHER_KEYS:
        expected = (
            "a weight depends on all keys together, so padding cannot be left out"
        )
        raise field_error("model.kernel", kernel, f"{expected}; must be another kernel")
    return always_holds(experiment)


def _check_images(experiment: Experiment) -> None:
    """Refuse a model that reads pixels where the task has no images."""
    task, model = experiment.task, experiment.model
    if not getattr(model, "needs_images", False) or hasattr(task, "side"):
        return
    kinds = {
        n: c for n, c in MODELS.items() if issubclass(c, AbstractSequenceClassifier)
    }
    readers = " or ".join(name for name, cls in kinds.items() if not cls.needs_images)
    expected = f"cannot read the data of task {name_of(task)}, which are no images"
    raise field_error("model", name_of(model), f"{expected}; must be {readers}")


@form(
    "full",
    for_task=AbstractSequenceTask,
    for_model=AbstractSequenceClassifier,
    rank=_rank,
    draw=_start,
    needs=sequence_needs,
    views=(ClassifierView, SetScores),
)
class ClassifierForm(AbstractForm):
    """All weights, gradients of a batch by autodiff, shared out over the devices."""

    model: AbstractSequenceClassifier
    weights: PyTree
    train: Sequences
    validation: Sequences | None
    test: Sequences
    key: Key[Array, ""]
    batch: int = eqx.field(static=True)
    microbatch: int = eqx.field(static=True)
    devices: int = eqx.field(static=True)

    @classmethod
    def build(
        cls, experiment: Experiment, start: InitialState, pad_for_batching: bool
    ) -> "ClassifierForm":
        """The form of a run, on as many devices as can share a batch."""
        task, model, sets = experiment.task, experiment.model, start.data
        assert isinstance(task, AbstractSequenceTask)
        assert isinstance(model, AbstractSequenceClassifier)
        validation = Sequences.of(sets.validation) if sets.validation.count else None
        return cls(
            model=model,
            weights=start.weights,
            train=Sequences.of(sets.train),
            validation=validation,
            test=Sequences.of(sets.test),
            key=stream(experiment.seed, Stream.BATCH),
            batch=task.batch,
            microbatch=microbatch_of(task, model),
            devices=devices_for(task.batch),
        )

    def initial(self):
        """All weights."""
        return self.weights

    def loss_and_gradient(self, params, step=0):
        """The mean loss of the step's own batch, with dropout."""
        chosen = self.train.take(self.rows(step))
        dropping = jax.random.fold_in(jax.random.fold_in(self.key, 1), step)
        keys = jax.random.split(dropping, self.batch)
        gradient = sharded_gradient(self._loss, self._mesh(), piece=self._piece())
        return gradient(params, (chosen, keys))

    def _loss(self, params, part):
        some, keys = part
        tokens = some.tokens.astype(jnp.int32)
        found = self.model.logits(params, tokens, some.mask(), keys=keys)
        return cross_entropy(found, some.labels)

    def rows(self, step: Int[Array, ""] | int) -> Int[Array, " batch"]:
        """The batch of a step: every epoch has an order of its own."""
        # One key for orders, the other for dropout: none is used twice.
        order = jax.random.fold_in(self.key, 0)
        return batch_of(order, step, self.train.labels.shape[0], self.batch)

    def evaluation_loss(self, params):
        """The loss on a few fixed training sequences, without dropout: its landscape."""
        few = jax.tree.map(lambda x: jnp.asarray(x)[:LANDSCAPE_SIZE], self.train)
        return self._scored(params, few).loss()

    def gradient(self, params):
        """That of the loss on these few sequences, whatever the step's batch."""
        return jax.grad(self.evaluation_loss)(params)

    def _seen(self) -> Sequences:
        return jax.tree.map(lambda x: jnp.asarray(x)[:TRAIN_EVAL_SIZE], self.train)

    def view(self, params):
        """Part of the training set, and the validation set."""
        train = self._scored(params, self._seen())
        if self.validation is None:
            return ClassifierView(train, None)
        return ClassifierView(train, self._scored(params, self.validation))

    def test_view(self, params):
        """The test set."""
        return self._scored(params, self.test)

    def _scored(self, params, data: Sequences) -> SetScores:
        def found(params, some):
            tokens = some.tokens.astype(jnp.int32)
            return self.model.logits(params, tokens, some.mask())

        outputs = sharded_outputs(found, self._mesh(), piece=SCORING_BATCH)
        return SetScores(outputs(params, data), jnp.asarray(data.labels))

    def _mesh(self):
        return host_mesh(self.devices)

    def _piece(self) -> int:
        """How many sequences a device works on at a time, so that shares are whole."""
        share = self.batch // self.devices
        most = min(self.microbatch, share)
        return next(size for size in range(most, 0, -1) if share % size == 0)

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


def devices_for(batch: int) -> int:
    """As many of the devices as can share the batch evenly."""
    most = min(batch, len(jax.devices()))
    return next(count for count in range(most, 0, -1) if batch % count == 0)

"""What classifiers of sequences need, in bytes."""

import math

import jax

from piste.devices import cores
from piste.experiment import Experiment
from piste.models import AbstractSequenceClassifier
from piste.tasks import AbstractSequenceTask, Text

from .needs import DRAWN, Needs, width_of

MICROBATCH = 2
"""Sequences that a device works on at a time while training, or more if they are short."""
CACHED_NUMBERS = 1_500_000
"""Numbers that a training step may keep of all of them: they stay in the cache."""
SCORING_BATCH = 8
"""Sequences that are worked on at a time without gradients, which take less room."""
TEXTS = 4e8
"""Bytes of all texts of IMDb as they are read, sorted and kept."""


def microbatch_of(task: AbstractSequenceTask, model: AbstractSequenceClassifier) -> int:
    """How many sequences a device should work on at a time while training."""
    return max(MICROBATCH, int(CACHED_NUMBERS // model.activations(task)))


def sequence_needs(experiment: Experiment) -> Needs:
    """What a classifier on sequences needs."""
    task, model, width = experiment.task, experiment.model, width_of(experiment)
    assert isinstance(task, AbstractSequenceTask)
    assert isinstance(model, AbstractSequenceClassifier)
    train, validation, test = task.counts()
    token = 1 if task.vocabulary <= 256 else 2 if task.vocabulary <= 65_536 else 4
    data = (train + validation + test) * (task.length * token + 24.0)
    weights = DRAWN * _weight_entries(task, model)
    devices = min(cores(), 8, task.batch)
    params = weights * width / DRAWN
    # Every device has a copy of the weights and of everybody's gradient.
    shared = params * devices * (1 + devices)
    texts = TEXTS if isinstance(task, Text) else 0
    at_once = min(microbatch_of(task, model), task.batch)
    kept = width * model.activations(task) * max(at_once, SCORING_BATCH)
    working = data + shared + 16 * train + devices * kept
    return Needs(
        data=data,
        weights=weights,
        drawing=4 * data + 2 * weights + texts,
        params=params,
        working=working + texts,
        record=2 * width,
        test_record=4 * width,
    )


def _weight_entries(
    task: AbstractSequenceTask, model: AbstractSequenceClassifier
) -> int:
    """How many weights the model draws: shapes alone, nothing is drawn."""
    # The key inside, so that no device is needed: how many there are is settled later.
    drawn = jax.eval_shape(lambda: model.draw_weights(task, key=jax.random.key(0)))
    return sum(math.prod(leaf.shape) for leaf in jax.tree.leaves(drawn))

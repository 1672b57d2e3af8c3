"""What classifiers of sequences need, in bytes."""

from piste.attention.heads import FAST
from piste.devices import cores
from piste.experiment import Experiment
from piste.models import Classifier
from piste.tasks import Pathfinder, Text

from .needs import DRAWN, Needs, width_of

MICROBATCH = 2
"""Sequences that a device works on at a time while training; they stay in its cache."""
SCORING_BATCH = 8
"""The same without gradients, which take less room."""
TEXTS = 4e8
"""Bytes of all texts of IMDb as they are read, sorted and kept."""
REVIEWS = 25_000
"""Texts of a part of IMDb, which a size of 0 stands for."""


def sequence_needs(experiment: Experiment) -> Needs:
    """What a classifier on sequences needs."""
    task, model, width = experiment.task, experiment.model, width_of(experiment)
    assert isinstance(task, (Text, Pathfinder)) and isinstance(model, Classifier)
    train, tests = task.train_samples or REVIEWS, task.test_samples or REVIEWS
    count = train + task.validation_samples + tests
    token = 1 if task.vocabulary <= 256 else 2 if task.vocabulary <= 65_536 else 4
    data = count * (task.length * token + 24.0)
    weights = DRAWN * _weight_entries(task, model)
    devices = min(cores(), 8, task.batch)
    params = weights * width / DRAWN
    # Every device has a copy of the weights and of everybody's gradient.
    shared = params * devices * (1 + devices)
    texts = TEXTS if isinstance(task, Text) else 0
    working = data + shared + 16 * train + devices * _activations(task, model, width)
    return Needs(
        data=data,
        weights=weights,
        drawing=4 * data + 2 * weights + texts,
        params=params,
        working=working + texts,
        record=2 * width,
        test_record=4 * width,
    )


def _weight_entries(task: Text | Pathfinder, model: Classifier) -> int:
    """How many weights the model draws."""
    size, hidden = model.dimension, model.hidden
    block = 4 * size**2 + 2 * size * hidden + 6 * size + hidden
    head = 2 * size + (size + 1) * hidden + (hidden + 1) * task.classes
    return (task.vocabulary + task.length) * size + model.layers * block + head


def _activations(task: Text | Pathfinder, model: Classifier, width: int) -> float:
    """What one device keeps of the sequences that it works on at a time."""
    token = 14 * model.dimension + 4 * model.hidden
    # Kernels without a blockwise form write down all weights of all heads.
    written = 0 if model.kernel in FAST else 4 * model.heads * task.length
    training = MICROBATCH * model.layers * (token + written)
    scoring = SCORING_BATCH * (token + written)
    return width * task.length * max(training, scoring)

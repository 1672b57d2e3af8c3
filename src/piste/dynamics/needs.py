"""What a run needs, in bytes, from the sizes in its experiment: nothing is drawn.

Arrays are counted by their shapes. How often an array is there at once (copies while
data is drawn, what the compiler keeps of a backward pass) is a factor, measured on runs
of some hundred megabytes; ``tests/dynamics/test_size.py`` says how well it holds.
"""

from dataclasses import dataclass
from typing import Any

from piste.devices import cores
from piste.experiment import Experiment
from piste.models import Classifier, KernelLayer, OneHot, Stack, TwoLayer
from piste.models.multi_head import FAST
from piste.probes.curvature import DEPTH
from piste.rules import GD, Adam, Flow, Lion
from piste.tasks import (
    DecisionLists,
    NoisyImages,
    Pathfinder,
    SignalNoise,
    Text,
    TokenRegression,
)
from piste.tasks.sequences import MANY, set_count

from .classification import PIECE, SCORED
from .population.assembly import in_theorem_1
from .population.choose import MOST_ROWS
from .population.form import WRITTEN_OUT
from .population.partitions import MOST_CASES, case_count
from .two_token import LINEAR

DRAWN = 8
"""Bytes of a number as it is drawn: float64, whatever the precision."""


@dataclass(frozen=True)
class Needs:
    """Bytes that are needed at the same time, by what for."""

    data: float
    """Training, validation and test data."""
    weights: float
    """All weights, as they are drawn."""
    drawing: float
    """Everything while it is drawn, data and weights included."""
    params: float
    """What is trained, in the form and precision of the run."""
    working: float
    """Arrays of one step or one measurement."""
    record: float
    """A record, and what only some records have."""
    test_record: float


def needs_of(experiment: Experiment) -> Needs:
    """What an experiment needs; its task and model must go together."""
    kinds = {
        SignalNoise: _two_token,
        NoisyImages: _two_token,
        DecisionLists: _lists,
        TokenRegression: _regression,
        Text: _sequences,
        Pathfinder: _sequences,
    }
    return kinds[type(experiment.task)](experiment)


def width_of(experiment: Experiment) -> int:
    """Bytes of a number while training."""
    return 4 if experiment.precision == "float32" else 8


# --- two tokens -----------------------------------------------------------------------


def _two_token(experiment: Experiment) -> Needs:
    task, model, width = experiment.task, experiment.model, width_of(experiment)
    assert isinstance(task, (SignalNoise, NoisyImages))
    assert isinstance(model, (TwoLayer, Stack))
    # One vector serves as the signal of all samples; images are as many as samples.
    per_sample, common = (1, 1) if isinstance(task, SignalNoise) else (2, 0)
    # 0 takes all test images of two classes of ten: at most a fifth of MNIST's.
    tests, dimension = task.test_samples or 2000, task.dimension
    rows = per_sample * task.samples + common
    data = DRAWN * dimension * (rows + per_sample * tests + common)
    neurons = 2 * model.key_width
    weights = DRAWN * weight_entries(experiment)
    deep = isinstance(model, Stack) or model.kernel != "softmax"
    whole = deep or experiment.form == "full"
    # The reduced forms have a value and the queries and keys, on the data's coordinates
    # or, under a rule that moves along the gradient, in the span of its rows.
    spread = getattr(task, "noise_coordinates", dimension)
    moving = min(dimension, rows * spread + 1)
    if isinstance(experiment.rule, LINEAR):
        moving = rows
    params = weights if whole else DRAWN * moving * (1 + neurons)
    # Tokens of all test samples are written out where layers lie above each other.
    tested = tests * 2 * ((2 * dimension if deep else 0) + neurons)
    trained = task.samples * 2 * (4 * dimension + 4 * neurons) * depth_of(model)
    return Needs(
        data=data,
        weights=weights,
        drawing=4.5 * (data + weights) + 6 * DRAWN * rows * dimension,
        params=params * width / DRAWN,
        working=width * (2 * tested + trained + (0 if whole else 8 * rows * moving)),
        record=width * (neurons * (task.samples + 1) + 3 * task.samples + 2),
        test_record=5 * width,
    )


def depth_of(model: TwoLayer | Stack) -> int:
    """Attention layers."""
    return model.depth if isinstance(model, Stack) else 1


def weight_entries(experiment: Experiment) -> int:
    """How many weights a model has on a task: as many as it draws."""
    task: Any = experiment.task
    model = experiment.model
    if isinstance(model, (TwoLayer, Stack)):
        neurons = 2 * (model.key_width + model.value_width)
        return task.dimension * neurons * depth_of(model)
    if isinstance(model, OneHot):
        return 2 * task.vocabulary**2
    if isinstance(model, KernelLayer):
        head = 3 * task.dimension * model.width + model.width * task.outputs
        return model.heads * head
    size, hidden = model.dimension, model.hidden
    block = 4 * size**2 + 2 * size * hidden + 6 * size + hidden
    head = 2 * size + (size + 1) * hidden + (hidden + 1) * task.classes
    return (task.vocabulary + task.length) * size + model.layers * block + head


# --- decision lists -------------------------------------------------------------------


def _lists(experiment: Experiment) -> Needs:
    task, model, width = experiment.task, experiment.model, width_of(experiment)
    assert isinstance(task, DecisionLists) and isinstance(model, OneHot)
    size, longest = task.vocabulary, task.list_bound
    form = list_form(experiment)
    condensed = form in ("reduced", "partitions")
    matrices = 1 if model.train != "both" else 2
    params = longest * (longest + 1) if condensed else matrices * size**2
    drawn = DRAWN * (3 * size * longest + _drawn_sets(task))
    weights = DRAWN * weight_entries(experiment)
    small = size <= WRITTEN_OUT
    return Needs(
        data=drawn / 3,
        weights=weights,
        drawing=drawn + 2 * weights,
        params=width * params,
        working=width * (size**2 + _cases(experiment, form)),
        record=width * (6 + (size * longest if small else 0)),
        test_record=width * (2 * size**2 if small else 0),
    )


def list_form(experiment: Experiment) -> str:
    """The form that a run of decision lists takes, without an instance of them."""
    task = experiment.task
    assert isinstance(task, DecisionLists)
    if experiment.form != "auto":
        return experiment.form
    if in_theorem_1(experiment) and task.distribution == "uniform":
        return "reduced"
    if in_theorem_1(experiment) and task.distribution == "iid":
        cases = case_count(task.length, task.list_bound)
        return "partitions" if cases <= MOST_CASES // 4 else "monte-carlo"
    if task.distribution in ("dirichlet", "support"):
        return "support"
    rows = task.length * _sets(task)
    return "enumeration" if rows <= MOST_ROWS else "monte-carlo"


def _sets(task: DecisionLists) -> int:
    if task.distribution == "support":
        return task.support_sets
    repeats = task.length - 1 if task.distribution == "iid" else 0
    return set_count(task.vocabulary + repeats, task.length)


def _drawn_sets(task: DecisionLists) -> float:
    """Numbers that the sets take while they are drawn, where they are listed."""
    if task.distribution == "support":
        return task.support_sets * (5 * task.length + 25)  # as tuples in a Python set
    return (
        _sets(task) * (3 * task.length + 4) if task.distribution == "dirichlet" else 0
    )


def _cases(experiment: Experiment, form: str) -> float:
    """Numbers in the table of cases, and in what a step makes of it."""
    task = experiment.task
    assert isinstance(task, DecisionLists)
    n, longest = task.length, task.list_bound
    if form == "reduced":
        return 30 * 2.0 ** min(longest, 60) * (longest + 1)
    if form == "partitions":
        return 30 * longest * min(case_count(n, longest), MANY) * (longest + n**0.5)
    rows = task.batch if form == "monte-carlo" else _sets(task)
    tables = rows * n * (4 * n + longest)
    if in_theorem_1(experiment) and form != "monte-carlo":
        return 3 * tables
    # The attention and the logits of every position, over the whole vocabulary.
    return tables + 12 * rows * n * task.vocabulary


# --- regression -----------------------------------------------------------------------


def _regression(experiment: Experiment) -> Needs:
    task, model, width = experiment.task, experiment.model, width_of(experiment)
    assert isinstance(task, TokenRegression) and isinstance(model, KernelLayer)
    tokens = task.sequences * task.length
    outputs, heads = tokens * task.outputs, model.heads
    matrix = heads * task.dimension * model.width
    data = DRAWN * tokens * (task.dimension + task.outputs)
    weights = DRAWN * weight_entries(experiment)
    attended = heads * task.length * (task.length + model.width)
    features = tokens * heads * task.dimension
    # A backward pass for every output, all at once; then the values of the Jacobian.
    probes = 3 * outputs * attended + 16 * outputs * matrix + 6 * features
    hardest = 3 * tokens**2 if task.targets == "hardest" else 0
    return Needs(
        data=data,
        weights=weights,
        drawing=4 * (data + weights) + DRAWN * (hardest + features),
        params=width * len(model.train) * matrix,
        working=width * (probes + 4 * task.sequences * attended),
        record=7 * width,
        test_record=width * (heads * task.length**2 + 2),
    )


# --- sequences ------------------------------------------------------------------------

TEXTS = 4e8
"""Bytes of all texts of IMDb as they are read, sorted and kept."""
REVIEWS = 25_000
"""Texts of a part of IMDb, which a size of 0 stands for."""


def _sequences(experiment: Experiment) -> Needs:
    task, model, width = experiment.task, experiment.model, width_of(experiment)
    assert isinstance(task, (Text, Pathfinder)) and isinstance(model, Classifier)
    train, tests = task.train_samples or REVIEWS, task.test_samples or REVIEWS
    count = train + task.validation_samples + tests
    token = 1 if task.vocabulary <= 256 else 2 if task.vocabulary <= 65_536 else 4
    data = count * (task.length * token + 24.0)
    weights = DRAWN * weight_entries(experiment)
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


def _activations(task: Text | Pathfinder, model: Classifier, width: int) -> float:
    """What one device keeps of the sequences that it works on at a time."""
    token = 14 * model.dimension + 4 * model.hidden
    # Kernels without a blockwise form write down all weights of all heads.
    written = 0 if model.kernel in FAST else 4 * model.heads * task.length
    training = PIECE * model.layers * (token + written)
    scoring = SCORED * (token + written)
    return width * task.length * max(training, scoring)


# --- rules ----------------------------------------------------------------------------


def rule_state(experiment: Experiment) -> int:
    """How many arrays like the parameters a rule remembers."""
    return {Adam: 2, Lion: 1}.get(type(experiment.rule), 0)


def rule_copies(experiment: Experiment) -> int:
    """How many of them there are besides the parameters while training."""
    rule = experiment.rule
    # A basis of that depth, and its products.
    curved = isinstance(rule, GD) and rule.unit == "curvature"
    measured = 2 * DEPTH if curved or experiment.record.curvature else 0
    stages = 10 if isinstance(rule, Flow) else 0
    return measured + stages + 2 * rule_state(experiment)


def is_implicit(experiment: Experiment) -> bool:
    """Whether a solver writes down the Jacobian of all parameters."""
    rule, task = experiment.rule, experiment.task
    if not isinstance(rule, Flow):
        return False
    repeats = isinstance(task, DecisionLists) and task.distribution == "iid"
    return rule.solver == "kvaerno5" or (rule.solver == "auto" and repeats)

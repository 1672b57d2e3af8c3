"""Rows of the contract tables: those of the core, and each paper's with its own tests.

``tests/papers/X/contract_rows.py`` has the rows of paper X, so that they come and go with
it. All names below may be left out there.
"""

import dataclasses
import importlib
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from piste.experiment import Experiment, Schedule
from piste.models import AbstractModel, Classifier
from piste.registry import Family
from piste.reproduction import Item, Table
from piste.rules import GD, AbstractRule
from piste.tasks import AbstractTask, Pathfinder, Text

PAPERS = Path(__file__).parents[1] / "papers"

TEXT = Text(frequent=5, length=4, validation_samples=2, batch=4)
IMAGES = Pathfinder(
    canvas=16, train_samples=4, validation_samples=2, test_samples=2, batch=2
)
CLASSIFIER = Classifier(layers=1, dimension=4, hidden=4, dropout=0.1)
WINDOWS = Classifier(
    layers=1, dimension=4, hidden=4, dropout=0.0, heads=2, window=8, stride=4
)
RECORD = Schedule(dense=1, test_every=8, chunk=8)


def experiment_of(
    task: AbstractTask,
    model: AbstractModel,
    rule: AbstractRule | None = None,
    form: str = "auto",
) -> Experiment:
    """Four steps of a task and a model."""
    rule = rule or GD(0.1)
    return Experiment(task, model, rule, steps=4, record=RECORD, form=form)


def fit_classifier(parts: dict) -> dict:
    """Heads share out the dimension; windows lie evenly around their squares."""
    heads = min(parts["heads"], parts["dimension"])
    dimension = parts["dimension"] - parts["dimension"] % heads
    fitted = parts | {"heads": heads, "dimension": dimension}
    if parts.get("window"):
        fitted["window"] = parts["stride"] + 2 * parts["window"]
    return fitted


FITS: dict[type, Any] = {}
"""How fields of a class that depend on each other are made to agree."""
TASKS: list[AbstractTask] = [TEXT, IMAGES]
"""A new task is a new row."""
MODELS: list[tuple[AbstractModel, AbstractTask]] = [
    (CLASSIFIER, TEXT),
    (WINDOWS, IMAGES),
]
"""And so is a new model, with a task that it can read."""
FORMS: dict[tuple[str, str], Experiment] = {
    ("classifier", "full"): experiment_of(TEXT, CLASSIFIER)
}
"""And a form, by its model and its name."""


@dataclasses.dataclass(frozen=True)
class Pair:
    """A tiny task with a tiny model that can read it, for all kernels and rules."""

    task: AbstractTask
    model: AbstractModel
    in_batches: bool = False
    """Whether it trains on batches: such a pair has no flow, which is said in one line."""
    slow: bool = False
    """Whether its gradients take seconds to compile."""


PAIRS: dict[str, Pair] = {
    "text, classifier": Pair(
        TEXT,
        Classifier(layers=1, dimension=4, hidden=4, dropout=0.0),
        in_batches=True,
        slow=True,
    )
}
SAME_DATA: set[str] = set()
"""Tasks whose data are those of another one, for the same models."""
ALSO_READ: set[tuple[str, str]] = {("pathfinder", "classifier")}
"""Further pairs of a task and a model that reads it: pixels are read like words."""


@dataclasses.dataclass(frozen=True)
class Covered:
    """A paper's items, and its claims beyond them."""

    paper: str
    heading: str
    items: Sequence[Item]
    beyond: Sequence[str]
    tables: Sequence[Table]
    without_figure: frozenset[str] = frozenset()
    """Claims that only a table shows."""


COVERED: list[Covered] = []
"""What the claims of each paper cover."""
PROBES: list[Experiment] = [experiment_of(IMAGES, WINDOWS)]
"""Experiments whose probes are all tested."""
SHORT = {"steps": 30, "record.dense": 4, "record.chunk": 4, "record.test_every": 2}
"""A short run of a preset."""
DETECTED: dict[str, tuple[str, dict[str, Any]]] = {}
"""For each stage detector a preset whose runs it reads, and what makes one small."""
LANDSCAPES: list = []
"""An experiment with weights of some kind, and a kind of plane through them."""
ABSURD: list[tuple[str, dict[str, Any], str]] = []
"""A preset, a field of it that is absurdly large, and what there is too little of."""
COUNTED: list[tuple[str, dict[str, Any]]] = []
"""A preset and changes: weights and data of such a run are counted exactly."""
RECORDED: list[Experiment] = []
"""Small experiments whose records are counted."""
SIZES: list[tuple[str, str]] = []
"""A preset, and all its fields that count for the size of a run."""
MEASURED: list[str] = []
"""Words of runs whose memory is really measured."""
NO_FORM: list[tuple[str, str, str, str]] = []
"""A pair, kernel, rule and form that does not hold for them."""


def is_ours(cls: type) -> bool:
    """Whether a member is one of piste or of its papers, and not of a test."""
    return cls.__module__.startswith("piste.")


def ours(family: Family[type]) -> set[str]:
    """The names of our own members of a family."""
    return {name for name, cls in family.items() if is_ours(cls)}


def modules_of_papers() -> list[ModuleType]:
    """The rows of every paper that is there."""
    files = sorted(PAPERS.glob("*/contract_rows.py"))
    return [importlib.import_module(f"papers.{f.parent.name}.{f.stem}") for f in files]


def collected(name: str) -> Any:
    """The rows of the core under a name, and after them those of the papers."""
    rows = globals()[name].copy()
    for module in modules_of_papers():
        more = getattr(module, name, type(rows)())
        rows = rows + more if isinstance(rows, list) else rows | more
    return rows

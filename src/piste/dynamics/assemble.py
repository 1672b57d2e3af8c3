"""From an experiment to a system that can be trained."""

import re
from collections.abc import Iterator
from contextlib import contextmanager

import jax
import jax.numpy as jnp

from piste.errors import InputError
from piste.experiment import Experiment
from piste.values import word_of

from ._base import Assembly, Start
from .classification import SEQUENCES
from .engine import System
from .population.assembly import LISTS
from .regression import REGRESSION
from .settle import settled
from .two_token import TWO_TOKEN

ASSEMBLIES = (TWO_TOKEN, LISTS, REGRESSION, SEQUENCES)
"""Every kind of task with the models that can read it; a new kind is a new row."""


CURVED = ("full", "enumeration", "support")
"""Forms whose parameters are the weights themselves: their Hessian is the loss's own."""


def assembly_of(experiment: Experiment) -> Assembly:
    """The row of the table for a task and a model, or one line that says what is."""
    task, model = experiment.task, experiment.model
    rows = [row for row in ASSEMBLIES if isinstance(task, row.tasks)]
    for row in rows:
        if isinstance(model, row.models):
            return row
    words = [word_of(kind) for row in rows for kind in row.models]
    raise InputError(
        f"model = {word_of(model)}: cannot read the data of task {word_of(task)}; "
        f"must be {' or '.join(words)}"
    )


def draw(experiment: Experiment) -> Start:
    """Draw the data and the initial weights, always in float64.

    A float32 run starts from the same numbers, rounded.
    """
    assembly, loaded = assembly_of(experiment), load_data(experiment)
    with jax.enable_x64(True), _fields_of_the_task():
        return assembly.draw(experiment, loaded)


def load_data(experiment: Experiment):
    """Read what the task needs from disk, or say in one line why not."""
    with _fields_of_the_task():
        return experiment.task.load()


@contextmanager
def _fields_of_the_task() -> Iterator[None]:
    """Give the fields in an error their full name."""
    try:
        yield
    except InputError as error:
        # A field is one of the task's; a file or a variable has its own name.
        field = re.match(r"[a-z-]+ = ", str(error))
        raise InputError(f"task.{error}" if field else str(error)) from None


def build(
    experiment: Experiment, whole: bool = False, start: Start | None = None
) -> System:
    """Choose the form, draw the data, and round to the experiment's precision.

    Systems built as a ``whole`` have shapes that do not depend on the seed: a batch. A
    ``start`` that is given takes the place of the experiment's own draw.
    """
    form_name, assembly = choose_form(experiment), assembly_of(experiment)
    start = draw(experiment) if start is None else start
    with jax.enable_x64(True):
        form = assembly.make(form_name, experiment, start, whole)
        rule = settled(experiment.rule, form)
        parts = _rounded((form, rule), experiment.precision)
        return System(*parts, curvature=experiment.record.curvature)


def choose_form(experiment: Experiment) -> str:
    """The form that is fastest and most exact among those that hold; checks a choice."""
    held = assembly_of(experiment).forms(experiment)
    if experiment.record.curvature:
        held = {name: holds and name in CURVED for name, holds in held.items()}
    allowed = [name for name, holds in held.items() if holds]
    if experiment.form == "auto":
        return allowed[0]
    if experiment.form not in allowed:
        model, rule = word_of(experiment.model), word_of(experiment.rule)
        raise InputError(
            f"form = {experiment.form}: does not hold for model {model}, rule {rule} "
            f"and kernel {experiment.model.kernel}; must be auto, {', '.join(allowed)}"
        )
    return experiment.form


def _rounded(tree, precision: str):
    def cast(leaf):
        leaf = jnp.asarray(leaf)
        inexact = jnp.issubdtype(leaf.dtype, jnp.inexact)
        return leaf.astype(precision) if inexact else leaf

    return jax.tree.map(cast, tree)

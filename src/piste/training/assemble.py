"""From an experiment to a system that can be trained."""

from collections.abc import Iterator
from contextlib import contextmanager

import jax
import jax.numpy as jnp

from piste.errors import InputError, field_error
from piste.experiment import Experiment
from piste.rules import settled
from piste.tasks import LoadsData

from ._base import InitialState
from .abilities import FormAtStart
from .engine import System, brought_probes
from .forms import find_form
from .rates import RateFactor

LOSS = "train_loss"
"""The probe by which a run is watched, and a divergence is seen."""


def draw(experiment: Experiment) -> InitialState:
    """Draw the data and the initial weights, always in float64.

    A float32 run starts from the same numbers, rounded.
    """
    entry, loaded = find_form(experiment), load_data(experiment)
    with jax.enable_x64(True), _fields_of_the_task():
        return entry.draw(experiment, loaded)


def load_data(experiment: Experiment):
    """Read what the task needs from disk, or say in one line why not."""
    with _fields_of_the_task():
        task = experiment.task
        return task.load() if isinstance(task, LoadsData) else None


@contextmanager
def _fields_of_the_task() -> Iterator[None]:
    """Give the fields in an error their full name."""
    try:
        yield
    except InputError as error:
        # A file or a variable has its own name, and so has a field of another part.
        own = error.field.islower() and "." not in error.field
        raise (error.inside("task") if own else error) from None


def build(
    experiment: Experiment,
    pad_for_batching: bool = False,
    start: InitialState | None = None,
) -> System:
    """Choose the form, draw the data, and round to the experiment's precision.

    Systems that are padded have shapes that do not depend on the seed: several fit one
    program. A ``start`` that is given takes the place of the experiment's own draw.
    """
    entry = find_form(experiment)
    start = draw(experiment) if start is None else start
    with jax.enable_x64(True):
        form = entry.build(experiment, start, pad_for_batching)
        if not any(probe.name == LOSS for probe in form.probes()):
            expected = (
                f"has no probe {LOSS}; every form must have it; add it to probes()"
            )
            raise field_error("form", entry.name, expected)
        rule = settled(experiment.rule, FormAtStart(form))
        rate = RateFactor.of(experiment)
        form, rule, rate = _rounded((form, rule, rate), experiment.precision)
        brought = brought_probes(form, entry.may_see)
        curvature = experiment.record.curvature
        return System(form, rule, curvature=curvature, brought=brought, rate=rate)


def _rounded(tree, precision: str):
    def cast(leaf):
        leaf = jnp.asarray(leaf)
        inexact = jnp.issubdtype(leaf.dtype, jnp.inexact)
        return leaf.astype(precision) if inexact else leaf

    return jax.tree.map(cast, tree)

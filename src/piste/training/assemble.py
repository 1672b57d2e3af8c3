"""From an experiment to a system that can be trained."""

from collections.abc import Iterator
from contextlib import contextmanager

import jax
import jax.numpy as jnp

from piste.errors import InputError, field_error
from piste.experiment import Experiment

from ._base import InitialState
from .engine import System, brought_probes
from .forms import find_form

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
        return experiment.task.load()


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
            rule = f"has no probe {LOSS}, which every form must have"
            raise field_error("form", entry.name, rule)
        rule = experiment.rule.settle(form)
        parts = _rounded((form, rule), experiment.precision)
        curvature, brought = experiment.record.curvature, brought_probes(form)
        return System(*parts, curvature=curvature, brought=brought)


def _rounded(tree, precision: str):
    def cast(leaf):
        leaf = jnp.asarray(leaf)
        inexact = jnp.issubdtype(leaf.dtype, jnp.inexact)
        return leaf.astype(precision) if inexact else leaf

    return jax.tree.map(cast, tree)

"""What besides its experiment decides a result: the form, the data, code of the user's.

A stored result is the answer to a question only if all of these are equal too.
"""

import hashlib
import inspect
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp

from piste.attention import KERNELS, KernelFunction
from piste.brought import full_name, is_brought, source_digest
from piste.datasets.cache import VARIABLE
from piste.errors import InputError
from piste.experiment import Experiment
from piste.probes import BROUGHT
from piste.training import FormEntry, find_form, load_data
from piste.values import digest, fields_of


@dataclass(frozen=True)
class Inputs:
    """Form, data and code; several experiments have several, joined by commas."""

    form: str = ""
    """What `choose_form` picks."""
    data: str = ""
    """Digest of what the task reads from disk; empty if it reads nothing."""
    code: str = ""
    """Digest of what the user brought, such as a kernel; empty if it is all ours."""
    missing: str = ""
    """Why the data cannot be read here, if they cannot."""

    @property
    def digest(self) -> str:
        """The second part of an address."""
        return digest([self.form, self.data, self.code])

    def answered_by(self, other: "Inputs") -> bool:
        """Whether a result of others is one of these; unread data are not compared."""
        same = (self.form, self.code) == (other.form, other.code)
        return same and (bool(self.missing) or self.data == other.data)

    def notes(self) -> tuple[str, ...]:
        """What a reader must know of data that were not compared."""
        text = "its data were not compared with those that would be read now"
        return (f"{text}: {self.missing}",) if self.missing else ()


def inputs_of(*experiments: Experiment, settings: Iterable[Any] = ()) -> Inputs:
    """The inputs of some experiments; other values may name kernels too."""
    entries = [find_form(experiment) for experiment in experiments]
    forms = dict.fromkeys(entry.name for entry in entries)
    tasks = {experiment.task: experiment for experiment in experiments}
    read = [_read(experiment) for experiment in tasks.values()]
    data = dict.fromkeys(found for found, _ in read if found)
    missing = next((reason for _, reason in read if reason), "")
    code = _brought(experiments, entries, list(settings))
    return Inputs(",".join(forms), ",".join(data), code, missing)


# --- data -----------------------------------------------------------------------------

_ABSENT: dict[str, str] = {}
"""Data sets that cannot be downloaded: tried once, because a try waits for the network."""


def _read(experiment: Experiment) -> tuple[str, str]:
    """The digest of an experiment's data, and why there is none."""
    task = experiment.task
    named = os.environ.get(VARIABLE) or getattr(task, "folder", "")
    name = getattr(task, "dataset", "")
    if not named and name in _ABSENT:
        return "", _ABSENT[name]
    try:
        return getattr(load_data(experiment), "digest", ""), ""
    except InputError as error:
        if named or not name:  # a folder that the user named must be right
            raise
        if error.field == "task.dataset":
            _ABSENT[name] = str(error)
        return "", str(error)


# --- code -----------------------------------------------------------------------------


def _brought(
    experiments: Sequence[Experiment],
    entries: Sequence[FormEntry],
    settings: Sequence[Any],
) -> str:
    """Digest of all code that is not ours and takes part: members, kernels, probes."""
    values = [*experiments, *settings]
    words = [word for given in values for word in fields_of(given).values()]
    kernels = {
        name: kernel
        for name, kernel in KERNELS.items()
        if name in words and is_brought(kernel.function)
    }
    members: list[Any] = [type(given) for given in values]
    for experiment in experiments:
        members += [
            type(x) for x in (experiment.task, experiment.model, experiment.rule)
        ]
    for entry in dict.fromkeys(entries):
        members += [entry.source, entry.draw, entry.rank]
        members += [
            probe.compute
            for kind, probes in BROUGHT.items()
            if entry.may_see(kind)
            for probe in probes.values()
        ]
    foreign = {
        full_name(member): source_digest(member)
        for member in members
        if is_brought(member)
    }
    foreign |= {
        name: _program(kernel.function) + kernel.divides_by
        for name, kernel in kernels.items()
    }
    return digest(sorted(foreign.items())) if foreign else ""


def _program(kernel: KernelFunction) -> str:
    """Digest of a kernel: its source, and the program of its value and derivative.

    The program also shows what the source does not: helpers and numbers from elsewhere,
    also for a kernel that was typed at a prompt.
    """

    def value_and_derivative(queries, keys):
        weights, pull = jax.vjp(kernel, queries, keys)
        return weights, pull(weights)

    with jax.enable_x64(True):
        sizes = (jax.ShapeDtypeStruct((rows, 2), jnp.float64) for rows in (3, 5))
        lowered = jax.jit(value_and_derivative).lower(*sizes)
    text = lowered.as_text() + _source(kernel)
    return hashlib.sha256(text.encode()).hexdigest()


def _source(kernel: KernelFunction) -> str:
    try:
        return inspect.getsource(inspect.unwrap(kernel))
    except (OSError, TypeError):  # typed at a prompt, or not a plain function
        return ""

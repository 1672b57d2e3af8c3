"""Whether a machine can hold a run: asked before anything is drawn or written.

A :class:`Size` is an estimate, within a factor of three on runs that are large; what it
lets through and is too large all the same ends in one line, later.
"""

import dataclasses
import functools
import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from piste.devices import free_disk, free_memory
from piste.errors import InputError, field_error
from piste.experiment import Experiment
from piste.rules import AbstractFlow
from piste.values import fields_of, has_default, override

from .forms import forms_for
from .needs import Needs, is_implicit, rule_copies, rule_state, width_of

PROGRAM = 3e8
"""Bytes that the compiler and the program itself take."""
STEP = 1e-6
"""Seconds that a step takes at the least, on any machine."""
YEAR = 365 * 24 * 3600


@dataclass(frozen=True)
class Size:
    """What a run needs, or what a machine has."""

    memory: float
    """Bytes, at the peak."""
    disk: float
    """Bytes of all records and checkpoints, before they are compressed."""
    seconds: float
    """At the least."""

    def fits(self, room: "Size") -> bool:
        """Whether there is room for all of it."""
        return not self.excess(room)

    def excess(self, room: "Size") -> str:
        """What there is too little of, with both numbers; empty if it fits."""
        for what in ("memory", "disk"):
            needed, free = getattr(self, what), getattr(room, what)
            if needed > free:
                amounts = (
                    f"about {in_bytes(needed)} of {what}, {in_bytes(free)} are free"
                )
                return f"needs {amounts}"
        if self.seconds > room.seconds:
            return f"takes at least {self.seconds / YEAR:.2g} years, a µs per step"
        return ""


def in_bytes(number: float) -> str:
    """A number of bytes in a unit that suits it.

    >>> in_bytes(1234), in_bytes(3.92e14), in_bytes(2e24)
    ('1.2 kB', '390 TB', '2e+06 EB')
    """
    units = ("B", "kB", "MB", "GB", "TB", "PB", "EB")
    power = min(int(math.log10(max(number, 1)) // 3), len(units) - 1)
    return f"{float(f'{number / 1000.0**power:.2g}'):g} {units[power]}"


def size_of(experiment: Experiment, done: int = 0, stored: bool = True) -> Size:
    """How large the rest of a run is, after ``done`` steps.

    One that is not ``stored`` keeps all records in memory.
    """
    needs, record = needs_of(experiment), experiment.record
    records = record.count(experiment.steps) - (record.count(done) if done else 0)
    tested = -(-record.chunk // record.test_every) / record.chunk
    kept = records * (needs.record + needs.test_record * min(1, tested) + 16)
    chunk = 2.0 * record.chunk * (needs.record + needs.test_record + 16)
    state = needs.params * (6 + rule_copies(experiment))
    if is_implicit(experiment, needs.stiff):
        state += 3 * needs.params**2 / width_of(experiment)
    training = needs.data + needs.weights + state + needs.working + chunk
    # A checkpoint is written beside the one that it replaces.
    checkpoints = 2 * needs.params * (1 + rule_state(experiment))
    listed = 48.0 * records if stored else 2 * kept
    # How many steps a solver takes is not known before.
    flows = isinstance(experiment.rule, AbstractFlow)
    return Size(
        memory=PROGRAM + max(needs.drawing, training) + listed,
        disk=kept + checkpoints if stored else 0,
        seconds=0 if flows else STEP * experiment.steps,
    )


def needs_of(experiment: Experiment) -> Needs:
    """What an experiment needs, by its form; nothing is known of those that do not say."""
    # All forms of a task and a model count alike; choosing one might draw data.
    counts = [entry.needs for entry in forms_for(experiment) if entry.needs]
    return counts[0](experiment) if counts else Needs()


def room_of(folder: Path | None) -> Size:
    """What this machine has, now: memory, room at a folder, and a year."""
    memory, disk = free_memory(), free_disk(folder) if folder else None
    none = float("inf")  # where the system does not tell, nothing is refused
    return Size(
        memory=none if memory is None else memory,
        disk=none if disk is None else disk,
        seconds=YEAR,
    )


def check_size(
    experiment: Experiment,
    folder: Path | None,
    done: int = 0,
    room: Size | None = None,
) -> None:
    """Refuse a run that this machine cannot hold, and say which field is to blame.

    Without a folder the records stay in memory.
    """
    room = room or room_of(folder)

    def size(experiment: Experiment) -> Size:
        return size_of(experiment, done, folder is not None)

    refuse(size(experiment), room, variations(experiment, size))


# --- whose fault it is ----------------------------------------------------------------


@dataclass(frozen=True)
class Variation:
    """A whole number that could be smaller, and how large everything would then be."""

    name: str
    given: int
    ordinary: int
    """What it is by default."""
    size: Callable[[int], Size]

    def most(self, room: Size) -> int:
        """A round number below the given one with which all fits; 0 if there is none."""
        numbers = list(_round_numbers(self.given))
        known = (self._fits(number, room) for number in reversed(numbers))
        if not next((fits for fits in known if fits is not None), False):
            return 0  # not even the smallest one that is allowed
        return next((n for n in numbers if self._fits(n, room)), 0)

    def _fits(self, number: int, room: Size) -> bool | None:
        try:
            return self.size(number).fits(room)
        except InputError:  # as for widths that must be multiples of others
            return None

    @property
    def strangeness(self) -> float:
        """How far it is from what it is by default."""
        return self.given / max(self.ordinary, 1)


def _round_numbers(given: int) -> Iterator[int]:
    """1, 2 and 5 times powers of ten below a number, and the odd ones beside them."""
    for digits in range(len(str(given)) - 1, -1, -1):
        for first in (5, 2, 1):
            number = first * 10**digits
            yield from (k for k in (number, number - 1) if 0 < k < given)


def variations(
    given: Any, size: Callable[[Any], Size], ordinary: Any = None
) -> list[Variation]:
    """All sizes of a value: its whole numbers."""
    usual = fields_of(_ordinary(given) if ordinary is None else ordinary)

    def varied(name: str) -> Callable[[int], Size]:
        return lambda number: size(override(given, {name: number}))

    return [
        Variation(name, number, usual.get(name, 1), varied(name))
        for name, number in fields_of(given).items()
        if type(number) is int and number > 1 and _is_size(given, name)
    ]


def _is_size(given: Any, name: str) -> bool:
    """Whether a whole number has to do with how large a run is: its field tells."""
    *parts, last = name.replace("-", "_").split(".")
    inside = functools.reduce(getattr, parts, given)
    (field,) = (f for f in dataclasses.fields(inside) if f.name == last)
    return field.metadata.get("is_size", True)


def _ordinary(given: Any) -> Any:
    """Give a value of the same classes with the defaults of each.

    A field without a default keeps what was given: nothing else is known to be allowed.
    """
    kept = {}
    for field in dataclasses.fields(given):
        part = getattr(given, field.name)
        if dataclasses.is_dataclass(part):
            kept[field.name] = _ordinary(part)
        elif not has_default(field):
            kept[field.name] = part
    try:
        return type(given)(**kept)
    except InputError:  # the given field and the defaults of the others do not agree
        return given


def refuse(size: Size, room: Size, fields: Iterable[Variation]) -> None:
    """Raise an error for what does not fit, with the field that is least ordinary."""
    fault = size.excess(room)
    if not fault:
        return
    suspects = sorted(fields, key=lambda field: -field.strangeness)
    for field in suspects:
        if most := field.most(room):
            expected = f"{fault}; at most about {most} fits here"
            raise field_error(field.name, field.given, expected)
    first, second = suspects[:2]
    expected = f"{fault}; it and {second.name} = {second.given} must be smaller"
    raise field_error(first.name, first.given, expected)

"""Copies of a value with dotted fields changed, and lists of its fields."""

import dataclasses
from collections.abc import Mapping
from typing import Any, Generic, TypeVar

from piste.errors import InputError, dashed, shown
from piste.registry import family_of, name_of

from ._fields import hints_of
from ._json import TYPE, class_from_json, from_json, member, to_json, unknown_field

T = TypeVar("T")


@dataclasses.dataclass(frozen=True)
class Changed(Generic[T]):
    """A value with fields changed, and what a reader should know of it."""

    value: T
    dropped: tuple[str, ...]
    """A sentence for each setting of the old class that the new one does not keep."""


def override(given: T, changes: Mapping[str, Any]) -> T:
    """Return a copy with dotted fields changed; a member's name switches the class.

    Switching keeps the fields that both classes have and that are valid in the new one:
    ``{"rule": "adam"}`` keeps the learning rate. Order does not matter: classes are
    switched before their fields.
    """
    return change(given, changes).value


def change(given: T, changes: Mapping[str, Any]) -> Changed[T]:
    """Do the same, and say which settings were dropped where a class was switched."""
    data, dropped = to_json(given), []
    by_depth = sorted(changes.items(), key=lambda item: item[0].count("."))
    named = {name.replace("-", "_") for name in changes}
    for dotted, new in by_depth:
        name = dotted.replace("-", "_")
        lost = _put(type(given), data, name, to_json(new))
        dropped += [
            why for field, why in lost.items() if f"{name}.{field}" not in named
        ]
    return Changed(from_json(type(given), data), tuple(dropped))


def _put(cls: Any, data: dict, dotted: str, new: Any) -> dict[str, str]:
    """Set one dotted field in plain data; what a switch of class dropped, by field."""
    *above, last = dotted.split(".")
    for depth, name in enumerate(above):
        if not isinstance(data.get(name), dict):
            known = [".".join([*above[:depth], key]) for key in data if key != TYPE]
            raise unknown_field(dotted, known)
        data, cls = data[name], hints_of(cls)[name]
        if family := family_of(cls):
            cls = member(family, data.get(TYPE), name)
    hints = hints_of(cls)
    if last not in hints:
        known = [".".join([*above, key]) for key in hints]
        raise unknown_field(dotted, known)
    family = family_of(hints[last])
    if family is None or not isinstance(new, str):
        data[last] = new
        return {}
    old = data[last]
    data[last], lost = _switched(old, new, member(family, new, dotted))
    if old.get(TYPE) == new:
        return {}
    return {
        field: f"{dashed(dotted)} = {new}: {dashed(field)} = {shown(old[field])} of "
        f"{old.get(TYPE)} is dropped ({why})"
        for field, why in lost.items()
        if old[field] != _defaults(family.get(old.get(TYPE, ""))).get(field)
    }


def _switched(old: dict, name: str, cls: Any) -> tuple[dict, dict[str, str]]:
    """The fields of an old class that a new one can keep; for the others, why not."""
    hints = hints_of(cls)
    kept = {field: part for field, part in old.items() if field in hints}
    lost = {f: f"{name} has no such field" for f in old if f not in (*hints, TYPE)}
    while True:
        try:
            class_from_json(cls, kept, "")
            break
        except InputError as error:
            # A field that is valid alone may not be together with the new defaults.
            field = error.field.split(".")[0]
            if field not in kept:
                break  # what is wrong is no setting of the old class: said later
            lost[field] = error.expected
            del kept[field]
    return kept | {TYPE: name}, lost


def _defaults(cls: Any) -> dict[str, Any]:
    parts = () if cls is None else dataclasses.fields(cls)
    return {part.name: to_json(part.default) for part in parts}


def fields_of(given: Any, path: str = "") -> dict[str, Any]:
    """All dotted fields of a value with their present settings, class names included."""
    found = {}
    for field in dataclasses.fields(given):
        part, name = getattr(given, field.name), path + dashed(field.name)
        if dataclasses.is_dataclass(part):
            if name_of(part):
                found[name] = name_of(part)
            found |= fields_of(part, f"{name}.")
        else:
            found[name] = part
    return found

"""Copies of a value with dotted fields changed, and lists of its fields."""

import dataclasses
from collections.abc import Mapping
from typing import Any, Generic, TypeVar

from piste.errors import InputError, dashed, shown
from piste.registry import family_of, name_of

from ._fields import has_default, hints_of
from ._json import TYPE, class_from_json, from_json, member, to_json, unknown_field
from ._replace import replaced

T = TypeVar("T")


@dataclasses.dataclass(frozen=True)
class ChangeResult(Generic[T]):
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


def change(given: T, changes: Mapping[str, Any]) -> ChangeResult[T]:
    """Do the same, and say which settings were dropped where a class was switched."""
    spelt = {name.replace("-", "_"): to_json(new) for name, new in changes.items()}
    if (copy := replaced(given, spelt)) is not None:
        return ChangeResult(copy, ())
    data, dropped = to_json(given), []
    for name in sorted(spelt, key=lambda name: name.count(".")):
        own = _fields_under(name, spelt)
        lost = _put(type(given), data, name, spelt[name], own)
        dropped += [why for field, why in lost.items() if field not in own]
    return ChangeResult(from_json(type(given), data), tuple(dropped))


def _fields_under(path: str, changes: Mapping[str, Any]) -> dict[str, Any]:
    """The changes of a value's own fields: of ``rule``, those such as ``rule.b1``."""
    found = {
        name.removeprefix(f"{path}."): new
        for name, new in changes.items()
        if name.startswith(f"{path}.")
    }
    return {field: new for field, new in found.items() if "." not in field}


def _put(
    cls: Any, data: dict, dotted: str, new: Any, own: dict[str, Any]
) -> dict[str, str]:
    """Set one dotted field in plain data; what a switch of class dropped, by field."""
    data, cls, last = _owner(cls, data, dotted)
    family = family_of(hints_of(cls)[last])
    if family is None or not isinstance(new, str):
        data[last] = new
        return {}
    old, made = data[last], member(family, new, dotted)
    if old.get(TYPE) == new:
        return {}
    data[last], lost = _switched(old, new, made, own)
    usual = _defaults(family.get(old.get(TYPE, "")))
    return {
        field: f"{dashed(dotted)} = {new}: {dashed(field)} = {shown(old[field])} of "
        f"{old.get(TYPE)} is dropped ({why})"
        for field, why in lost.items()
        # Nobody chose a default, and nobody misses it where there is no such field.
        if field in hints_of(made) or old[field] != usual.get(field)
    }


def _owner(cls: Any, data: dict, dotted: str) -> tuple[dict, Any, str]:
    """The plain data and the class that have a dotted field, and its last name."""
    *above, last = dotted.split(".")
    for depth, name in enumerate(above):
        if not isinstance(data.get(name), dict):
            known = [".".join([*above[:depth], key]) for key in data if key != TYPE]
            raise unknown_field(dotted, known)
        data, cls = data[name], hints_of(cls)[name]
        if family := family_of(cls):
            cls = member(family, data.get(TYPE), name)
    if last not in hints_of(cls):
        known = [".".join([*above, key]) for key in hints_of(cls)]
        raise unknown_field(dotted, known)
    return data, cls, last


def _switched(
    old: dict, name: str, cls: Any, own: dict[str, Any]
) -> tuple[dict, dict[str, str]]:
    """The fields of an old class that a new one can keep; for the others, why not.

    They must be valid together with the new class's defaults and with the fields that
    are changed too (``own``).
    """
    hints = hints_of(cls)
    kept = {field: part for field, part in old.items() if field in hints}
    lost = {f: f"{name} has no such field" for f in old if f not in (*hints, TYPE)}
    while (error := _mistake(cls, kept | own)) is not None:
        field = _field_at_fault(cls, kept, own, error)
        if not field:
            break  # no setting of the old class is wrong: it is said later
        about_it = field == error.field
        lost[field] = error.expected if about_it else f"with it, {error}"
        del kept[field]
    return kept | {TYPE: name}, lost


def _mistake(cls: Any, fields: Mapping[str, Any]) -> InputError | None:
    known = {name: part for name, part in fields.items() if name in hints_of(cls)}
    try:
        class_from_json(cls, known, "")
    except InputError as error:
        return error
    return None


def _field_at_fault(
    cls: Any, kept: dict[str, Any], own: dict[str, Any], error: InputError
) -> str:
    """The kept field that an error is about, or without which there is none."""
    field = error.field.split(".")[0]
    if field in kept and field not in own:
        return field
    for name in kept:
        rest = {other: part for other, part in kept.items() if other != name}
        if _mistake(cls, rest | own) is None:
            return name
    return ""


def _defaults(cls: Any) -> dict[str, Any]:
    parts = () if cls is None else dataclasses.fields(cls)
    return {part.name: _default(part) for part in parts if has_default(part)}


def _default(field: dataclasses.Field) -> Any:
    make = field.default_factory
    return to_json(field.default if make is dataclasses.MISSING else make())


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

"""Values as plain JSON data, and back."""

import dataclasses
import hashlib
import json
from collections.abc import Mapping
from typing import Any

from piste.errors import InputError, dashed, did_you_mean, field_error, shown
from piste.registry import Family, family_of, name_of

from ._fields import KINDS, LARGEST, each_of, has_default, hints_of, item_type

TYPE = "type"
"""The key that names the class of a value that is a member of a family."""


def to_json(given: Any) -> Any:
    """Turn a value into plain JSON data; a member of a family has its name as ``type``."""
    if isinstance(given, (tuple, list)):
        return [to_json(part) for part in given]
    if not dataclasses.is_dataclass(given):
        return given
    tag = {TYPE: name_of(given)} if name_of(given) else {}
    parts = dataclasses.fields(given)
    return tag | {part.name: to_json(getattr(given, part.name)) for part in parts}


def from_json(cls: Any, data: Any, path: str = "") -> Any:
    """Rebuild a value of type ``cls`` from plain data.

    Numbers may be strings, and several values one string with commas between: so the
    command line needs no reader of its own.
    """
    if family := family_of(cls):
        return _member_from_json(family, data, path)
    if dataclasses.is_dataclass(cls):
        return class_from_json(cls, _untagged(cls, data, path), path)
    if item := item_type(cls):
        return _tuple_from_json(item, data, path)
    return _scalar(cls, data, path)


def _member_from_json(family: Family[type], data: Any, path: str) -> Any:
    data = {TYPE: data} if isinstance(data, str) else data
    if not isinstance(data, Mapping):
        raise field_error(path, data, f"must be one of {', '.join(family)}")
    if TYPE not in data:
        allowed = ", ".join(family)
        raise InputError(f"{dashed(path)}: must have a '{TYPE}', one of {allowed}")
    cls = member(family, data[TYPE], path)
    rest = {name: part for name, part in data.items() if name != TYPE}
    return class_from_json(cls, rest, path)


def _untagged(cls: Any, data: Any, path: str) -> Any:
    """The fields of a class that is asked for by itself; its name may stand with them."""
    if not name_of(cls) or not isinstance(data, Mapping) or TYPE not in data:
        return data
    if data[TYPE] != name_of(cls):
        raise field_error(path or TYPE, data[TYPE], f"must be {name_of(cls)}")
    return {name: part for name, part in data.items() if name != TYPE}


def member(family: Family[type], name: Any, path: str) -> type:
    """The class of a name, or one line that lists the names."""
    if isinstance(name, str) and name in family:
        return family[name]
    raise family.unknown(name, path)


def class_from_json(cls: Any, data: Any, path: str) -> Any:
    """Rebuild a value of one class, with checks that name its fields in full."""
    if not isinstance(data, Mapping):
        raise field_error(path, data, "must have fields")
    hints = hints_of(cls)
    prefix = f"{path}." if path else ""
    parts = {}
    for raw, part in data.items():
        name = raw.replace("-", "_")
        if name not in hints:
            raise unknown_field(prefix + raw, [prefix + known for known in hints])
        parts[name] = from_json(hints[name], part, prefix + name)
    for field in dataclasses.fields(cls):
        if not has_default(field) and field.name not in parts:
            raise InputError(f"{dashed(prefix + field.name)}: must be given")
    try:
        return cls(**parts)
    except InputError as error:
        raise error.inside(path) from None


def unknown_field(name: str, known: list[str]) -> InputError:
    """The error for a field that does not exist, with the nearest that does."""
    near = did_you_mean(dashed(name), map(dashed, known))
    return InputError(f"no field '{shown(dashed(name))}'{near}")


def _tuple_from_json(item: type, data: Any, path: str) -> tuple:
    if isinstance(data, str):
        data = [part.strip() for part in data.split(",")] if data.strip() else []
    if not isinstance(data, (list, tuple)):
        data = [data]
    with each_of(path, data):
        return tuple(from_json(item, part, path) for part in data)


def _scalar(cls: Any, data: Any, path: str) -> Any:
    if cls is bool:
        found = {"true": True, "false": False}.get(shown(data).lower())
        if found is None:
            raise _of_another_kind(cls, data, path)
        return found
    if isinstance(data, bool) or (cls is int and isinstance(data, float)):
        raise _of_another_kind(cls, data, path)
    if not isinstance(data, (int, float, str)):
        raise _of_another_kind(cls, data, path)
    if cls in (int, float):
        try:
            return cls(data.replace("_", "")) if isinstance(data, str) else cls(data)
        except OverflowError:
            raise field_error(path, data, "must be a finite number") from None
        except ValueError:
            if cls is int and isinstance(data, str) and data.strip(" +-").isdecimal():
                # Python reads no whole number of more than 4,300 digits.
                expected = f"must be at most {LARGEST}"
                raise field_error(path, data, expected) from None
            raise _of_another_kind(cls, data, path) from None
    return str(data)


def _of_another_kind(cls: Any, data: Any, path: str) -> InputError:
    # Made only when it is raised: a planned reproduction reads 70,000 scalars.
    return field_error(path, data, f"must be {KINDS.get(cls, 'a word')}")


def digest(given: Any) -> str:
    """A short content address: equal values have equal digests."""
    text = json.dumps(to_json(given), sort_keys=True)
    return hashlib.blake2b(text.encode(), digest_size=6).hexdigest()

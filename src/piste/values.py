"""Frozen values: what an experiment is made of, with checks, JSON and overrides.

A *value* is a frozen dataclass that JAX treats as a tree: its floats are leaves
(traced, so a sweep over them compiles once), everything else is static. The same
dotted names address its fields in Python, in JSON and on the command line.

Why not a library: tyro turns a choice of class into a subcommand, and chz wants
``rule=adam`` without dashes; neither answers a mistake with one line in our form.
"""

import dataclasses
import hashlib
import json
import math
import types
import typing
from collections.abc import Mapping
from typing import Any, TypeVar, dataclass_transform

import jax
import numpy as np

from piste.errors import InputError, did_you_mean, shown

T = TypeVar("T")


def option(*, default: Any = dataclasses.MISSING, **limits: Any) -> Any:
    """Declare a field with limits: ``above``, ``least``, ``most``, ``below``, ``among``."""
    return dataclasses.field(default=default, metadata=limits)


@dataclass_transform(frozen_default=True, field_specifiers=(option, dataclasses.field))
def value(cls: type[T]) -> type[T]:
    """Make a class a value: frozen, checked, and a JAX tree with its floats as leaves."""
    after = getattr(cls, "__post_init__", None)
    setattr(cls, "__post_init__", _check_then(after))  # noqa: B010
    made: Any = dataclasses.dataclass(frozen=True)(cls)
    hints = typing.get_type_hints(made)
    fields = [field.name for field in dataclasses.fields(made)]
    leaves = [name for name in fields if hints[name] is float or _holds(hints[name])]
    static = [name for name in fields if name not in leaves]
    jax.tree_util.register_dataclass(made, data_fields=leaves, meta_fields=static)
    return made


def _holds(hint: Any) -> bool:
    """Whether a field holds other values (a class, or a union of classes)."""
    kinds = typing.get_args(hint) or (hint,)
    return all(dataclasses.is_dataclass(kind) for kind in kinds)


LARGEST = 2**63 - 1
"""The largest whole number that a field may hold, of either sign: an array's."""

_KINDS = {int: "a whole number", float: "a number", bool: "true or false"}


def _check_then(after):
    def __post_init__(self):
        for field in dataclasses.fields(self):
            given = _number(field, getattr(self, field.name))
            object.__setattr__(self, field.name, given)
            _check(field, given)
        if after is not None and not _traced(self):
            after(self)

    return __post_init__


def _traced(self) -> bool:
    # JAX rebuilds values around tracers and placeholders: nothing to check there.
    numbers = [getattr(self, field.name) for field in dataclasses.fields(self)]
    plain = int, float, str, bool, tuple, type(None)
    return not all(isinstance(x, plain) or dataclasses.is_dataclass(x) for x in numbers)


def _number(field: dataclasses.Field, given: Any) -> Any:
    """One spelling for equal numbers: plain Python, a float wherever one is declared."""
    if field.type not in (int, float) or isinstance(given, bool):
        return given
    if isinstance(given, (int, np.integer)):
        if field.type is int and abs(int(given)) > LARGEST:
            raise field_error(field.name, int(given), f"must be at most {LARGEST}")
        try:
            return field.type(given)
        except OverflowError:
            raise field_error(field.name, given, "must be a finite number") from None
    return float(given) if isinstance(given, np.floating) else given


def _check(field: dataclasses.Field, given: Any) -> None:
    if not isinstance(given, (int, float, str)):
        return
    if field.type is float and isinstance(given, bool):
        return  # a mask over the leaves, as JAX's filters make them
    limits, kind = field.metadata, _KINDS.get(field.type)
    if kind and type(given) is not field.type:
        raise field_error(field.name, given, f"must be {kind}")
    if isinstance(given, str) and not _is_text(given):
        raise field_error(field.name, given, "must be text in UTF-8")
    if isinstance(given, float) and not math.isfinite(given):
        raise field_error(field.name, given, "must be a finite number")
    if "above" in limits and not given > limits["above"]:
        raise field_error(field.name, given, f"must be above {limits['above']}")
    if "least" in limits and not given >= limits["least"]:
        raise field_error(field.name, given, f"must be at least {limits['least']}")
    if "below" in limits and not given < limits["below"]:
        raise field_error(field.name, given, f"must be below {limits['below']}")
    if "most" in limits and not given <= limits["most"]:
        raise field_error(field.name, given, f"must be at most {limits['most']}")
    if "among" in limits and given not in limits["among"]:
        allowed = ", ".join(limits["among"])
        raise field_error(field.name, given, f"must be one of {allowed}")


def _is_text(given: str) -> bool:
    # Bytes of the command line that are no text arrive as lone surrogates.
    return not any("\ud800" <= character <= "\udfff" for character in given)


def field_error(name: str, given: Any, rule: str) -> InputError:
    """The error for a field: its name, its value and what is allowed."""
    return InputError(f"{dashed(name) or 'value'} = {shown(given)}: {rule}")


def dashed(name: str) -> str:
    """The command line's spelling of a field's name."""
    return name.replace("_", "-")


# --- families: a word names a class, and the class says its word -------------------

_WORDS: dict[type, str] = {}
_FAMILIES: dict[type, dict[str, type]] = {}


def family(members: dict[str, type]) -> dict[str, type]:
    """Register a visible dict of interchangeable values: the word for each class."""
    for word, cls in members.items():
        _WORDS[cls] = word
        _FAMILIES[cls] = members
    return members


def word_of(given: Any) -> str:
    """The family word of a value or of its class, for instance ``"adam"``."""
    return _WORDS[given if isinstance(given, type) else type(given)]


# --- JSON ---------------------------------------------------------------------------


def to_json(given: Any) -> Any:
    """Turn a value into plain JSON data; a family member carries its word as ``is``."""
    if not dataclasses.is_dataclass(given):
        return list(given) if isinstance(given, tuple) else given
    word = {"is": _WORDS[type(given)]} if type(given) in _WORDS else {}
    parts = dataclasses.fields(given)
    return word | {part.name: to_json(getattr(given, part.name)) for part in parts}


def from_json(cls: Any, data: Any, path: str = "") -> Any:
    """Rebuild a value of type ``cls`` from plain data, strings allowed for numbers."""
    members = _members(cls)
    if members:
        return _member_from_json(members, data, path)
    if dataclasses.is_dataclass(cls):
        return _class_from_json(cls, data, path)
    return _scalar(cls, data, path)


def _members(cls: Any) -> dict[str, type]:
    kinds = typing.get_args(cls) if _is_union(cls) else (cls,)
    return next((_FAMILIES[kind] for kind in kinds if kind in _FAMILIES), {})


def _is_union(cls: Any) -> bool:
    return typing.get_origin(cls) in (typing.Union, types.UnionType)


def _member_from_json(members: dict[str, type], data: Any, path: str) -> Any:
    data = {"is": data} if isinstance(data, str) else data
    if not isinstance(data, Mapping):
        raise field_error(path, data, f"must be one of {', '.join(members)}")
    if "is" not in data:
        allowed = ", ".join(members)
        raise InputError(f"{dashed(path)}: must say what it is, 'is': one of {allowed}")
    word = _known_word(path, data["is"], members)
    rest = {name: part for name, part in data.items() if name != "is"}
    return _class_from_json(members[word], rest, path)


def _known_word(path: str, word: Any, members: Mapping[str, type]) -> str:
    if isinstance(word, str) and word in members:
        return word
    raise unknown_word(path, word, members)


def unknown_word(path: str, word: Any, members: Mapping[str, type]) -> InputError:
    """The error for a word that names no member of a family."""
    near = did_you_mean(word, members) if isinstance(word, str) else ""
    return field_error(path, word, f"must be one of {', '.join(members)}{near}")


def _class_from_json(cls: Any, data: Any, path: str) -> Any:
    if not isinstance(data, Mapping):
        raise field_error(path, data, "must have fields")
    hints = typing.get_type_hints(cls)
    prefix = f"{path}." if path else ""
    parts = {}
    for raw, part in data.items():
        name = raw.replace("-", "_")
        if name not in hints:
            raise unknown_field(prefix + raw, [prefix + known for known in hints])
        parts[name] = from_json(hints[name], part, prefix + name)
    try:
        return cls(**parts)
    except InputError as error:
        raise InputError(f"{dashed(prefix)}{error}") from None


def unknown_field(name: str, known: list[str]) -> InputError:
    """The error for a field that does not exist, with the nearest that does."""
    near = did_you_mean(dashed(name), map(dashed, known))
    return InputError(f"no field '{shown(dashed(name))}'{near}")


def _scalar(cls: Any, data: Any, path: str) -> Any:
    wrong = field_error(path, data, f"must be {_KINDS.get(cls, 'a word')}")
    if cls is bool:
        found = {"true": True, "false": False}.get(shown(data).lower())
        if found is None:
            raise wrong
        return found
    if isinstance(data, bool) or (cls is int and isinstance(data, float)):
        raise wrong
    if not isinstance(data, (int, float, str)):
        raise wrong
    if cls in (int, float):
        try:
            return cls(data.replace("_", "")) if isinstance(data, str) else cls(data)
        except OverflowError:
            raise field_error(path, data, "must be a finite number") from None
        except ValueError:
            if cls is int and isinstance(data, str) and data.strip(" +-").isdecimal():
                # Python reads no whole number of more than 4,300 digits.
                rule = f"must be at most {LARGEST}"
                raise field_error(path, data, rule) from None
            raise wrong from None
    return str(data)


# --- overrides ----------------------------------------------------------------------


def override(given: T, changes: Mapping[str, Any]) -> T:
    """Return a copy with dotted fields changed; a family's word switches the class.

    Switching keeps the fields that both classes have: ``{"rule": "adam"}`` keeps the
    learning rate. Order does not matter: classes are switched before their fields.
    """
    data = to_json(given)
    by_depth = sorted(changes.items(), key=lambda item: item[0].count("."))
    for dotted, change in by_depth:
        _put(type(given), data, dotted.replace("-", "_"), _plain(change))
    return from_json(type(given), data)


def _plain(change: Any) -> Any:
    return to_json(change) if dataclasses.is_dataclass(change) else change


def _put(cls: Any, data: dict, dotted: str, change: Any) -> None:
    *above, last = dotted.split(".")
    for depth, name in enumerate(above):
        if not isinstance(data.get(name), dict):
            known = [".".join([*above[:depth], key]) for key in data if key != "is"]
            raise unknown_field(dotted, known)
        data, cls = data[name], typing.get_type_hints(cls)[name]
        if members := _members(cls):
            cls = members[_known_word(name, data.get("is"), members)]
    if last not in typing.get_type_hints(cls):
        known = [".".join([*above, key]) for key in typing.get_type_hints(cls)]
        raise unknown_field(dotted, known)
    members = _members(typing.get_type_hints(cls)[last])
    if members and isinstance(change, str):
        shared = typing.get_type_hints(members[_known_word(dotted, change, members)])
        kept = {name: part for name, part in data[last].items() if name in shared}
        change = kept | {"is": change}
    data[last] = change


def fields_of(given: Any, path: str = "") -> dict[str, Any]:
    """All dotted fields of a value with their present settings, class words included."""
    found = {}
    for field in dataclasses.fields(given):
        part, name = getattr(given, field.name), path + dashed(field.name)
        if dataclasses.is_dataclass(part):
            if type(part) in _WORDS:
                found[name] = _WORDS[type(part)]
            found |= fields_of(part, f"{name}.")
        else:
            found[name] = part
    return found


def digest(given: Any) -> str:
    """A short content address: equal values have equal digests."""
    text = json.dumps(to_json(given), sort_keys=True)
    return hashlib.blake2b(text.encode(), digest_size=6).hexdigest()

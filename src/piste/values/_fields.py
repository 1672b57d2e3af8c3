"""Fields of a value: declared once, checked whenever a value is made."""

import dataclasses
import functools
import math
import typing
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar, dataclass_transform

import jax
import numpy as np

from piste.errors import InputError, field_error
from piste.registry import Family, add_class, family_of

T = TypeVar("T")


def option(*, default: Any = dataclasses.MISSING, **limits: Any) -> Any:
    """Declare a field with limits.

    ``greater_than``, ``minimum``, ``maximum`` and ``less_than`` are for numbers (in a
    tuple, for each of them), ``choices`` is for words. The order of ``choices`` is the
    order in which a message lists them. ``is_size=False`` says of a whole number that it
    has nothing to do with how large a run is.
    """
    return dataclasses.field(default=default, metadata=limits)


def has_default(field: dataclasses.Field) -> bool:
    """Tell whether a field may be left out when a value is made."""
    missing = dataclasses.MISSING
    return field.default is not missing or field.default_factory is not missing


@dataclass_transform(frozen_default=True, field_specifiers=(option, dataclasses.field))
def value(cls: type[T]) -> type[T]:
    """Make a class a value: frozen, checked, and a JAX tree with its floats as leaves."""
    after = getattr(cls, "__post_init__", None)
    setattr(cls, "__post_init__", _check_then(after))  # noqa: B010
    made: Any = dataclasses.dataclass(frozen=True)(cls)
    hints = typing.get_type_hints(made)
    fields = [field.name for field in dataclasses.fields(made)]
    leaves = [name for name in fields if hints[name] is float or _is_value(hints[name])]
    static = [name for name in fields if name not in leaves]
    for name in static:
        item_type(hints[name])  # refuses tuples that JSON could not bring back
    jax.tree_util.register_dataclass(made, data_fields=leaves, meta_fields=static)
    return made


def _is_value(hint: Any) -> bool:
    """Whether a field holds another value: one class, or any member of a family."""
    return dataclasses.is_dataclass(hint) or family_of(hint) is not None


def register(family: Family[type], name: str) -> Callable[[type[T]], type[T]]:
    """A decorator that makes a class a value and adds it to a family."""

    def add(cls: type[T]) -> type[T]:
        made = value(cls)
        add_class(family, name, made)
        return made

    return add


@functools.cache
def hints_of(cls: type) -> dict[str, Any]:
    """The types of all fields; JAX rebuilds values often, so they are kept."""
    hints = typing.get_type_hints(cls)  # those of the class itself among them
    return {field.name: hints[field.name] for field in dataclasses.fields(cls)}


LARGEST = 2**63 - 1
"""The largest whole number that a field may hold, of either sign: an array's."""

KINDS = {int: "a whole number", float: "a number", bool: "true or false", str: "a word"}
"""What a message calls a value of each type."""


@functools.cache
def item_type(hint: Any) -> type | None:
    """The type of the items of a tuple field, such as ``tuple[float, ...]``."""
    if typing.get_origin(hint) is not tuple:
        return None
    item, *rest = typing.get_args(hint)
    if rest != [...] or item not in KINDS:
        allowed = ", ".join(f"tuple[{kind.__name__}, ...]" for kind in KINDS)
        raise TypeError(f"{hint}: a field of several values must be one of {allowed}")
    return item


def _check_then(after):
    def __post_init__(self):
        hints = hints_of(type(self))
        for field in dataclasses.fields(self):
            given = _plain(field.name, hints[field.name], getattr(self, field.name))
            object.__setattr__(self, field.name, given)
            check(field, hints[field.name], given)
        if after is not None and not _traced(self):
            after(self)

    return __post_init__


def _traced(self) -> bool:
    # JAX rebuilds values around tracers and placeholders: nothing to check there.
    numbers = [getattr(self, field.name) for field in dataclasses.fields(self)]
    plain = int, float, str, bool, tuple, type(None)
    return not all(isinstance(x, plain) or dataclasses.is_dataclass(x) for x in numbers)


def _plain(name: str, hint: Any, given: Any) -> Any:
    """One spelling for equal values: plain Python, a float wherever one is declared."""
    item = item_type(hint)
    if item is not None and isinstance(given, (tuple, list, range, np.ndarray)):
        return tuple(_plain(name, item, part) for part in given)
    if hint is bool and isinstance(given, np.bool_):
        return bool(given)
    if hint is str and isinstance(given, str):
        return str(given)
    if hint not in (int, float) or isinstance(given, bool):
        return given
    if isinstance(given, (int, np.integer)):
        if hint is int and abs(int(given)) > LARGEST:
            raise field_error(name, int(given), f"must be at most {LARGEST}")
        try:
            return hint(given)
        except OverflowError:
            raise field_error(name, given, "must be a finite number") from None
    return float(given) if isinstance(given, np.floating) else given


@contextmanager
def each_of(name: str, given: Any) -> Iterator[None]:
    """Let an error about one of several values show all of them."""
    try:
        yield
    except InputError as error:
        expected = f"each {error.expected}"
        raise field_error(name, tuple(given), expected) from None


def check(field: dataclasses.Field, hint: Any, given: Any) -> None:
    """Refuse what a field cannot hold; tracers and other values pass."""
    item = item_type(hint)
    if item is not None:
        if not isinstance(given, tuple):
            raise field_error(field.name, given, "must be several values, as in 1,2")
        with each_of(field.name, given):
            for part in given:
                check(field, item, part)
        return
    if not isinstance(given, (int, float, str)):
        return
    if hint is float and isinstance(given, bool):
        return  # a mask over the leaves, as JAX's filters make them
    if hint in KINDS and type(given) is not hint:
        raise field_error(field.name, given, f"must be {KINDS[hint]}")
    if isinstance(given, str) and not _is_text(given):
        raise field_error(field.name, given, "must be text in UTF-8")
    if isinstance(given, float) and not math.isfinite(given):
        raise field_error(field.name, given, "must be a finite number")
    for name, (holds, words) in _LIMITS.items():
        if name in field.metadata and not holds(given, field.metadata[name]):
            limit = words.format(field.metadata[name])
            raise field_error(field.name, given, f"must be {limit}")
    choices = field.metadata.get("choices")
    if choices is not None and given not in choices:
        raise field_error(field.name, given, f"must be one of {', '.join(choices)}")


_LIMITS: dict[str, tuple[Callable[[Any, Any], bool], str]] = {
    "greater_than": (lambda given, limit: given > limit, "greater than {}"),
    "minimum": (lambda given, limit: given >= limit, "at least {}"),
    "less_than": (lambda given, limit: given < limit, "less than {}"),
    "maximum": (lambda given, limit: given <= limit, "at most {}"),
}


def _is_text(given: str) -> bool:
    # Bytes of the command line that are no text arrive as lone surrogates.
    return not any("\ud800" <= character <= "\udfff" for character in given)

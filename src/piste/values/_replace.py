"""Changes that need no reading: plain settings of the type that their fields have.

A grid is thousands of copies with a few numbers changed; a copy by way of plain data
takes ten times as long. Whatever is not plain, or wrong, goes that way all the same.
"""

import dataclasses
from collections.abc import Mapping
from typing import Any, TypeVar

from piste.errors import InputError
from piste.registry import family_of, name_of

from ._fields import KINDS, hints_of, item_type

T = TypeVar("T")


class _Other(Exception):
    """A change that is not plain."""


def replaced(given: T, changes: Mapping[str, Any]) -> T | None:
    """A copy with dotted fields changed; None if plain data must say what comes of it."""
    try:
        _check_classes(type(given), given)
        return _copy(given, _by_owner(changes))
    except (_Other, InputError):  # a mistake is worded where fields have full names
        return None


def _check_classes(hint: Any, given: Any) -> None:
    """Refuse a value with a class that would be read as another one.

    A class that was written again in a notebook has taken the place of the first.
    """
    if not dataclasses.is_dataclass(given):
        return
    family = family_of(hint)
    now = hint if family is None else family.get(name_of(given))
    if now is not type(given):
        raise _Other
    for field, inner in hints_of(now).items():
        _check_classes(inner, getattr(given, field))


def _by_owner(changes: Mapping[str, Any]) -> dict[str, Any]:
    """Changes as a tree: ``rule.b1`` is ``b1`` in the branch ``rule``."""
    tree: dict[str, Any] = {}
    for dotted, new in changes.items():
        *above, last = dotted.split(".")
        branch = tree
        for name in above:
            branch = branch.setdefault(name, {})
            if not isinstance(branch, dict):
                raise _Other
        if last in branch or isinstance(new, dict):
            raise _Other
        branch[last] = new
    return tree


def _copy(given: Any, tree: dict[str, Any]) -> Any:
    """A value with all changes of its own fields made at once: they may need each other."""
    if not dataclasses.is_dataclass(given) or isinstance(given, type):
        raise _Other
    hints, new = hints_of(type(given)), {}
    for field, part in tree.items():
        if field not in hints:
            raise _Other
        inner = isinstance(part, dict)
        old = getattr(given, field)
        new[field] = _copy(old, part) if inner else _plain(hints[field], part)
    return dataclasses.replace(given, **new)


def _plain(hint: Any, new: Any) -> Any:
    """A setting that reading would leave as it is."""
    if item := item_type(hint):
        if not isinstance(new, list):
            raise _Other
        return tuple(_plain(item, part) for part in new)
    if hint not in KINDS or type(new) not in (hint, int if hint is float else hint):
        raise _Other
    return new

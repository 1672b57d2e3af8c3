"""Open families: the members of one noun by name, ours and everybody else's.

A family is filled by a decorator (``@task("signal-noise")``, ``@kernel("softmax")``), and
piste's own members use the same one. Whatever reads a name (Python, JSON, the command
line) looks it up here, so a member that a user brings works wherever ours do.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any, TypeVar

from piste.errors import InputError, did_you_mean, field_error

M = TypeVar("M")

NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
"""Names are words of commands and parts of folders."""


class Family(Mapping[str, M]):
    """The members of one noun by name, in alphabetical order."""

    def __init__(self, noun: str):
        self.noun = noun
        """What a member is called, and the field that names it: ``rule``."""
        self._members: dict[str, M] = {}

    def add(self, name: str, member: M) -> None:
        """Add a member under a name that is free."""
        if not isinstance(name, str) or not NAME.fullmatch(name):
            rule = "must be words of a–z and 0–9, joined by -"
            raise field_error(self.noun, name, rule)
        if name in self._members:
            rule = "is the name of another one already; choose another name"
            raise field_error(self.noun, name, rule)
        self._members[name] = member

    def remove(self, name: str) -> None:
        """Take a member out again."""
        del self._members[name]

    def unknown(self, name: Any, path: str = "") -> InputError:
        """The error for a name that no member has, with the nearest that one has."""
        near = did_you_mean(name, self) if isinstance(name, str) else ""
        expected = f"must be one of {', '.join(self)}{near}"
        return field_error(path or self.noun, name, expected)

    def __getitem__(self, name: str) -> M:
        return self._members[name]

    def __iter__(self) -> Iterator[str]:
        # Sorted, because members come in whatever order their modules are imported.
        return iter(sorted(self._members))

    def __len__(self) -> int:
        return len(self._members)

    def __repr__(self) -> str:
        return f"<{self.noun}: {', '.join(self)}>"


# --- families of classes: a field of such a class holds any member ---------------------

_FAMILIES: dict[type, Family[type]] = {}
_NAMES: dict[type, str] = {}


def class_family(noun: str, base: type) -> Family[type]:
    """A family of classes; a field that is declared as ``base`` holds a member of it."""
    _FAMILIES[base] = Family(noun)
    return _FAMILIES[base]


def family_of(base: Any) -> Family[type] | None:
    """The family whose members a field of this type holds, if it is one."""
    return _FAMILIES.get(base) if isinstance(base, type) else None


def add_class(family: Family[type], name: str, cls: type) -> None:
    """Add a class to a family; its values then know their name."""
    family.add(name, cls)
    _NAMES[cls] = name


def name_of(given: Any) -> str:
    """The name of a member (a value or its class) in its family, such as ``adam``.

    Empty for what is no member of a family.
    """
    return _NAMES.get(given if isinstance(given, type) else type(given), "")

"""Open families: the members of one noun by name, ours and everybody else's.

A family is filled by a decorator (``@task("signal-noise")``, ``@kernel("softmax")``), and
piste's own members use the same one. Whatever reads a name (Python, JSON, the command
line) looks it up here, so a member that a user brings works wherever ours do. Installed
papers are imported when a name is looked for that is not there yet.
"""

import re
import sys
from collections.abc import Iterator
from typing import Any, Generic, TypeVar

from piste.errors import InputError, did_you_mean, field_error
from piste.installed import bring_members

M = TypeVar("M")

NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
"""Names of members that are words of commands and parts of folders."""
PHRASE = re.compile(r".*\S.*")
"""Names of members that are only read."""
_ALLOWED = {NAME: "words of a–z and 0–9, joined by -", PHRASE: "a few words"}


class Family(Generic[M]):
    """The members of one noun by name, in alphabetical order."""

    def __init__(self, noun: str, names: re.Pattern[str] = NAME):
        self.noun = noun
        """What a member is called, and the field that names it: ``rule``."""
        self.names = names
        """What a member may be named."""
        self._members: dict[str, M] = {}
        self._written: dict[str, tuple[str, str]] = {}

    def add(self, name: str, member: M, code: Any = None) -> None:
        """Add a member under a name that is free.

        ``code`` is the class or function that it was made of, if it is neither itself.
        The same one, written again in a notebook or an edited file, takes its own place.
        """
        written = where_written(member if code is None else code)
        if not written[0].startswith("piste."):
            bring_members()  # a stranger must not take a name before its owner comes
        self.check_name(name)
        if name in self._members and self._written[name] != written:
            expected = "is the name of another one already; choose another name"
            raise field_error(self.noun, name, expected)
        self._members.pop(name, None)  # so that the newest one comes last
        self._members[name], self._written[name] = member, written

    def check_name(self, name: str) -> None:
        """Refuse a name that is no text, or has characters that names may not have."""
        if not isinstance(name, str) or not self.names.fullmatch(name):
            raise field_error(self.noun, name, f"must be {_ALLOWED[self.names]}")

    def remove(self, name: str) -> None:
        """Take a member out again."""
        del self._members[name]

    def unknown(self, name: Any, path: str = "") -> InputError:
        """The error for a name that no member has, with the nearest that one has."""
        near = did_you_mean(name, self) if isinstance(name, str) else ""
        expected = f"must be one of {', '.join(self)}{near}"
        return field_error(path or self.noun, name, expected)

    def get(self, name: str) -> M | None:
        """The member of a name, if there is one."""
        return self[name] if name in self else None

    def keys(self) -> list[str]:
        """All names."""
        return list(self)

    def items(self) -> list[tuple[str, M]]:
        """All members with their names."""
        return [(name, self._members[name]) for name in self]

    def values(self) -> list[M]:
        """All members."""
        return [self._members[name] for name in self]

    def __contains__(self, name: object) -> bool:
        # Only a name that is not there yet is worth the wait.
        if name not in self._members:
            bring_members()
        return name in self._members

    def __getitem__(self, name: str) -> M:
        if name not in self:
            raise KeyError(name)
        return self._members[name]

    def __iter__(self) -> Iterator[str]:
        bring_members()
        # Sorted, because members come in whatever order their modules are imported.
        return iter(sorted(self._members))

    def __len__(self) -> int:
        bring_members()
        return len(self._members)

    def newest_first(self) -> list[M]:
        """All members, the one that was added last before the others."""
        bring_members()
        return list(reversed(self._members.values()))

    def __repr__(self) -> str:
        return f"<{self.noun}: {', '.join(self)}>"


def where_written(code: Any) -> tuple[str, str]:
    """The file or the module in which a class or a function is written, and its name.

    Files that users name are imported under another module name whenever they change.
    """
    code = getattr(code, "func", code)  # a partial function has neither of its own
    module = getattr(code, "__module__", None) or ""
    file = getattr(sys.modules.get(module), "__file__", None)
    place = module if module.startswith("piste.") or not file else str(file)
    return place, getattr(code, "__qualname__", type(code).__name__)


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

"""A paper: its presets, studies, claims, figures and tables, found as a plugin.

The value here is light, so that listing papers costs nothing. The parts are modules of
the paper's own package, imported when they are used; or the paper is one module, and
defines them itself.
"""

import importlib
import os
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import TYPE_CHECKING, Any

from piste.brought import is_brought
from piste.errors import InputError, did_you_mean, reason

if TYPE_CHECKING:  # listing papers must stay fast
    from piste.reproduction import Contents
    from piste.tasks import AbstractTask


PARTS: dict[str, tuple[str, ...]] = {
    "presets": (),
    "studies": ("studies",),
    "claims": ("CLAIMS",),
    "figures": ("FIGURES",),
    "tables": ("TABLES",),
    "summary": ("lines",),
}
"""The parts of a paper, and what is used of each; of ``presets``, a function for every
preset."""

DEFAULTS = {
    "claims": SimpleNamespace(CLAIMS=()),
    "figures": SimpleNamespace(FIGURES=()),
    "tables": SimpleNamespace(TABLES=()),
    "summary": SimpleNamespace(lines=lambda tables: []),
}
"""The parts that a paper may leave out: nothing to judge, draw, list or print."""


@dataclass(frozen=True)
class Preset:
    """A named experiment: what it shows and how long it takes."""

    meaning: str
    time: str


@dataclass(frozen=True)
class Paper:
    """What the command line knows of a paper before it runs anything.

    Its parts are functions and values with fixed names: a function for each preset,
    ``studies(quick)``, and, if there are any, ``CLAIMS``, ``FIGURES``, ``TABLES`` and
    ``lines(tables)``. They are in the modules ``presets``,
    ``studies``, ``claims``, ``figures``, ``tables`` and ``summary`` of the paper's
    package, or in the package itself, which may then be a single file. The study ``main``
    holds the runs that stand for the paper: their stages head the page.
    """

    name: str
    title: str
    authors: str
    venue: str
    link: str
    summary: str
    package: str
    """The module that defines the paper: ``__name__`` there."""
    presets: dict[str, Preset] = field(default_factory=dict)
    main: str = ""

    def part(self, name: str) -> Any:
        """The module that has a part of the paper, or one line that says why none has.

        For a part that may be left out, and is, it is what stands for it.
        """
        found = self._submodule(name)
        if found is not None:
            return found
        module = self._module(name)
        missing = [
            wanted for wanted in self._names(name) if not hasattr(module, wanted)
        ]
        if not missing:
            return module
        if name in DEFAULTS:
            return DEFAULTS[name]
        expected = f"defines no '{missing[0]}', and has no module '{name}' that does"
        raise self._error(f"{_where(module)} {expected}")

    def _submodule(self, name: str) -> ModuleType | None:
        """The module of that name in the paper's package, if there is one."""
        module = f"{self.package}.{name}"
        try:
            return importlib.import_module(module)
        except ModuleNotFoundError as error:
            if error.name in (module, self.package):
                return None
            raise self._broken(name, error) from error
        except (Exception, SystemExit) as error:
            raise self._broken(name, error) from error

    def _module(self, name: str) -> ModuleType:
        try:
            return importlib.import_module(self.package)
        except (Exception, SystemExit) as error:
            raise self._broken(name, error) from error

    def _names(self, part: str) -> Sequence[str]:
        """What a part must define."""
        return PARTS[part] or [name.replace("-", "_") for name in self.presets]

    def _broken(self, name: str, error: BaseException) -> InputError:
        return self._error(f"module '{name}' cannot be imported ({reason(error)})")

    def _error(self, message: str) -> InputError:
        return InputError(f"paper '{self.name}': {message}")

    def bring(self, name: str) -> Any:
        """What is used of a part: its claims, figures or tables; nothing if it has none."""
        (attribute,) = PARTS[name]
        return getattr(self.part(name), attribute)

    def summary_lines(self, tables: Any) -> list[Any]:
        """What is printed first of all results, lines and tables, from the tables."""
        lines = self.bring("summary")
        try:
            return [_printable(line) for line in lines(tables)]
        except Exception as error:
            if not is_brought(lines):
                raise
            return [f"  note: lines() fails ({reason(error)})"]

    def contents(self, quick: bool = False) -> "Contents":
        """What the paper brings to its reproduction, or to a part of it in a minute."""
        from piste.reproduction import Contents

        studies = self.part("studies")
        return Contents(
            self.name,
            tuple(studies.studies(quick)),
            tuple(self.bring("claims")),
            tuple(self.bring("figures")),
            tuple(self.bring("tables")),
            getattr(studies, "available", list),
        )

    def check_parts(self, *names: str) -> None:
        """Refuse a paper that lacks something, before anything is run or written."""
        for name in names or PARTS:
            module = self.part(name)
            for wanted in self._names(name):
                if not hasattr(module, wanted):
                    expected = f"module '{name}' has no '{wanted}', which it must have"
                    raise self._error(expected)
                self._check(wanted, getattr(module, wanted))
        if not names:
            self._check_needs()

    def _check_needs(self) -> None:
        """Refuse a claim, figure or table that names a study or a figure there is not."""
        both = [self.contents(quick) for quick in (True, False)]
        studies = {study.name for contents in both for study in contents.studies}
        figures = {figure.name for figure in both[0].figures}
        for part in (*both[0].claims, *both[0].figures, *both[0].tables):
            self._check_names(part, "study", (*part.needs, *_any_of(part)), studies)
        for claim in both[0].claims:
            named = [claim.figure] if claim.figure else []
            self._check_names(claim, "figure", named, figures)

    def _check_names(
        self, part: Any, noun: str, named: Sequence[str], known: Collection[str]
    ) -> None:
        for name in named:
            if name not in known:
                what = f"{type(part).__name__.lower()} '{part.name}'"
                near = did_you_mean(name, known)
                raise self._error(f"{what}: there is no {noun} '{name}'{near}")

    def _check(self, name: str, given: Any) -> None:
        """Refuse what is not of the kind that is used under this name."""
        if name.isupper():
            self._check_values(name, given)
        elif not callable(given):
            raise self._error(f"'{name}' is {_kind(given)}; must be a function")
        elif name == "studies":
            self._check_studies(given)

    def _check_values(self, name: str, given: Any) -> None:
        from piste.claims import Claim  # listing papers must stay fast
        from piste.reproduction import Figure, Table

        kinds = {"CLAIMS": Claim, "FIGURES": Figure, "TABLES": Table}
        if not isinstance(given, (tuple, list)):
            noun = name.lower()
            raise self._error(f"'{name}' is {_kind(given)}; must be a tuple of {noun}")
        for part in given:
            if not isinstance(part, kinds[name]):
                home = "claims" if name == "CLAIMS" else "reproduction"
                expected = f"must be a piste.{home}.{kinds[name].__name__}"
                raise self._error(f"'{name}' has {_kind(part)}; {expected}")

    def _check_studies(self, studies: Any) -> None:
        from piste.reproduction import Study  # listing papers must stay fast

        for quick in (True, False):
            call = f"studies({quick})"
            try:
                found = tuple(studies(quick))
            except InputError:
                raise
            except Exception as error:
                raise self._error(f"{call} fails ({reason(error)})") from error
            wrong = [study for study in found if not isinstance(study, Study)]
            if wrong or not found:
                kind = _kind(wrong[0]) if wrong else "nothing"
                expected = "must give piste.reproduction.Study values"
                raise self._error(f"{call} gives {kind}; {expected}")


def _printable(line: Any) -> Any:
    """A line of text, or something that knows how to print itself, such as a table."""
    return line if hasattr(line, "__rich_console__") else str(line)


def _any_of(part: Any) -> Sequence[str]:
    return getattr(part, "any_of", ())  # claims need all that they name


def _kind(given: Any) -> str:
    name = type(given).__name__
    return f"an {name}" if name[0] in "aeiouAEIOU" else f"a {name}"


def _where(module: ModuleType) -> str:
    """What a message calls a module: a package by its name, one file by its own."""
    if hasattr(module, "__path__") or not module.__file__:
        return module.__name__
    return Path(module.__file__).name


def data_at_hand(task: "AbstractTask") -> bool:
    """Whether a task's data can be had; a folder that the user named must be right."""
    from piste.tasks import LoadsData  # listing papers must stay fast

    try:
        if isinstance(task, LoadsData):
            task.load()
    except InputError:
        if os.environ.get("PISTE_DATA"):
            raise
        return False
    return True

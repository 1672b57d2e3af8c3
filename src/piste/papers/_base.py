"""A paper: its presets, studies, claims, figures and tables, found as a plugin.

The value here is light, so that listing papers costs nothing; the parts are modules of
the paper's own package, imported when they are used.
"""

import importlib
import importlib.util
import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from piste.errors import InputError, reason

if TYPE_CHECKING:  # listing papers must stay fast
    from piste.reproduction import Contents


PARTS: dict[str, tuple[str, ...]] = {
    "presets": (),
    "studies": ("studies",),
    "claims": ("CLAIMS",),
    "figures": ("FIGURES",),
    "tables": ("TABLES",),
    "summary": ("lines",),
}
"""The modules of a paper's package, and what is used of each; of ``presets``, a function
for every preset."""
OPTIONAL = ("figures", "tables", "summary")
"""Parts that a paper may lack: it has nothing to draw, to tabulate or to say."""


@dataclass(frozen=True)
class Preset:
    """A named experiment: what it shows and how long it takes."""

    meaning: str
    time: str


@dataclass(frozen=True)
class Paper:
    """What the command line knows of a paper before it runs anything.

    The package has modules ``presets`` (a function for each preset), ``studies`` and
    ``claims`` (``CLAIMS``), and may have ``figures`` (``FIGURES``), ``tables``
    (``TABLES``) and ``summary`` (``lines``). The study ``main`` holds the runs that stand
    for the paper: their stages head the page.
    """

    name: str
    title: str
    authors: str
    venue: str
    link: str
    summary: str
    package: str
    presets: dict[str, Preset] = field(default_factory=dict)
    main: str = ""

    def part(self, name: str) -> Any:
        """A module of the paper's package, or one line that says why it is none."""
        module = f"{self.package}.{name}"
        try:
            return importlib.import_module(module)
        except ModuleNotFoundError as error:
            if error.name not in (module, self.package):
                raise self._broken(name, error) from error
            rule = f"has no module '{name}'; must have {', '.join(PARTS)}"
            raise InputError(f"paper '{self.name}': {self.package} {rule}") from None
        except Exception as error:
            raise self._broken(name, error) from error

    def _broken(self, name: str, error: Exception) -> InputError:
        said = f"module '{name}' cannot be imported ({reason(error)})"
        return InputError(f"paper '{self.name}': {said}")

    def has_part(self, name: str) -> bool:
        """Whether the paper's package has such a module."""
        return importlib.util.find_spec(f"{self.package}.{name}") is not None

    def bring(self, name: str) -> Any:
        """What is used of a part: its claims, figures or tables; nothing if it has none."""
        (attribute,) = PARTS[name]
        if name in OPTIONAL and not self.has_part(name):
            return ()
        return getattr(self.part(name), attribute)

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
            if name in OPTIONAL and not self.has_part(name):
                continue
            wanted = PARTS[name] or [n.replace("-", "_") for n in self.presets]
            module = self.part(name)
            for attribute in wanted:
                if not hasattr(module, attribute):
                    rule = f"module '{name}' has no '{attribute}', which it must have"
                    raise InputError(f"paper '{self.name}': {rule}")


def data_at_hand(task: Any) -> bool:
    """Whether a task's data can be had; a folder that the user named must be right."""
    try:
        task.load()
    except InputError:
        if os.environ.get("PISTE_DATA"):
            raise
        return False
    return True

"""A paper: its presets, studies, claims, figures and tables, found as a plugin.

The value here is light, so that listing papers costs nothing; the parts are modules of
the paper's own package, imported when they are used.
"""

import importlib
import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from piste.errors import InputError, reason

if TYPE_CHECKING:  # listing papers must stay fast
    import xarray as xr


PARTS: dict[str, tuple[str, ...]] = {
    "presets": (),
    "studies": ("studies",),
    "claims": ("CLAIMS",),
    "figures": ("pictures",),
    "tables": ("tables",),
    "summary": ("lines",),
}
"""The modules of a paper's package, and what is used of each; of ``presets``, a function
for every preset."""


@dataclass(frozen=True)
class Preset:
    """A named experiment: what it shows and how long it takes."""

    meaning: str
    time: str


@dataclass(frozen=True)
class Paper:
    """What the command line knows of a paper before it runs anything.

    The package has modules ``presets`` (a function for each preset), ``studies``,
    ``claims`` (``CLAIMS``), ``figures``, ``tables`` and ``summary``. The study ``main``
    holds the runs that stand for the paper: their stages head the page.
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

    def check_parts(self, *names: str) -> None:
        """Refuse a paper that lacks something, before anything is run or written."""
        for name in names or PARTS:
            wanted = PARTS[name] or [n.replace("-", "_") for n in self.presets]
            module = self.part(name)
            for attribute in wanted:
                if not hasattr(module, attribute):
                    rule = f"module '{name}' has no '{attribute}', which it must have"
                    raise InputError(f"paper '{self.name}': {rule}")


class Calculation(Protocol):
    """Numbers that no single run has: a value that computes them in parts.

    A part is a dataset along a dimension ``cell``, stored as a whole.
    """

    def parts(self) -> int:
        """How many parts there are."""
        ...

    def part(self, index: int) -> "xr.Dataset":
        """Compute one of them."""
        ...


@dataclass(frozen=True)
class Study:
    """What belongs together: runs, a sweep in compiled batches, a calculation, or the
    loss surfaces of an experiment.
    """  # noqa: D205

    name: str
    meaning: str
    experiments: tuple[Any, ...] = ()
    """Experiments whose whole trajectories are kept."""
    sweep: Any = None
    """A grid of which some probes are kept."""
    probes: tuple[str, ...] = ()
    batch: int = 10
    until: float = 0.0
    """Training loss at which a batch of the sweep may stop."""
    calculation: Any = None
    """A :class:`Calculation`."""
    landscape: Any = None
    """Which loss surfaces of the experiment to compare: a ``landscape`` comparison."""
    theory: bool = True
    """Whether it needs no dataset; ``--theory`` runs these alone."""

    @property
    def base(self) -> Any:
        """The experiment that is repeated or varied, or the calculation."""
        if self.calculation is not None:
            return self.calculation
        return self.experiments[0] if self.experiments else self.sweep.base

    @property
    def steps(self) -> int:
        """All steps of all runs, all parts of a calculation, all steps and points."""
        if self.calculation is not None:
            return self.calculation.parts()
        if self.landscape is not None:
            return self.landscape.work(self.base.steps, self.landscape.pairs())
        cells = self.sweep.cells() if self.sweep else ()
        swept = (cell.experiment for cell in cells)
        return sum(experiment.steps for experiment in (*self.experiments, *swept))


def data_at_hand(task: Any) -> bool:
    """Whether a task's data can be had; a folder that the user named must be right."""
    try:
        task.load()
    except InputError:
        if os.environ.get("PISTE_DATA"):
            raise
        return False
    return True

"""A paper: its presets, studies, claims, figures and tables, found as a plugin.

The value here is light, so that listing papers costs nothing; the parts are modules of
the paper's own package, imported when they are used.
"""

import importlib
import os
from dataclasses import dataclass, field
from importlib.metadata import EntryPoint, entry_points
from typing import TYPE_CHECKING, Any, Protocol

from piste.errors import InputError, did_you_mean

if TYPE_CHECKING:  # listing papers must stay fast
    import xarray as xr

GROUP = "piste.papers"


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
        """A module of the paper's package."""
        return importlib.import_module(f"{self.package}.{name}")


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


def papers() -> dict[str, Paper]:
    """All installed papers, ours and third parties', in the order of their names."""
    found = entry_points(group=GROUP)
    return {point.name: _load(point) for point in sorted(found, key=lambda p: p.name)}


def _load(point: EntryPoint) -> Paper:
    try:
        return point.load()
    except Exception as error:
        raise InputError(
            f"paper '{point.name}': cannot be imported ({error})"
        ) from None


def find_paper(name: str) -> Paper:
    """A paper by name, or an error that lists them."""
    known = papers()
    if name not in known:
        near = did_you_mean(name, known)
        raise InputError(f"no paper '{name}'{near} (piste list shows all)")
    return known[name]


def preset(name: str) -> Any:
    """The experiment of a preset, named ``paper/preset``."""
    known = {
        f"{paper.name}/{short}": (paper, short)
        for paper in papers().values()
        for short in paper.presets
    }
    if name not in known:
        near = did_you_mean(name, known)
        raise InputError(f"no preset '{name}'{near} (piste list shows all)")
    paper, short = known[name]
    return getattr(paper.part("presets"), short.replace("-", "_"))()

"""A study: what belongs together and is run, stored and described as one thing.

There are four kinds (runs, a sweep, a calculation, loss surfaces), each a class of its
own; whatever asks something of a study asks it by the methods here.
"""

import abc
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from piste.experiment import Experiment
from piste.store import ProgressCallback, no_progress

from .evidence import Evidence


def shifted(watch: ProgressCallback, done: int) -> ProgressCallback:
    """Tell the same, with so much done before."""
    return lambda step, loss: watch(done + step, loss)


@dataclass(frozen=True)
class Description:
    """What the page of a paper says of a study."""

    name: str
    meaning: str
    runs: int
    form: str
    """The arithmetic of its training; a dash where nothing is trained."""
    precision: str
    seconds: float
    configuration: str
    """A line for each field."""


@dataclass(frozen=True)
class Study(abc.ABC):
    """The contract of every kind of study."""

    name: str
    meaning: str
    """What it shows, in a few words."""
    needs_data: bool = field(default=False, kw_only=True)
    """Whether it reads a dataset; ``--theory`` runs the others alone."""
    by_name: bool = field(default=False, kw_only=True)
    """Whether it runs only when ``--only`` names it: it takes too long for a default."""

    @abc.abstractmethod
    def trains(self) -> tuple[Experiment, ...]:
        """The experiments by which size, data and devices are checked beforehand.

        Those that it trains, or one that stands for many; none if it only calculates.
        """

    @abc.abstractmethod
    def work(self) -> int:
        """The size of the whole study, in the units that :meth:`run` reports.

        A progress bar needs it before anything runs: the steps of training, for most.
        """

    @abc.abstractmethod
    def is_stored(self, folder: Path) -> bool:
        """Whether nothing of it is left to run; files are measured, not read."""

    @abc.abstractmethod
    def run(
        self, folder: Path, watch: ProgressCallback = no_progress, fresh: bool = False
    ) -> Evidence:
        """Run the missing parts, or all parts if ``fresh``, and return the evidence."""

    @abc.abstractmethod
    def describe(self, evidence: Evidence) -> Description:
        """Describe the study for the page: its settings, and the cost of its runs."""

    def _describe(
        self, evidence: Evidence, form: str, precision: str, settings: dict[str, Any]
    ) -> Description:
        lines = (f"{name:<28}{given}" for name, given in settings.items())
        return Description(
            self.name,
            self.meaning,
            evidence.count(self.name),
            form,
            precision,
            round(evidence.seconds(self.name), 1),
            "\n".join(lines),
        )

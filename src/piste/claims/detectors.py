"""Stage detectors: an open table of how the stages of a run are found.

A detector says which probes it reads. Whatever run measures all of them has its stages.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import xarray as xr

from piste.brought import is_brought
from piste.errors import reason
from piste.registry import PHRASE, Family

from .by_probes import ReadsProbes, check_needs, first_fitting
from .timeline import Timeline

Detect = Callable[[xr.Dataset], Timeline]


@dataclass(frozen=True)
class StageDetector(ReadsProbes):
    """How the stages of some kind of run are found: a trajectory becomes a timeline."""

    def find(self, trajectory: xr.Dataset) -> Timeline:
        """The timeline of a run; for brought code that fails, a note that says so."""
        if not is_brought(self.function):
            return self.function(trajectory)
        try:
            found = self.function(trajectory)
        except Exception as error:  # a stranger's mistake must not cost a finished run
            return self._failed(f"fails ({reason(error)})")
        if not isinstance(found, Timeline):
            return self._failed(f"gives a {type(found).__name__}, must be a Timeline")
        return found

    def _failed(self, why: str) -> Timeline:
        return Timeline((), {}, {}, note=f"stage detector '{self.name}' {why}")


DETECTORS: Family[StageDetector] = Family("stage detector", PHRASE)
"""All detectors by name; :func:`stage_detector` adds to it."""


def stage_detector(name: str, *, needs: Sequence[str]) -> Callable[[Detect], Detect]:
    """Add a function from a trajectory to a timeline as a detector.

    ``needs`` names the probes that it reads. Where several detectors fit a run, one that
    a user brings comes before ours, and of those the one that was added last.
    """
    DETECTORS.check_name(name)
    check_needs(DETECTORS.noun, name, needs)

    def add(detect: Detect) -> Detect:
        DETECTORS.add(name, StageDetector(name, tuple(needs), detect), detect)
        return detect

    return add


def stages(trajectory: xr.Dataset) -> Timeline:
    """Find the stages of a run; a run for which nobody has named any has none."""
    if detector := first_fitting(DETECTORS, trajectory):
        return detector.find(trajectory)
    return Timeline((), {}, {}, note="no stages are defined for what this run measures")

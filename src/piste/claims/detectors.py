"""Stage detectors: an open table of how the stages of a run are found.

A detector says which probes it reads. Whatever run measures all of them has its stages.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import xarray as xr

from piste.brought import is_brought
from piste.errors import field_error, reason

from .timeline import Timeline

Detect = Callable[[xr.Dataset], Timeline]


@dataclass(frozen=True)
class StageDetector:
    """How the stages of some kind of run are found."""

    name: str
    needs: tuple[str, ...]
    """The probes that it reads."""
    detect: Detect
    """From a trajectory that has these probes to its timeline."""

    def fits(self, trajectory: xr.Dataset) -> bool:
        """Whether a run has measured all that it reads."""
        return set(self.needs) <= set(trajectory)

    def find(self, trajectory: xr.Dataset) -> Timeline:
        """The timeline of a run; for brought code that fails, a note that says so."""
        if not is_brought(self.detect):
            return self.detect(trajectory)
        try:
            found = self.detect(trajectory)
        except Exception as error:  # a stranger's mistake must not cost a finished run
            return self._failed(f"fails ({reason(error)})")
        if not isinstance(found, Timeline):
            return self._failed(f"gives a {type(found).__name__}, must be a Timeline")
        return found

    def _failed(self, why: str) -> Timeline:
        return Timeline((), {}, {}, note=f"stage detector '{self.name}' {why}")


DETECTORS: dict[str, StageDetector] = {}
"""All detectors by name; :func:`stage_detector` adds to it."""


def stage_detector(name: str, *, needs: Sequence[str]) -> Callable[[Detect], Detect]:
    """Add a function from a trajectory to a timeline as a detector.

    ``needs`` names the probes that it reads. Where several detectors fit a run, the one
    that was added last finds its stages, so what a user brings comes before ours.
    """
    if not isinstance(name, str) or not name.strip():
        raise field_error("stage detector", name, "must be a few words")
    if name in DETECTORS:
        rule = "is the name of another one already; choose another name"
        raise field_error("stage detector", name, rule)
    if isinstance(needs, str) or not needs:
        rule = f"must say which probes it needs, not {needs!r}"
        raise field_error("stage detector", name, rule)

    def add(detect: Detect) -> Detect:
        DETECTORS[name] = StageDetector(name, tuple(needs), detect)
        return detect

    return add

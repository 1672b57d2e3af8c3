"""How a stage is found in recorded series: rules that say what they need and show why.

A boundary is found only if its condition was met after the boundaries that come before it
and lasted: for a stated share of the time that it took, over three records or more, and
where the rule says so to the end of the run. One record on the right side is no boundary.
"""

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import xarray as xr

from .timeline import Boundary, Stage, Status, Timeline

LASTS = 0.25
"""What has come at time t must last to (1 + this) t."""
RECORDS = 3
"""It must also last over so many records: fewer say nothing about lasting."""
RISE = 0.1
"""A series that has turned rises again by this share of its lowest value, or more."""


def _always(series: xr.Dataset) -> str:
    return ""


@dataclass(frozen=True)
class Crossing:
    """A series passes a threshold and stays beyond it."""

    name: str
    meaning: str
    series: str
    threshold: float
    rising: bool = True
    """Whether it passes upwards (at least the threshold) or downwards (below it)."""
    to_end: bool = True
    """Whether it must stay beyond the threshold to the end of the run."""
    lasts: float = LASTS
    """For how long it must stay there, as a share of the time that it took to come."""
    records: int = RECORDS
    """Over how many records it must stay there, at least."""
    after: tuple[str, ...] = ()
    """Boundaries whose conditions must have been met, and no later."""
    does_not_apply: Callable[[xr.Dataset], str] = _always
    """Why the rule cannot be applied to some series; empty if it can."""

    def find(self, series: xr.Dataset, found: Mapping[str, Boundary]) -> Boundary:
        """Look for the boundary, given those that come before it."""
        if (why := _obstacle(self, series)) is not None:
            return why
        values, steps = series[self.series].values, series["step"].values
        passed = values >= self.threshold if self.rising else values < self.threshold
        before = [found[name].met or 0 for name in self.after]
        place, status = self._place(passed, steps, max(before, default=0))
        evidence = self._evidence(values, steps, passed, place, status)
        here = Boundary(self.name, self.meaning, status, evidence)
        if status == Status.FOUND:
            since = int(steps[place - 1]) if place else None
            here = dataclasses.replace(here, met=int(steps[place]), since=since)
        return _in_order(here, self.after, found)

    def _place(
        self, passed: np.ndarray, steps: np.ndarray, begin: int
    ) -> tuple[int, Status]:
        """The record at which it begins to last; else the first, and what is wrong.

        What lasts from before ``begin`` on is taken only if nothing later does.
        """
        if not passed.any():
            return -1, Status.NOT_REACHED
        starts = np.flatnonzero(passed & ~np.append(False, passed[:-1]))
        lasting = []
        for start in starts:
            ends = np.flatnonzero(~passed[start:])
            last = start + int(ends[0]) - 1 if ends.size else passed.size - 1
            long = steps[last] >= (1 + self.lasts) * steps[start]
            enough = long and last - start + 1 >= self.records
            at_end = last == passed.size - 1
            if enough and (at_end or not self.to_end):
                lasting.append(int(start))
            elif at_end and not lasting:
                return int(start), Status.TOO_SHORT
        in_order = [start for start in lasting if steps[start] >= begin]
        if lasting:
            return (in_order or lasting)[0], Status.FOUND
        return int(starts[0]), Status.LOST

    def _evidence(self, values, steps, passed, place: int, status: Status) -> str:
        limit = f"threshold {_short(self.threshold)}"
        if status == Status.NOT_REACHED:
            best = int(np.nanargmax(values) if self.rising else np.nanargmin(values))
            side = "at most" if self.rising else "at least"
            return (
                f"{side} {values[best]:.4g} at t = {steps[best]:,}, {limit}, "
                f"up to t = {steps[-1]:,}"
            )
        came = f"{values[place]:.4g} at t = {steps[place]:,}"
        if status == Status.LOST:
            gone = place + int(np.argmax(~passed[place:]))
            return (
                f"{came} ({limit}), but {values[gone]:.4g} at t = {steps[gone]:,} and "
                f"{values[-1]:.4g} at the end"
            )
        if status == Status.TOO_SHORT:
            needed = int(np.ceil((1 + self.lasts) * steps[place]))
            return (
                f"{came} ({limit}), but the run ends at t = {steps[-1]:,}: too short to "
                f"tell, it must last to t = {needed:,} and over {self.records} records"
            )
        if place == 0:
            return f"{came} already ({limit})"
        before = f"{values[place - 1]:.4g} at t = {steps[place - 1]:,}"
        return f"{before}, then {came} ({limit})"


@dataclass(frozen=True)
class Turning:
    """A series falls, turns, and rises again by a part of its depth."""

    name: str
    meaning: str
    series: str
    start: str
    """The boundary after which the fall begins: without it there is nothing to turn."""
    after: tuple[str, ...] = ()
    """Boundaries that must have been met, and no later."""
    does_not_apply: Callable[[xr.Dataset], str] = _always

    def find(self, series: xr.Dataset, found: Mapping[str, Boundary]) -> Boundary:
        """Look for the turn, given the boundaries before it."""
        begin = found[self.start].met
        if begin is None:
            why = f"needs {self.start}, which was not found"
            return Boundary(self.name, self.meaning, Status.NEEDS_EARLIER, why)
        if (why := _obstacle(self, series)) is not None:
            return why
        part = series[self.series].sel(step=slice(begin, None))
        values, steps = part.values, part["step"].values
        low = int(np.argmin(values))
        status, evidence = self._judged(values, steps, low)
        here = Boundary(self.name, self.meaning, status, evidence)
        if status == Status.FOUND:
            # The lowest point may lie on either side of the lowest record.
            since, met, until = map(int, steps[low - 1 : low + 2])
            here = dataclasses.replace(here, met=met, since=since, until=until)
        return _in_order(here, self.after, found)

    def _judged(self, values, steps, low: int) -> tuple[Status, str]:
        lowest = f"lowest at t = {steps[low]:,} ({values[low]:.4g})"
        if low == 0:
            return Status.NOT_REACHED, f"{lowest}: it never falls from there"
        if low == values.size - 1:
            return Status.NOT_REACHED, f"{lowest}: still falling when the run ends"
        # To the end of the run: a rise that is taken back is no turn.
        rise = float(values[-1] - values[low])
        if not rise >= RISE * abs(float(values[low])):
            return (
                Status.NOT_REACHED,
                f"{lowest}, and then it rises by only {rise:.2g} up to t = "
                f"{steps[-1]:,}: it stands still, and has not turned",
            )
        return Status.FOUND, f"{lowest}, {values[-1]:.4g} at t = {steps[-1]:,}"


StageRule = Crossing | Turning


def _obstacle(rule: StageRule, series: xr.Dataset) -> Boundary | None:
    """Why a boundary cannot be looked for at all, or nothing."""

    def no(status: Status, why: str) -> Boundary:
        return Boundary(rule.name, rule.meaning, status, why)

    if rule.series not in series:
        return no(Status.NOT_MEASURED, f"not measured: the run has no {rule.series}")
    values = series[rule.series].values
    if not values.size:
        return no(Status.NOT_MEASURED, "not measured: there are no records")
    if not np.isfinite(values).all():
        first = series["step"].values[np.argmax(~np.isfinite(values))]
        return no(Status.NOT_MEASURED, f"not a finite number at t = {first:,}")
    if why := rule.does_not_apply(series):
        return no(Status.DOES_NOT_APPLY, f"does not apply: {why}")
    return None


def _in_order(
    here: Boundary, after: Sequence[str], found: Mapping[str, Boundary]
) -> Boundary:
    """The boundary as it is, unless one that must come before it is missing or later.

    Two between the same records may have come in either order.
    """
    for name in after:
        earlier = found[name].met
        if earlier is None:
            why = f"needs {name}, which was not found (by itself: {here.evidence})"
            return dataclasses.replace(here, status=Status.NEEDS_EARLIER, evidence=why)
        if here.met is not None and here.met < earlier:
            why = f"{here.evidence}, before {name} (t = {earlier:,})"
            return dataclasses.replace(here, status=Status.OUT_OF_ORDER, evidence=why)
        if here.met == earlier and here.span != (earlier, earlier):
            why = f"{here.evidence}, in the same gap of the records as {name}"
            return dataclasses.replace(here, status=Status.TOO_COARSE, evidence=why)
    return here


def find_boundaries(
    rules: Sequence[StageRule],
    series: xr.Dataset,
    found: Mapping[str, Boundary] | None = None,
) -> dict[str, Boundary]:
    """Look for all boundaries, each given those before it."""
    every = dict(found or {})
    for rule in rules:
        every[rule.name] = rule.find(series, every)
    return every


@dataclass(frozen=True)
class Span:
    """A stage as the interval between two boundaries."""

    name: str
    title: str
    start: str = ""
    """The boundary at which it begins; empty for the beginning of the run."""
    end: str = ""
    """The boundary at which it ends; empty for the end of the run."""
    needs: tuple[str, ...] = ()
    """Other boundaries without which there is no such stage."""


def timeline_of(
    spans: Sequence[Span], boundaries: dict[str, Boundary], last: int
) -> Timeline:
    """The stages whose boundaries were all found; the others with the first reason."""
    stages, missing = [], {}
    for span in spans:
        if why := _why_missing(span, boundaries):
            missing[span.name] = why
            continue
        start, end = boundaries.get(span.start), boundaries.get(span.end)
        stages.append(
            Stage(
                span.name,
                span.title,
                start.step or 0 if start else 0,
                end.step or 0 if end else last,
                open=end is None,
                since=(start and start.since, end and end.since),
            )
        )
    return Timeline(tuple(stages), boundaries, missing)


def _why_missing(span: Span, boundaries: Mapping[str, Boundary]) -> str:
    """Which boundary a stage lacks: its own end is shown, its beginning only named."""
    if span.start and boundaries[span.start].status != Status.FOUND:
        if span.start == span.name:
            return boundaries[span.start].sentence()
        return f"needs {span.start}, which was not found"
    for name in (span.end, *span.needs):
        if name and boundaries[name].status != Status.FOUND:
            return boundaries[name].sentence()
    return ""


def lasting(passed: np.ndarray) -> np.ndarray:
    """True from the first record after which it is never false again.

    >>> lasting(np.array([True, False, True, True])).tolist()
    [False, False, True, True]
    """
    return np.logical_and.accumulate(passed[::-1])[::-1]


def _short(threshold: float) -> str:
    # Strictly above zero is written as the smallest positive number.
    return "0" if 0 < abs(threshold) < 1e-99 else f"{threshold:.3g}"

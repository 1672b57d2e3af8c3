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
    strict: bool = False
    """Whether a series that rises must be above the threshold, and not only reach it."""
    to_end: bool = True
    """Whether it must stay beyond the threshold to the end of the run."""
    lasts: float = LASTS
    """For how long it must stay there, as a share of the time that it took to come."""
    records: int = RECORDS
    """Over how many records it must stay there, at least."""
    after: tuple[str, ...] = ()
    """Boundaries whose conditions must have been met, and no later."""
    not_long_before: tuple[str, ...] = ()
    """Boundaries that it may come before, by a share :data:`LASTS` of its own time."""
    does_not_apply: Callable[[xr.Dataset], str] = _always
    """Why the rule cannot be applied to some series; empty if it can."""

    def find(self, series: xr.Dataset, found: Mapping[str, Boundary]) -> Boundary:
        """Look for the boundary, given those that come before it."""
        if (why := _obstacle(self, series)) is not None:
            return why
        values, steps = series[self.series].values, series["step"].values
        passed = self._is_passed(values)
        # `met` and not `step`: a boundary out of order still says when it came.
        before = [found[name].met or 0 for name in self.after]
        place, status = self._place(passed, steps, max(before, default=0))
        evidence = self._evidence(values, steps, passed, place, status)
        here = Boundary(self.name, self.meaning, status, evidence)
        # Records have gaps: it came somewhere after the record before.
        if status == Status.FOUND:
            since = int(steps[place - 1]) if place else None
            here = dataclasses.replace(here, met=int(steps[place]), since=since)
        here = _in_order(here, self.after, found)
        return _not_long_before(here, self.not_long_before, found)

    def _is_passed(self, values: np.ndarray) -> np.ndarray:
        if not self.rising:
            return values < self.threshold
        return values > self.threshold if self.strict else values >= self.threshold

    def _place(
        self, passed: np.ndarray, steps: np.ndarray, begin: int
    ) -> tuple[int, Status]:
        """The record at which it begins to last; else the first, and what is wrong.

        What lasts from before ``begin`` on is taken only if nothing later does.
        """
        if not passed.any():
            return -1, Status.NOT_REACHED
        # Each stretch beyond the threshold is looked at, from its first record.
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
        limit = f"threshold {self.threshold:.3g}"
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
            return f"{came} ({limit}), but {self._lack(steps, place)}"
        if place == 0:
            return f"{came} already ({limit})"
        before = f"{values[place - 1]:.4g} at t = {steps[place - 1]:,}"
        return f"{before}, then {came} ({limit})"

    def _lack(self, steps, place: int) -> str:
        """What a run does not have that would show whether it lasts: time, or records."""
        needed, kept = int(np.ceil((1 + self.lasts) * steps[place])), steps.size - place
        records = f"over {self.records} records"
        if steps[-1] >= needed:
            return f"too few records to tell: {kept}, and it must last {records}"
        also = f" and {records}" if kept < self.records else ""
        return (
            f"the run ends at t = {steps[-1]:,}: too short to tell, it must last to "
            f"t = {needed:,}{also}"
        )


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
        # A fall before the start is not the one whose end is looked for.
        part = series[self.series].sel(step=slice(begin, None))
        values, steps = part.values, part["step"].values
        low = int(np.argmin(values))
        status, evidence = self._judged(values, steps, low)
        here = Boundary(self.name, self.meaning, status, evidence)
        if status == Status.FOUND:
            # The lowest point itself may lie on either side of the lowest record.
            here = dataclasses.replace(
                here,
                met=int(steps[low]),
                since=int(steps[low - 1]),
                next_step=int(steps[low + 1]),
            )
        return _in_order(here, self.after, found)

    def _judged(self, values, steps, low: int) -> tuple[Status, str]:
        lowest = f"lowest at t = {steps[low]:,} ({values[low]:.4g})"
        if low == 0:
            at = f"{lowest}, the end of {self.start}"
            return Status.NOT_REACHED, f"{at}: it does not fall after that"
        if low == values.size - 1:
            return Status.NOT_REACHED, f"{lowest}: still falling when the run ends"
        # To the end of the run: a rise that is taken back is no turn.
        rise, last = float(values[-1] - values[low]), f"at t = {steps[-1]:,}"
        if rise >= RISE * abs(float(values[low])):
            return Status.FOUND, f"{lowest}, {values[-1]:.4g} {last}"
        little = f"{lowest}, and only {rise:.2g} higher {last}"
        if values[-1] > values[-2]:
            share = f"{RISE:.0%}".replace("%", " %")
            why = f"it must rise by {share}, and the run is too short to tell"
            return Status.TOO_SHORT, f"{little}: {why}"
        still = bool((values[-RECORDS:] == values[-1]).all())
        how = "it stands still" if still else "it does not stay up"
        return Status.NOT_REACHED, f"{little}: {how}, and has not turned"


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
    if why := rule.does_not_apply(series):
        return no(Status.DOES_NOT_APPLY, f"does not apply: {why}")
    # Comparisons with NaN are false, so that it would pass for "not reached".
    if not np.isfinite(values).all():
        first = series["step"].values[np.argmax(~np.isfinite(values))]
        return no(Status.NOT_MEASURED, f"not a finite number at t = {first:,}")
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


def _not_long_before(
    here: Boundary, others: Sequence[str], found: Mapping[str, Boundary]
) -> Boundary:
    """The boundary as it is, unless another one comes when it is long over."""
    for name in others if here.step is not None else ():
        other = found[name].met
        if other is not None and other > (1 + LASTS) * (here.met or 0):
            why = f"{here.evidence}, long before {name} (t = {other:,})"
            return dataclasses.replace(here, status=Status.OUT_OF_ORDER, evidence=why)
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
    stays: bool = False
    """Whether a run may stay in it: it is then open if its end never came for good."""


def timeline_of(
    spans: Sequence[Span], boundaries: dict[str, Boundary], last: int
) -> Timeline:
    """The stages whose boundaries were all found; the others with the first reason."""
    stages, missing = [], {}
    ended = {span.end: span.name for span in spans if span.end}
    for span in spans:
        if why := _why_missing(span, boundaries, ended):
            missing[span.name] = why
            continue
        start, end = boundaries.get(span.start), boundaries.get(span.end)
        # A stage that may stay has an end that never came: it is open.
        if end and end.step is None:
            end = None
        if end is None and (start.step if start else 0) == last:
            missing[span.name] = f"there is no record after t = {last:,}"
            continue
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
    order = tuple(span.name for span in spans)
    return Timeline(tuple(stages), boundaries, missing, order=order)


def _why_missing(
    span: Span, boundaries: Mapping[str, Boundary], ended: Mapping[str, str]
) -> str:
    """Which boundary a stage lacks: its own end is shown, that of another only named."""
    start = boundaries.get(span.start)
    if start and start.step is None:
        # The stage that it would have ended shows the evidence: once is enough.
        if span.start not in ended:
            return start.sentence()
        return f"needs the end of {ended[span.start]}: {start.status}"
    for name in (span.end, *span.needs):
        if not name or boundaries[name].step is not None:
            continue
        never = boundaries[name].status in (Status.NOT_REACHED, Status.LOST)
        if not (span.stays and name == span.end and never):
            return boundaries[name].sentence()
    end = boundaries.get(span.end)
    return _no_time_between(start, end) if end and end.step is not None else ""


def _no_time_between(start: Boundary | None, end: Boundary) -> str:
    """Why a stage that has both its ends has no length that the records show."""
    if end.since is None:
        return f"it is over before it begins: {end.sentence()}"
    if start is None or start.step != end.step:
        return ""
    if end.when() == f"{end.step:,}":
        return f"it begins and ends at t = {end.step:,}"
    return f"it begins and ends {end.when()}: the records are too coarse to show it"


def lasting(passed: np.ndarray) -> np.ndarray:
    """True from the first record after which it is never false again.

    >>> lasting(np.array([True, False, True, True])).tolist()
    [False, False, True, True]
    """
    return np.logical_and.accumulate(passed[::-1])[::-1]

"""Stages: named intervals of training time, each boundary with its evidence."""

import enum
import html
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import pandas as pd


class Status(enum.StrEnum):
    """What became of a boundary: found, or why not."""

    FOUND = "found"
    NOT_REACHED = "not reached"
    LOST = "reached, then lost"
    TOO_SHORT = "the run is too short, or has too few records, to tell"
    TOO_COARSE = "the records are too coarse to tell"
    OUT_OF_ORDER = "out of order"
    NEEDS_EARLIER = "needs an earlier stage"
    DOES_NOT_APPLY = "does not apply"
    NOT_MEASURED = "not measured"


def moment(since: int | None, step: int, next_step: int | None = None) -> str:
    """A time that lies after one record and not after the next, or before ``next_step``.

    >>> moment(10, 11), moment(500, 1000), moment(None, 0)
    ('11', 'between 500 and 1,000', '0')
    >>> moment(10, 11, 12), moment(500, 1000, 1500)
    ('11', 'between 500 and 1,500')
    """
    next_step = step if next_step is None else next_step
    if since is None or max(step - since, next_step - step) <= 1:
        return f"{step:,}"
    return f"between {since:,} and {next_step:,}"


@dataclass(frozen=True)
class Boundary:
    """A moment between two stages: whether it was found, and what shows it."""

    name: str
    meaning: str
    status: Status
    evidence: str
    """The numbers that decide, in one line."""
    met: int | None = None
    """The first recorded step from which its own condition lasts, whatever the order."""
    since: int | None = None
    """The last recorded step before that one: the moment lies between the two."""
    next_step: int | None = None
    """The next recorded step, where the moment may also lie after ``met``: a turn."""

    @property
    def step(self) -> int | None:
        """The step at which it was found; None if it was not, or out of order."""
        return self.met if self.status == Status.FOUND else None

    @property
    def span(self) -> tuple[int, int] | None:
        """The first and the last step at which it may be; None if its own is not met."""
        if self.met is None:
            return None
        first = self.met if self.since is None else self.since + 1
        return first, self.met if self.next_step is None else self.next_step - 1

    def when(self) -> str:
        """The moment, as far as the records tell: ``11``, or ``between 500 and 1,000``."""
        if self.step is None:
            return "–"
        return moment(self.since, self.step, self.next_step)

    def sentence(self) -> str:
        """What was looked for, and the evidence."""
        return f"{self.meaning}: {self.evidence}"


@dataclass(frozen=True)
class Stage:
    """A named interval of training time that was found."""

    name: str
    title: str
    start: int
    end: int
    open: bool = False
    """Whether it ends only because the run does."""
    since: tuple[int | None, int | None] = None, None
    """The last records before its beginning and before its end, where there are some."""

    def when(self) -> str:
        """The interval in words, each end as far as the records tell."""
        start, end = (
            moment(since, step)
            for since, step in zip(self.since, (self.start, self.end), strict=True)
        )
        return f"t = {start} … {end}" + (" (end of the run)" if self.open else "")


@dataclass(frozen=True)
class Timeline:
    """The stages of one run that were found, and all boundaries that were looked for."""

    stages: tuple[Stage, ...]
    boundaries: dict[str, Boundary]
    missing: dict[str, str]
    """Stages that were not found, each with the reason."""
    note: str = ""
    """What is to be said of the whole: that nobody has named stages for such runs."""
    order: tuple[str, ...] = ()
    """The names of all stages, found or not, in the order in which they come."""

    def step(self, name: str) -> float:
        """When a boundary was crossed; not a number if it was not found."""
        step = self.boundaries[name].step
        return np.nan if step is None else float(step)

    def met(self, name: str) -> float:
        """When a boundary's own condition was met for good, whatever came before it."""
        met = self.boundaries[name].met
        return np.nan if met is None else float(met)

    def found(self, *names: str) -> bool:
        """Whether all these boundaries were found."""
        return all(self.boundaries[name].status == Status.FOUND for name in names)

    def frame(self) -> pd.DataFrame:
        """All boundaries as a table."""
        columns = ["boundary", "step", "status", "evidence"]
        rows = [
            (b.name, self.step(b.name), str(b.status), b.sentence())
            for b in self.boundaries.values()
        ]
        return pd.DataFrame(rows, columns=columns).set_index("boundary")

    def __str__(self) -> str:
        if self.note:
            return self.note
        rows = self.rows()
        width = max((len(name) for name, _, _ in rows), default=0)
        lines = []
        for name, when, what in rows:
            between = ": " if name in self.missing else "  "
            lines.append(f"{name:>{width}}  {when}{between}{what}")
        return "\n".join(lines)

    def rows(self) -> list[tuple[str, str, str]]:
        """Every stage in its order: its name, when it was, and its title or why not."""
        rows = [(s.name, s.when(), s.title) for s in self.stages]
        rows += [(name, "not found", why) for name, why in self.missing.items()]
        place = {name: index for index, name in enumerate(self.order)}
        return sorted(rows, key=lambda row: place.get(row[0], len(place)))

    def _repr_html_(self) -> str:
        if self.note:
            return f"<p>{html.escape(self.note)}</p>"
        return self.frame().to_html()


def spread(values: Iterable[float]) -> dict[str, float]:
    """Median, sd and range over runs; runs that have no value only count."""
    values = np.array(list(values), float)
    reached = values[~np.isnan(values)]
    some = reached if reached.size else np.array([np.nan])
    return {
        "median": float(np.median(some)),
        "sd": float(reached.std(ddof=1)) if reached.size > 1 else np.nan,
        "low": float(some.min()),
        "high": float(some.max()),
        "reached": reached.size,
        "runs": values.size,
    }


def summary(timelines: Iterable[Timeline]) -> pd.DataFrame:
    """Median and spread of every boundary over runs; how many runs reached it."""
    timelines = list(timelines)
    rows = [
        {"boundary": name, "meaning": boundary.meaning}
        | spread(timeline.step(name) for timeline in timelines)
        for name, boundary in timelines[0].boundaries.items()
    ]
    return pd.DataFrame(rows).set_index("boundary")

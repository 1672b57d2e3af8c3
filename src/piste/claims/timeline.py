"""Stages: named intervals of training time, each boundary with its evidence."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import pandas as pd
import xarray as xr


@dataclass(frozen=True)
class Boundary:
    """A moment found by a crossing: the series, the threshold, and both sides of it."""

    name: str
    meaning: str
    step: int | None
    """The first recorded step after the crossing; None if it never happens."""
    threshold: float
    before: tuple[int, float] | None
    """The last recorded step on the other side, and the series there."""
    after: tuple[int, float] | None
    """The step of the crossing, and the series there."""

    def sentence(self) -> str:
        """The evidence in words."""
        limit = 0.0 if abs(self.threshold) < 1e-99 else self.threshold
        threshold = "" if np.isnan(limit) else f" (threshold {limit:.3g})"
        if self.step is None or self.after is None:
            return f"{self.meaning}: not reached{threshold}"
        passed = f"{self.after[1]:.4g} at t = {self.after[0]}"
        if self.before is not None:
            passed = f"{self.before[1]:.4g} at t = {self.before[0]}, then {passed}"
        return f"{self.meaning}: {passed}{threshold}"


@dataclass(frozen=True)
class Stage:
    """A named interval of training time."""

    name: str
    title: str
    start: int | None
    end: int | None


@dataclass(frozen=True)
class Timeline:
    """The stages of one run and the boundaries that they were cut by."""

    stages: tuple[Stage, ...]
    boundaries: dict[str, Boundary]

    def step(self, name: str) -> float:
        """When a boundary was crossed; not a number if never."""
        step = self.boundaries[name].step
        return np.nan if step is None else float(step)

    def frame(self) -> pd.DataFrame:
        """All boundaries as a table."""
        rows = [
            {"boundary": b.name, "step": self.step(b.name), "evidence": b.sentence()}
            for b in self.boundaries.values()
        ]
        return pd.DataFrame(rows).set_index("boundary")

    def __str__(self) -> str:
        return "\n".join(
            f"{stage.name:>4}  t = {_open(stage.start)} … {_open(stage.end)}  {stage.title}"
            for stage in self.stages
        )

    def _repr_html_(self) -> str:
        return self.frame().to_html()


def _open(step: int | None) -> str:
    return "–" if step is None else str(step)


def crossing(
    name: str,
    meaning: str,
    series: xr.DataArray,
    threshold: float,
    *,
    rising: bool,
    lasting: bool,
) -> Boundary:
    """Find where a series passes a threshold: first, or first for good (lasting)."""
    values, steps = series.values, series["step"].values
    passed = values >= threshold if rising else values < threshold
    if lasting:
        passed = _lasting(passed)
    if not passed.any():
        return Boundary(name, meaning, None, threshold, None, None)
    place = int(np.argmax(passed))
    after = (int(steps[place]), float(values[place]))
    before = (int(steps[place - 1]), float(values[place - 1])) if place else None
    return Boundary(name, meaning, after[0], threshold, before, after)


def lasting(passed: np.ndarray) -> np.ndarray:
    """True from the first record after which it is never false again.

    >>> lasting(np.array([True, False, True, True])).tolist()
    [False, False, True, True]
    """
    return np.logical_and.accumulate(passed[::-1])[::-1]


_lasting = lasting  # the keyword of `crossing` has the same name


def turning(name: str, meaning: str, series: xr.DataArray) -> Boundary:
    """Find where a series that falls at first turns: its lowest point, inside the run."""
    values, steps = series.values, series["step"].values
    nowhere = Boundary(name, meaning, None, np.nan, None, None)
    if values.size == 0 or np.isnan(values).all():
        return nowhere
    place = int(np.nanargmin(values))
    if place in (0, values.size - 1):
        return nowhere
    after = (int(steps[place]), float(values[place]))
    before = (int(steps[0]), float(values[0]))
    return Boundary(name, meaning, after[0], np.nan, before, after)


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

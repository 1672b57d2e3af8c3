"""Figures and tables, declared with the studies that they need, as claims are."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

import pandas as pd

from piste.brought import is_brought
from piste.errors import reason
from piste.figures import Picture

from .evidence import Evidence

T = TypeVar("T")
D = TypeVar("D", "Figure", "Table")

Tables = dict[str, tuple[str, pd.DataFrame]]
"""Tables with their captions, by name."""


@dataclass(frozen=True)
class Figure:
    """A figure of a paper, and when it can be drawn."""

    name: str
    draw: Callable[[Evidence], Picture | None]
    """Draws it; None where the evidence has nothing to show."""
    needs: tuple[str, ...] = ()
    """The studies that it shows; without one of them it is skipped."""
    any_of: tuple[str, ...] = ()
    """Studies of which one is enough."""


@dataclass(frozen=True)
class Table:
    """A table of a paper, and when it can be made."""

    name: str
    caption: str | Callable[[Evidence, pd.DataFrame], str]
    """What it shows; a function where that depends on the evidence or on the rows."""
    make: Callable[[Evidence], pd.DataFrame | None]
    """Makes its rows; None where the evidence has nothing to show."""
    needs: tuple[str, ...] = ()
    """The studies that it shows; without one of them it is skipped."""
    any_of: tuple[str, ...] = ()
    """Studies of which one is enough."""

    def words(self, evidence: Evidence, rows: pd.DataFrame) -> str:
        """Its caption."""
        return (
            self.caption
            if isinstance(self.caption, str)
            else self.caption(evidence, rows)
        )


def is_ready(display: Figure | Table, evidence: Evidence) -> bool:
    """Whether the studies that a figure or a table needs are there."""
    some = not display.any_of or any(name in evidence for name in display.any_of)
    return some and evidence.has(*display.needs)


Failures = list[str]
"""A line for each figure or table of others that could not be made."""


def draw_figures(
    figures: Sequence[Figure], evidence: Evidence, failures: Failures
) -> dict[str, Picture]:
    """Draw every figure for which the evidence is there."""

    def draw(figure: Figure) -> Picture | None:
        return _kind(Picture, figure.draw(evidence))

    ready = [figure for figure in figures if is_ready(figure, evidence)]
    drawn = {f.name: _careful(draw, f, f.draw, failures) for f in ready}
    return {name: picture for name, picture in drawn.items() if picture is not None}


def make_tables(
    tables: Sequence[Table], evidence: Evidence, failures: Failures
) -> Tables:
    """Make every table for which the evidence is there."""

    def make(table: Table) -> tuple[str, pd.DataFrame] | None:
        rows = _kind(pd.DataFrame, table.make(evidence))
        return None if rows is None else (table.words(evidence, rows), rows)

    ready = [table for table in tables if is_ready(table, evidence)]
    made = {t.name: _careful(make, t, t.make, failures) for t in ready}
    return {name: table for name, table in made.items() if table is not None}


def _kind(kind: type[T], given: T | None) -> T | None:
    if given is not None and not isinstance(given, kind):
        raise TypeError(f"gives a {type(given).__name__}, must be a {kind.__name__}")
    return given


def _careful(
    make: Callable[[D], T | None], display: D, code: Callable, failures: Failures
) -> T | None:
    """Make a display; a mistake in code that was brought must not cost all the others."""
    try:
        return make(display)
    except Exception as error:
        if not is_brought(code):
            raise
        noun = type(display).__name__.lower()
        failures.append(f"{noun} '{display.name}' was not made: {reason(error)}")
        return None

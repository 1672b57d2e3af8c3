"""Figures and tables, declared with the studies that they need, as claims are."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import pandas as pd

from piste.figures import Picture

from .evidence import Evidence

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


def draw_figures(figures: Sequence[Figure], evidence: Evidence) -> dict[str, Picture]:
    """Draw every figure for which the evidence is there."""
    drawn = {f.name: f.draw(evidence) for f in figures if is_ready(f, evidence)}
    return {name: picture for name, picture in drawn.items() if picture is not None}


def make_tables(tables: Sequence[Table], evidence: Evidence) -> Tables:
    """Make every table for which the evidence is there."""
    made: Tables = {}
    for table in tables:
        rows = table.make(evidence) if is_ready(table, evidence) else None
        if rows is not None:
            made[table.name] = (table.words(evidence, rows), rows)
    return made

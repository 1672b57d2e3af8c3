"""What the command line prints: progress, tables, calm words."""

import math
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from typing import Any

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.table import Table
from rich.text import Text

from piste.errors import printable

COLOURS = {"✓": "green", "✗": "red", "◐": "yellow", "○": "bright_black", "?": "yellow"}


class PlainConsole(Console):
    """Prints text as it is: brackets in a path or a formula are no markup of rich's.

    Control characters are escaped: a path may have some. What is to be bold or coloured
    is a :class:`rich.text.Text`.
    """

    def __init__(self, **settings: Any):
        super().__init__(highlight=False, markup=False, emoji=False, **settings)

    def render_str(self, text: str, **options: Any) -> Text:
        """Text as rich shows it, in cells of tables too."""
        return super().render_str(printable(text, lines=True), **options)

    def on_broken_pipe(self) -> None:
        """Leave it to the command line, which ends quietly wherever it happens."""
        raise BrokenPipeError


def console() -> Console:
    """Standard output, with a width that keeps tables whole in a pipe."""
    out = PlainConsole()
    return out if out.is_terminal else PlainConsole(width=110)


@contextmanager
def progress(out: Console | None = None, quiet: bool = False) -> Iterator[Progress]:
    """A bar for each experiment: step, loss, time left."""
    columns = (
        TextColumn("  {task.description:<14}", markup=False),
        BarColumn(bar_width=24),
        MofNCompleteColumn(),
        TextColumn("{task.fields[loss]}", markup=False),
        TimeElapsedColumn(),
        TextColumn("·"),
        TimeRemainingColumn(),
        TextColumn("left"),
    )
    out = PlainConsole(quiet=True) if quiet else out or console()
    bars = Progress(*columns, console=out)
    # In a pipe nothing moves, and its display would only leave an empty line.
    with bars if out.is_terminal else nullcontext():
        yield bars


def watcher(bars: Progress, name: str, total: int) -> Callable[[int, float], None]:
    """Add a bar, and return what moves it."""
    if not bars.console.is_terminal:
        return _printer(bars.console, name, total)
    task = bars.add_task(name, total=total, loss="compiling")

    def watch(step: int, loss: float) -> None:
        bars.update(task, completed=step, loss=_loss(loss))

    return watch


def _printer(out: Console, name: str, total: int) -> Callable[[int, float], None]:
    """In a pipe or a log file: a line for every tenth of the way."""
    began, shown = time.monotonic(), [0]

    def watch(step: int, loss: float) -> None:
        tenth = 10 * step // total
        if tenth == shown[0]:
            return
        shown[0] = tenth
        left = (time.monotonic() - began) * (total - step) / step
        progress = f"{step:,}/{total:,}  {_loss(loss)}  {left:.0f} s left"
        out.print(f"  {name:<14}  {progress}")

    return watch


def _loss(loss: float) -> str:
    return "" if math.isnan(loss) else f"loss {loss:.2e}"


def plain_table(headings: Sequence[str], rows: Sequence[Sequence[Any]]) -> Table:
    """A table without lines, two spaces from the margin."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for heading in headings:
        table.add_column(heading, overflow="fold")
    for row in rows:
        table.add_row(*(c if isinstance(c, Text) else str(c) for c in row))
    return table


def bold(words: str, *rest: str) -> Text:
    """Bold words, and plain ones after them."""
    return Text.assemble((printable(words), "bold"), *map(printable, rest))


def mark(sign: str, words: str) -> Text:
    """A verdict with its sign, and a colour that is never its only sign."""
    return Text(f"{sign} {printable(words)}", COLOURS.get(sign, "default"))

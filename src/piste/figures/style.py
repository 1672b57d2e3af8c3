"""One style for all figures: colour-blind safe, serif mathematics, direct labels."""

import functools
import io
import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

from piste.claims import Timeline
from piste.store import write_atomically

# Okabe and Ito's palette: told apart with every common colour vision.
BLUE, ORANGE, GREEN = "#0072B2", "#D55E00", "#009E73"
PINK, SKY, YELLOW, BLACK = "#CC79A7", "#56B4E9", "#E69F00", "#222222"
BANDS = ("#f4f4f4", "#e6eef5")
SHADES = (0.15, 0.8)
"""The part of the colour map that is used: black dots and white paper are both seen."""
WIDTH = 6.9
"""Inches of two columns of a paper."""

STYLE: Any = {
    "font.family": "serif",
    "font.serif": ["STIXGeneral", "DejaVu Serif"],
    "mathtext.fontset": "stix",
    "font.size": 9,
    "axes.titlesize": 9.5,
    "axes.labelsize": 9.5,
    "xtick.labelsize": 8,
    "ytick.labelsize": 8,
    "legend.fontsize": 8,
    "legend.frameon": False,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.7,
    "lines.linewidth": 1.4,
    "pdf.fonttype": 42,
    "axes.formatter.useoffset": False,
}


@dataclass(frozen=True)
class Picture:
    """A figure, the data behind it, and its caption."""

    figure: Figure
    data: pd.DataFrame
    caption: str

    def savefig(self, path: str | Path | io.BytesIO, **options) -> None:
        """Save as matplotlib does."""
        with mpl.rc_context(STYLE):
            self.figure.savefig(path, **options)

    def save(self, folder: Path, name: str) -> None:
        """Write PDF, PNG and the data as CSV, each file whole or not at all."""
        folder.mkdir(parents=True, exist_ok=True)
        write_atomically(folder / f"{name}.pdf", self._pdf())
        write_atomically(folder / f"{name}.png", self.png())
        write_atomically(folder / f"{name}.csv", self.data.to_csv(index=False).encode())

    def _pdf(self) -> bytes:
        buffer = io.BytesIO()
        # Without a date, so that the same picture is the same file.
        self.savefig(buffer, format="pdf", metadata={"CreationDate": None})
        return buffer.getvalue()

    def png(self, dpi: int = 160) -> bytes:
        """The picture as PNG."""
        buffer = io.BytesIO()
        self.savefig(buffer, dpi=dpi, format="png")
        return buffer.getvalue()

    def _repr_png_(self) -> bytes:
        return self.png(110)


def styled(draw: Callable[..., Picture]) -> Callable[..., Picture]:
    """Draw in the common style, and leave the user's own settings alone."""

    @functools.wraps(draw)
    def inside(*args, **options):
        with mpl.rc_context(STYLE):
            return draw(*args, **options)

    return inside


def canvas(
    rows: int, columns: int, height: float, **options
) -> tuple[Figure, np.ndarray]:
    """A figure of the common width with a grid of axes, without pyplot's global state."""
    figure = Figure(figsize=(WIDTH, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure, figure.subplots(rows, columns, squeeze=False, **options)


def shade(share: float) -> str:
    """The colour of a share between 0 and 1, for lines that have an order.

    >>> shade(0.0), shade(1.0)
    ('#463480', '#7ad151')
    """
    start, end = SHADES
    return to_hex(mpl.colormaps["viridis"](start + (end - start) * float(share)))


TIMES = (0, 2, 5, *(10**power for power in range(1, 10)))
"""The steps that are named on an axis of time."""


def time_axis(axes: Axes, last: int, times: Sequence[int] = TIMES) -> None:
    """Time on a logarithmic axis that is linear up to step 10."""
    axes.set_xscale("symlog", linthresh=10, linscale=0.6)
    ticks = [t for t in times if t <= last]
    axes.set_xticks(ticks, [f"{t:,}" for t in ticks])
    axes.set_xticks([], minor=True)
    axes.set_xlim(0, last)
    axes.set_xlabel("step $t$")


def stage_bands(axes: Axes, timeline: Timeline, names: bool = True) -> None:
    """Shade the stages that were found and write their names on top."""
    left, right = axes.get_xlim()
    for stage, colour in zip(timeline.stages, itertools.cycle(BANDS), strict=False):
        start, end = max(stage.start, left), min(stage.end, right)
        if end <= start:
            continue
        axes.axvspan(start, end, color=colour, lw=0, zorder=-2)
        ends = axes.transAxes.inverted().transform(
            axes.transData.transform([(start, 0), (end, 0)])
        )[:, 0]
        if names and np.ptp(ends) > 0.03:
            _above(axes, float(ends.mean()), stage.name)
    axes.set_xlim(left, right)


def stages_found(timeline: Timeline) -> str:
    """A sentence for a caption: which stages are shaded, and which are not there.

    Nothing where nobody has named stages.
    """
    names = [stage.name for stage in timeline.stages]
    said = f"Shaded: stages {', '.join(names)}." if names else ""
    if timeline.missing:
        said = f"{said} Not found: {', '.join(timeline.missing)}.".strip()
    return said


def _above(axes: Axes, place: float, text: str) -> None:
    options = {"ha": "center", "va": "bottom", "color": "#666666", "fontsize": 8}
    axes.text(place, 1.02, text, transform=axes.transAxes, **options)


def inside_label(
    axes: Axes, place: tuple[float, float], text: str, colour: str
) -> None:
    """Write a label inside the axes, in the colour of its line."""
    options = {"color": colour, "va": "top", "fontsize": 8.5}
    axes.text(*place, text, transform=axes.transAxes, **options)


def end_label(axes: Axes, x: float, y: float, text: str, colour: str, **more) -> None:
    """Write a label beside a line instead of in a legend."""
    options = {"ha": "left", "va": "center", "fontsize": 8.5} | more
    axes.annotate(
        text,
        (x, y),
        xytext=(4, 0),
        textcoords="offset points",
        color=colour,
        annotation_clip=False,
        **options,
    )

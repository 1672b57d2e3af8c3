"""How kernels and trained matrices look, and what several figures and captions share."""

from typing import Any

import numpy as np
import xarray as xr
from matplotlib.axes import Axes

from piste.figures import BLUE, GREEN, ORANGE, PINK

KERNEL_LOOKS = {
    "softmax": (BLUE, "o", "-", ""),
    "gaussian": (ORANGE, "s", "--", "//"),
}
"""Colour, marker, dashes and hatching of each kernel."""
TRAINED_LOOKS = {
    "V": (r"$W^V$ alone", GREEN, "-", "o"),
    "QKV": ("$W^Q, W^K, W^V$", PINK, "-.", "^"),
}
"""Label, colour, dashes and marker of each set of trained matrices."""
GREY = "#999999"
LIMIT_LOOK: Any = {"color": GREY, "ms": 4, "mfc": "none"}
"""How a singular value is drawn of which only an upper limit is known."""


def band(panel: Axes, series: xr.DataArray, colour: str, dashes: str, label: str):
    """Draw the median over the cells, and their range."""
    low, middle, high = (series.quantile(q, "cell") for q in (0, 0.5, 1))
    panel.fill_between(series.step, low, high, color=colour, alpha=0.15, lw=0)
    panel.plot(series.step, middle, color=colour, ls=dashes, label=label)


def steps_axis(panel: Axes) -> None:
    """Show time from zero, on a logarithmic scale."""
    panel.set(xlabel="step $t$", xscale="symlog", xlim=(0, None))
    panel.set_xticks([0, 1, 10, 100, 1000], ["0", "1", "10", "100", "1000"])
    panel.set_xticks([], minor=True)


# --- captions --------------------------------------------------------------------------


def seeds_words(data: xr.Dataset) -> str:
    """How many seeds, and which: ``8 seeds, 100 to 107``."""
    seeds = np.unique(data.seed.values)
    if seeds.size == 1:
        return f"seed {seeds[0]}"
    return f"{seeds.size} seeds, {seeds[0]} to {seeds[-1]}"


def steps_words(data: xr.Dataset) -> str:
    """How many steps: ``3,000 steps``."""
    return f"{int(data.step[-1]):,} steps"

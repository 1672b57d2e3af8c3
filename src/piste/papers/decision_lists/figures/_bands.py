"""Bands over seeds: the median and the range of a series."""

import xarray as xr
from matplotlib.axes import Axes


def draw_band(panel: Axes, series: xr.DataArray, colour: str, label: str = "") -> None:
    """Draw the median over cells, and shade from the smallest to the largest."""
    low, middle, high = (series.quantile(q, "cell") for q in (0, 0.5, 1))
    panel.fill_between(series.step, low, high, color=colour, alpha=0.15, lw=0)
    panel.plot(series.step, middle, color=colour, label=label or None)


def mark_powers_of_ten(panel: Axes, *ticks: int) -> None:
    """Label a symmetric logarithmic axis of steps with 0 and some powers of ten."""
    panel.set_xticks([0, *ticks], ["0", *map(str, ticks)])
    panel.set_xticks([], minor=True)

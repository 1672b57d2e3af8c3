"""One picture of a run, whatever it measured: an open table, and a drawing for the rest."""

from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd
import xarray as xr
from matplotlib.axes import Axes

from piste.claims import stages
from piste.claims.by_probes import ReadsProbes, check_needs, first_fitting
from piste.registry import PHRASE, Family

from .style import BLUE, Picture, canvas, stage_bands, stages_found, styled, time_axis

Draw = Callable[[xr.Dataset], Picture]

OVERVIEWS: Family[ReadsProbes] = Family("overview", PHRASE)
"""Pictures of a whole run by name; :func:`run_overview` adds to it."""
MOST_PANELS = 8
"""Probes that the plain drawing shows; a page has no room for more."""


def run_overview(name: str, *, needs: Sequence[str]) -> Callable[[Draw], Draw]:
    """Add a function from a trajectory to a picture: runs that measure ``needs`` get it."""
    OVERVIEWS.check_name(name)
    check_needs(OVERVIEWS.noun, name, needs)

    def add(draw: Draw) -> Draw:
        OVERVIEWS.add(name, ReadsProbes(name, tuple(needs), draw), draw)
        return draw

    return add


def overview(trajectory: xr.Dataset) -> Picture:
    """Draw a run on one page, with the stages that were found shaded."""
    drawing = first_fitting(OVERVIEWS, trajectory)
    return drawing.function(trajectory) if drawing else plain_overview(trajectory)


@styled
def plain_overview(trajectory: xr.Dataset) -> Picture:
    """Draw a panel for each probe: a line, or the median and range of several."""
    names = _shown(trajectory)
    rows = -(-len(names) // 2)
    figure, axes = canvas(rows, 2, 0.5 + 1.9 * rows, sharex=True)
    timeline, last = stages(trajectory), int(trajectory.step[-1])
    for panel in axes.ravel()[len(names) :]:
        panel.set_axis_off()
    for panel, name in zip(axes.ravel(), names, strict=False):
        _draw_series(panel, trajectory[name])
        panel.set_title(_title(trajectory[name]), loc="left", y=1.09)
        time_axis(panel, last)
        stage_bands(panel, timeline)
    for panel in axes[:-1].ravel():
        panel.set_xlabel("")
    data = [series_table(trajectory[name]) for name in names]
    text = "All probes" if len(names) == len(_series(trajectory)) else "Some probes"
    caption = f"{text} of one run; of several numbers the median and the range."
    picture = pd.concat(data, ignore_index=True)
    return Picture(figure, picture, f"{caption} {stages_found(timeline)}".strip())


def _series(trajectory: xr.Dataset) -> list[str]:
    """The probes that are numbers over time."""
    return [
        str(name)
        for name, part in trajectory.data_vars.items()
        if str(part.dims[0]).endswith("step") and part.dtype.kind in "fiu"
    ]


def _shown(trajectory: xr.Dataset) -> list[str]:
    """Those with a place in the picture: single numbers first."""
    names = _series(trajectory)
    return sorted(names, key=lambda name: trajectory[name].ndim)[:MOST_PANELS]


def _draw_series(panel: Axes, series: xr.DataArray) -> None:
    time = series[str(series.dims[0])].values
    values = series.values.reshape(time.size, -1)
    if values.shape[1] > 1:
        low, high = np.min(values, 1), np.max(values, 1)
        panel.fill_between(time, low, high, color=BLUE, alpha=0.2, lw=0)
    middle = np.median(values, 1)
    panel.plot(time, middle, color=BLUE)
    finite = middle[np.isfinite(middle)]
    # A loss that falls over decades is a straight line only on a logarithmic axis.
    if finite.size and finite.min() > 0 and finite.max() > 100 * finite.min():
        panel.set_yscale("log")


def _title(series: xr.DataArray) -> str:
    return series.attrs.get("symbol") or str(series.name)


def series_table(series: xr.DataArray) -> pd.DataFrame:
    """A series in tidy form: its name, the step, its indices and its value."""
    frame = series.to_dataframe(name="value").reset_index()
    frame = frame.loc[:, ~frame.columns.duplicated()]
    frame = frame.rename(columns={"test_step": "step"})
    return frame.assign(series=series.name)

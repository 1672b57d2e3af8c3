"""Numbers read off recorded series: records at boundaries, changes, rates, first times."""

import numpy as np
import xarray as xr

from piste.claims import Timeline

from ..stages import detect


def cell_timelines(sweep: xr.Dataset) -> list[Timeline]:
    """Find the stages of every cell of a sweep, up to where it was recorded."""
    cells = (sweep.isel(cell=index) for index in range(sweep.sizes["cell"]))
    return [detect(cell.dropna("step", how="all")) for cell in cells]


def record_at(run: xr.Dataset, timeline: Timeline, boundary: str) -> xr.Dataset:
    """The record at a boundary; the first one where it was not found (never judged)."""
    step = timeline.boundaries[boundary].step
    return run.isel(step=0) if step is None else run.sel(step=step)


def records_between(
    run: xr.Dataset, timeline: Timeline, start: str, end: str
) -> xr.Dataset:
    """The records between two boundaries, both included."""
    first, last = (timeline.boundaries[name].step for name in (start, end))
    return run.sel(step=slice(first or 0, last))


def relative_change(run: xr.Dataset, now: xr.Dataset, probe: str) -> float:
    """The RMS of a quantity's change since the start, in units of its RMS there."""
    start = run[probe].isel(step=0).values
    scale = float(np.sqrt((start**2).mean()))
    moved = float(np.sqrt(((now[probe].values - start) ** 2).mean()))
    return moved / scale if scale > 0 else np.nan


def growth_rate(records: xr.Dataset, probe: str) -> float:
    """The growth of the mean size of a quantity, per step, by a straight line."""
    size = abs(records[probe])
    size = size.mean([d for d in size.dims if d != "step"])
    return fit_line(size.step.values, size.values)["slope"]


def fit_line(x: np.ndarray, y: np.ndarray) -> dict[str, float]:
    """Slope and R² of a straight line; NaN where a number is missing, or under three."""
    finite = np.isfinite(x) & np.isfinite(y)
    if finite.sum() < 3 or not finite.all():
        return {"slope": np.nan, "r2": np.nan}
    slope, intercept = np.polyfit(x, y, 1)
    residual, total = y - slope * x - intercept, y.var()
    r2 = 1 - residual.var() / total if total > 0 else np.nan
    return {"slope": float(slope), "r2": float(r2)}


def first_time_below(loss: xr.DataArray, level: float) -> tuple[float, float]:
    """Between which recorded steps a loss first falls to ``level``; NaN if it does not."""
    below = np.flatnonzero(loss.values <= level)
    if not below.size:
        return np.nan, np.nan
    first, steps = int(below[0]), loss.step.values
    return float(steps[max(first - 1, 0)]), float(steps[first])

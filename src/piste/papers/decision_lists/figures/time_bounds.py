"""Figures of first perfect times: against the bound of Theorem 1, and over the scale c."""

import numpy as np
import pandas as pd
import xarray as xr
from matplotlib.axes import Axes

from piste.figures import (
    BLACK,
    BLUE,
    GREEN,
    ORANGE,
    PINK,
    SKY,
    Picture,
    canvas,
    styled,
)
from piste.reproduction import Evidence, Figure

from ..results import descent_on_w
from ..results._cells import first_size_text, numbers
from ..results._flows import is_within_bound
from ..results.theorem_1 import scale as scale_results
from ..results.theorem_1.first_perfect_times import GROUPS, REPETITION
from ..thresholds import MIN_FITTED_FACTOR, SCALE_EXPONENT

_LOOKS = ((BLUE, "o"), (GREEN, "^"), (PINK, "s"), (SKY, "+"), (ORANGE, "X"))


# --- times against the bound ----------------------------------------------------------


def _bounds(evidence: Evidence) -> Picture:
    groups = _groups(evidence)
    return draw_bounds(groups, _bounds_caption(groups))


def _groups(evidence: Evidence) -> dict[str, xr.Dataset]:
    """Times and bounds, by what was followed."""
    groups = {
        name: evidence.dataset(study)
        for study, name in GROUPS.items()
        if study in evidence
    }
    if descent_on_w.STUDY in evidence:
        data = evidence.dataset(descent_on_w.STUDY)
        groups["gradient descent on W"] = data.assign(time=data.descent_time)
    for study, name in REPETITION.items():
        if study in evidence:
            groups[name] = evidence.dataset(study)
    return groups


def _bounds_caption(groups: dict[str, xr.Dataset]) -> str:
    parts, arrows = [], 0
    for name, data in groups.items():
        times = numbers(data, "time")
        parts.append(f"{name}, {is_within_bound(data).sum()} of {times.size}")
        arrows += int((~np.isfinite(times)).sum())
    caption = (
        "First perfect time against the bound of Theorem 1. Points below the dotted line "
        f"keep it: {'; '.join(parts)}."
    )
    if arrows:
        caption += (
            f" An arrow: not perfect as long as the flow was followed ({arrows})."
        )
    return caption


@styled
def draw_bounds(groups: dict[str, xr.Dataset], caption: str) -> Picture:
    """Measured against predicted time over random instances; below the line it holds."""
    figure, axes = canvas(1, 1, 3.2)
    panel = axes[0, 0]
    for (name, data), (colour, marker) in zip(groups.items(), _LOOKS, strict=False):
        filled = {"c": colour, "s": 26, "marker": marker, "lw": 0.7}
        if marker not in "X+":
            filled |= {"c": "none", "s": 14, "edgecolors": colour}
        bound, reached = data.bound.values, np.isfinite(data.time.values)
        panel.scatter(bound[reached], data.time.values[reached], label=name, **filled)
        # What was never perfect stands far above the line, with an arrow.
        for x in bound[~reached]:
            panel.scatter(x, 30 * x, **filled)
            panel.text(x, 80 * x, "↑", ha="center", color=colour, fontsize=9)
    ends = np.concatenate([data.bound.values for data in groups.values()])
    line = np.array([ends.min() / 1.3, ends.max() * 1.3])
    panel.plot(line, line, color=BLACK, lw=0.8, ls=":")
    panel.set(xscale="log", yscale="log", xlim=line)
    ticks = [t for t in (10, 20, 50, 100, 200, 500) if line[0] <= t <= line[1]]
    panel.set_xticks(ticks, [f"{tick}" for tick in ticks])
    panel.set_xticks([], minor=True)
    panel.text(line[0] * 1.05, line[0] * 8, "measured = bound", fontsize=8)
    panel.set(xlabel=r"bound $4M/(\log(L)\,\gamma)$")
    panel.set_ylabel(r"first perfect time $t^*$ (descent: $\eta t^*$)")
    panel.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
    frame = pd.concat(
        data[["bound", "time"]].to_dataframe().assign(group=name)
        for name, data in groups.items()
    )
    return Picture(figure, frame, caption)


# --- times over the scale c -----------------------------------------------------------


def _scale(evidence: Evidence) -> Picture:
    data = [evidence.dataset(study) for study in scale_results.STUDIES]
    sweeps = {first_size_text(sweep): sweep for sweep in data}
    return draw_scale(sweeps, _scale_caption(sweeps))


def _scale_caption(sweeps: dict[str, xr.Dataset]) -> str:
    caption = (
        "Time to perfection when V = fcP, for factors f of the stated scale c (dotted: "
        "the bound)."
    )
    times = np.concatenate([numbers(sweep, "time") for sweep in sweeps.values()])
    patience = max(float(numbers(s, "patience").max()) for s in sweeps.values())
    if missing := int((~np.isfinite(times)).sum()):
        caption += (
            f" Left out: {missing} flows that are not perfect within {patience:g} "
            "bounds."
        )
    return caption


@styled
def draw_scale(sweeps: dict[str, xr.Dataset], caption: str) -> Picture:
    """Time to perfection over factors of the stated scale c."""
    figure, axes = canvas(1, 1, 2.9)
    panel = axes[0, 0]
    for (name, data), colour in zip(sweeps.items(), (BLUE, ORANGE), strict=False):
        reached = np.isfinite(data.time)
        drawn = data.isel(cell=np.flatnonzero(reached))
        panel.plot(drawn.factor, drawn.time, "o-", ms=3.5, color=colour, label=name)
        bound = float(data.bound[0])
        panel.axhline(bound, color=colour, lw=0.8, ls=":")
        side = "top" if colour == ORANGE else "bottom"
        note = f"bound {name}"
        panel.text(1.6, bound, note, color=colour, fontsize=7.5, va=side)
    panel.axvline(1, color="#999999", lw=0.6)
    panel.text(
        1, 0.02, " stated $c$", transform=panel.get_xaxis_transform(), fontsize=8
    )
    _draw_power(panel, next(iter(sweeps.values())))
    panel.set(xscale="log", yscale="log", xlabel=r"$V = f\,cP$: factor $f$")
    panel.set_ylabel("first perfect time $t^*$")
    panel.legend(loc="lower left")
    frame = pd.concat(d.to_dataframe().assign(size=n) for n, d in sweeps.items())
    return Picture(figure, frame, caption)


def _draw_power(panel: Axes, data: xr.Dataset) -> None:
    """A line of the predicted power beside the points that are fitted, up to c."""
    line = np.geomspace(MIN_FITTED_FACTOR, 1, 2)
    middle = np.sqrt(MIN_FITTED_FACTOR)
    anchor = data.isel(cell=int(np.abs(data.factor.values - middle).argmin()))
    ratio = line / float(anchor.factor)
    times = float(anchor.time) * ratio ** float(SCALE_EXPONENT) * 4
    panel.plot(line, times, color=BLACK, lw=0.8, ls="--")
    note = rf"$\propto c^{{{SCALE_EXPONENT}}}$"
    panel.text(3 * line[0], times[0] / 3, note, fontsize=9)


FIGURES = (
    Figure("bounds", _bounds, any_of=(*GROUPS, descent_on_w.STUDY, *REPETITION)),
    Figure("scale", _scale, scale_results.STUDIES),
)

"""Figures of the boundaries: the series that decide them, all pairs, and their times."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
import xarray as xr
from matplotlib.axes import Axes

from piste.claims import Crossing, Timeline, one_experiment
from piste.figures import (
    BLACK,
    BLUE,
    ORANGE,
    PINK,
    Picture,
    canvas,
    inside_label,
    styled,
)

from ..stages import BOUNDARY_RULES, detect, stage_series

SERIES_LABELS = {
    "I": r"$\min_i\langle v, y_i\xi_i\rangle$",
    "II": "pairs with one sign",
    "III": "neurons with final signs",
    "IVa leaves ½": r"mean $s_{i,21}$",
    "IVb ends": "key noise with the vote",
    "IVc ends": "query noise with the vote",
}
"""The boundaries that are drawn, and what their series is."""
SNAPSHOT_TITLES = {
    "end of I": "I",
    "end of II": "II",
    "end of III": "III",
    "key aligned": "IVb ends",
    "query aligned": "IVc ends",
}
"""The boundaries at which all pairs are drawn, by their titles."""


class SeedStages(NamedTuple):
    """The stages of one seed, and the series that decide them."""

    seed: int
    timeline: Timeline
    series: xr.Dataset


@styled
def switches(trajectories: Sequence[xr.Dataset]) -> Picture:
    """The deciding series around each switch, over all seeds, with its threshold."""
    figure, axes = canvas(2, 3, 4.2)
    group = one_experiment(trajectories)
    seeds = [
        SeedStages(seed, detect(run), stage_series(run))
        for run, seed in zip(group.runs, group.seeds, strict=True)
    ]
    rows = []
    for panel, name in zip(axes.ravel(), SERIES_LABELS, strict=True):
        rows += _draw_switch(panel, name, seeds)
    caption = (
        f"The series that decides each switch in {_runs(len(seeds))} (thin: seeds; thick: "
        "median), its threshold (dotted) and the step of the switch where it was found "
        "(vertical: median)."
    )
    return Picture(figure, pd.DataFrame(rows), caption)


def _runs(count: int) -> str:
    return "one run" if count == 1 else f"{count} runs"


def _draw_switch(panel: Axes, name: str, seeds: Sequence[SeedStages]) -> list[dict]:
    """Draw one boundary, and return what was drawn."""
    rule = BOUNDARY_RULES[name]
    assert isinstance(rule, Crossing)
    steps = np.array([seed.timeline.step(name) for seed in seeds])
    reached = steps[~np.isnan(steps)]
    middle = float(np.median(reached)) if reached.size else np.nan
    low, high = _window(middle, seeds[0].series.step.values[-1])
    rows, lines = [], []
    for one in seeds:
        line = one.series[rule.series].sel(step=slice(low, high))
        panel.plot(line.step, line, color=BLUE, lw=0.6, alpha=0.5)
        lines.append(line)
        rows += [
            {"switch": name, "seed": one.seed, "step": step, "value": value}
            for step, value in zip(line.step.values, line.values, strict=True)
        ]
    median = xr.concat(lines, "run", join="inner").median("run")
    panel.plot(median.step, median, color=BLUE, lw=1.8)
    panel.axhline(rule.threshold, color=BLACK, lw=0.8, ls=":")
    if reached.size:
        panel.axvline(middle, color=ORANGE, lw=1.2)
    panel.set_xlim(low, high)
    panel.set_title(_title(name, middle, reached.size, steps.size), loc="left")
    panel.set(xlabel="step $t$", ylabel=SERIES_LABELS[name])
    return rows


def _title(name: str, middle: float, reached: int, runs: int) -> str:
    if not reached:
        return f"{name}: not found"
    count = "" if reached == runs else f" ({reached} of {runs})"
    return f"{name}, $t$ = {middle:g}{count}"


def _window(middle: float, last: int) -> tuple[int, int]:
    """The steps that are shown around a switch; all of them if it was not found."""
    if np.isnan(middle):
        return 0, int(last)
    reach = max(4.0, 0.6 * middle)
    return int(max(0, middle - reach)), int(min(last, np.ceil(middle + reach)))


@styled
def snapshots(trajectory: xr.Dataset) -> Picture:
    """All pairs (s, i) in the plane of query and key noise, at each switch."""
    timeline = detect(trajectory)
    moments = _moments(timeline, int(trajectory.step[-1]))
    figure, axes = canvas(2, 3, 4.6)
    vote = np.sign(trajectory.query_signal.isel(step=-1)).values
    vote = np.repeat(vote, trajectory.sizes["sample"])
    for panel in axes.ravel()[len(moments) :]:
        panel.set_axis_off()
    frames = [
        _draw_snapshot(panel, trajectory.sel(step=step, method="nearest"), vote, title)
        for panel, (title, step) in zip(axes.ravel(), moments, strict=False)
    ]
    for panel in axes[-1]:
        panel.set_xlabel(r"query noise $\langle w_{Q,s}, y_i\xi_i\rangle$")
    for panel in axes[:, 0]:
        panel.set_ylabel(r"key noise $\langle w_{K,s}, y_i\xi_i\rangle$")
    inside_label(axes[0, 0], (0.03, 0.98), "● vote +", BLUE)
    inside_label(axes[0, 0], (0.03, 0.90), "▲ vote −", ORANGE)
    caption = (
        "Every pair (s, i) in the plane of query and key noise at the start, at each "
        "switch that was found, and at the end if one was not, by the final sign of its "
        "neuron's query signal (its vote)."
    )
    return Picture(figure, pd.concat(frames), caption)


def _draw_snapshot(
    panel: Axes, record: xr.Dataset, vote: np.ndarray, title: str
) -> pd.DataFrame:
    """Draw all pairs at one record, and return them."""
    step = int(record.step)
    x, y = record.query_noise.values.ravel(), record.key_noise.values.ravel()
    for sign, colour, marker in ((1, BLUE, "o"), (-1, ORANGE, "^")):
        look = {"s": 2.5, "c": colour, "marker": marker, "lw": 0, "alpha": 0.5}
        panel.scatter(x[vote == sign], y[vote == sign], **look)
    reach = 1.08 * max(np.abs(x).max(), np.abs(y).max()) or 1.0
    panel.set(xlim=(-reach, reach), ylim=(-reach, reach), box_aspect=1)
    panel.axhline(0, color=BLACK, lw=0.4)
    panel.axvline(0, color=BLACK, lw=0.4)
    panel.set_title(f"{title}, t = {step}", loc="left", fontsize=9)
    return pd.DataFrame({"step": step, "query_noise": x, "key_noise": y, "vote": vote})


def _moments(timeline: Timeline, last: int) -> list[tuple[str, int]]:
    """The start, the switches that were found, and the last record: six at most."""
    moments = [("start", 0)]
    for title, name in SNAPSHOT_TITLES.items():
        step = timeline.boundaries[name].step
        if step is not None:
            moments.append((title, step))
    return moments if len(moments) == 6 else [*moments, ("last record", last)]


def _tick_label(name: str, meaning: str) -> str:
    # The font of the figures has no subscript numerals.
    symbols = {"s₂₁": "$s_{21}$", "s₁₁": "$s_{11}$"}
    for plain, symbol in symbols.items():
        meaning = meaning.replace(plain, symbol)
    return f"{meaning} ({name.split()[0]})"


@styled
def stage_times(table: pd.DataFrame, slides: dict[str, int]) -> Picture:
    """When each boundary is crossed, over seeds, next to the times of the slides."""
    figure, axes = canvas(1, 1, 2.8)
    panel = axes[0, 0]
    heights = np.arange(len(table))[::-1]
    panel.hlines(heights, table.low, table.high, color=BLUE, lw=4, alpha=0.35)
    panel.plot(
        table["median"], heights, "o", color=BLUE, ms=5, label="here: median and range"
    )
    theirs = [slides.get(name, np.nan) for name in table.index]
    panel.plot(
        theirs, heights, "D", mfc="none", color=PINK, ms=7, label="the paper's slides"
    )
    panel.set_yticks(
        heights,
        [_tick_label(str(name), str(row["meaning"])) for name, row in table.iterrows()],
    )
    for height, reached in zip(heights, table["reached"], strict=True):
        if not reached:
            panel.text(1, height, "not found", va="center", fontsize=8, color=BLUE)
    last = 1.7 * np.nanmax([*table.high, *theirs])
    panel.set(xscale="log", xlabel="step $t$", xlim=(0.8, last))
    panel.legend(loc="lower left")
    panel.grid(axis="x", color="#dddddd", lw=0.5)
    caption = (
        f"The boundaries of the stages in {_runs(int(table.runs.max()))}, and the times "
        "that the slides give."
    )
    return Picture(figure, table.reset_index().assign(paper=theirs), caption)

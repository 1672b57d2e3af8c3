"""Figures that compare update rules: how fast they train, and which stages they keep."""

from collections.abc import Sequence
from typing import Any, NamedTuple

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
    YELLOW,
    Picture,
    canvas,
    end_label,
    styled,
)

COLOURS = (ORANGE, YELLOW, PINK, GREEN, SKY)
DASHES: tuple[Any, ...] = ("-", "--", "-.", ":", (0, (5, 1, 1, 1)))
MARKERS = "os^Dv*"
NOT_MET_AT = 3000.0
"""Where a boundary is marked that a seed does not meet: right of all steps."""
SHOWN_GD = 2
"""The rate of GD whose test error is shown: the middle one, 1."""


class Curve(NamedTuple):
    """The cells of one rule, and how they are drawn."""

    name: str
    cells: xr.Dataset
    colour: str
    dashes: Any = "-"


NamedCells = Sequence[tuple[str, xr.Dataset]]
"""Some settings of one rule: a name and the cells of each."""


@styled
def similarity(table: pd.DataFrame, boundaries: tuple[str, ...]) -> Picture:
    """When each rule crosses each boundary of the stages; a cross where a seed does not."""
    figure, axes = canvas(1, 1, 3.0)
    panel, rules = axes[0, 0], list(table["rule"])
    offsets = np.linspace(0.28, -0.28, len(rules))
    heights = np.arange(len(boundaries))[::-1]
    looks = zip(rules, offsets, (BLUE, *COLOURS), MARKERS, strict=False)
    for rule, offset, colour, marker in looks:
        row = table[table["rule"] == rule].iloc[0]
        steps = np.array([float(row[name]) for name in boundaries])
        met, y = ~np.isnan(steps), heights + offset
        not_met = np.full((~met).sum(), NOT_MET_AT)
        panel.plot(steps[met], y[met], marker, color=colour, ms=5, label=rule)
        panel.plot(not_met, y[~met], "x", color=colour, ms=5)
    panel.set_yticks(heights, boundaries)
    panel.set(
        xscale="log", xlabel="step $t$ (× at the right: not for good in every seed)"
    )
    panel.set_xlim(0.8, 1.4 * NOT_MET_AT)
    for height in heights[:-1]:
        panel.axhline(height - 0.5, color="#dddddd", lw=0.5)
    panel.legend(loc="lower left", ncols=2)
    caption = (
        "When SignGD and Adam with several (β₁, β₂) cross the boundaries of the stages "
        "for good (median over seeds; a cross where a seed does not)."
    )
    return Picture(figure, table, caption)


@styled
def disparity(signgd: xr.Dataset, adam: NamedCells) -> Picture:
    """Training loss of SignGD and of Adam over (β₁, β₂)."""
    figure, axes = canvas(1, 1, 2.9)
    curves = [Curve("SignGD", signgd, BLUE), *_coloured(adam)]
    data = _draw_losses(axes[0, 0], curves, lowest=1e-6)
    caption = (
        "Training loss of SignGD and of Adam with several (β₁, β₂) on dense noise "
        "(median over seeds)."
    )
    return Picture(figure, data, caption)


@styled
def rules(signgd: xr.Dataset, gd: NamedCells, normalised: xr.Dataset) -> Picture:
    """Training loss, test loss and error of SignGD, GD and normalised GD."""
    figure, axes = canvas(1, 3, 2.9, width_ratios=(1.35, 1, 1))
    loss, test, error = axes[0]
    first, last = Curve("SignGD", signgd, BLUE), Curve("norm. GD", normalised, BLACK)
    curves = _coloured(gd)
    data = _draw_losses(loss, [first, *curves, last], lowest=1e-7)
    shown = curves[SHOWN_GD]._replace(dashes="-")
    tested = (first, shown, last._replace(dashes=":"))
    losses = _draw_tests(test, tested, "test_loss")
    errors = _draw_tests(error, tested, "test_error")
    # Normalised GD goes on far below what the slides compare.
    test.set(ylabel="test loss $L_D$", yscale="log", ylim=(1e-4, 2))
    error.set(ylabel="test error", ylim=(-0.01, 0.6))
    error.legend(loc="upper right")
    caption = (
        "SignGD, GD at several learning rates and normalised GD on the same data (SNR ½): "
        "training loss, test loss and test error (medians over seeds; bands are ranges)."
    )
    return Picture(figure, pd.concat([data, losses, errors]), caption)


def _draw_tests(panel: Axes, curves: Sequence[Curve], probe: str) -> pd.DataFrame:
    """Draw median and range over seeds of what is tested, and return the medians."""
    frames = []
    for name, cells, colour, dashes in curves:
        series = cells[probe]
        steps, median = series.test_step, series.median("cell")
        low, high = series.min("cell"), series.max("cell")
        panel.fill_between(steps, low, high, color=colour, alpha=0.15, lw=0)
        panel.plot(steps, median, color=colour, ls=dashes, label=name)
        frame = pd.DataFrame({"step": steps, probe: median.values})
        frames.append(frame.assign(rule=name))
    panel.set_xlabel("step $t$")
    return pd.concat(frames, ignore_index=True)


@styled
def identity(signgd: xr.Dataset, adam: xr.Dataset) -> Picture:
    """SignGD and Adam without memory: the same losses."""
    figure, axes = canvas(1, 2, 2.4)
    frames = []
    looks = (
        (signgd, "SignGD", BLUE, "-", 3.0),
        (adam, "Adam (0, 0), ε = 0", YELLOW, "--", 1.2),
    )
    for run, name, colour, dashes, width in looks:
        for panel, probe in zip(axes[0], ("train_loss", "test_loss"), strict=True):
            series = run[probe]
            time = series[series.dims[0]]
            look = {"color": colour, "ls": dashes, "lw": width, "label": name}
            panel.plot(time, series, **look)
            frame = pd.DataFrame({"step": time.values, "value": series.values})
            frames.append(frame.assign(series=probe, rule=name))
    axes[0, 0].set(yscale="log", xlabel="step $t$", ylabel="training loss $L_S$")
    axes[0, 1].set(xlabel="step $t$", ylabel="test loss $L_D$")
    axes[0, 1].legend(loc="best")
    caption = "SignGD (thick), and Adam with β₁ = β₂ = ε = 0 (dashed) on top of it."
    return Picture(figure, pd.concat(frames, ignore_index=True), caption)


def _coloured(settings: NamedCells) -> list[Curve]:
    """Give every setting of a rule a colour and dashes of its own."""
    looks = zip(settings, COLOURS, DASHES, strict=False)
    return [Curve(name, cells, *look) for (name, cells), *look in looks]


def _draw_losses(panel: Axes, curves: Sequence[Curve], lowest: float) -> pd.DataFrame:
    """Draw medians over seeds on a logarithmic axis, labelled at their ends."""
    frames, ends = [], []
    for name, cells, colour, dashes in curves:
        median = cells.train_loss.median("cell")
        panel.plot(median.step, median, color=colour, ls=dashes)
        shown = median.where(median > lowest, drop=True)
        ends.append((float(shown.step[-1]), float(shown[-1]), name, colour))
        frame = pd.DataFrame({"step": median.step, "train_loss": median.values})
        frames.append(frame.assign(rule=name))
    panel.set(yscale="log", ylim=(lowest, 1.5), xlabel="step $t$", ylabel="$L_S$")
    last = float(curves[0].cells.step[-1])
    panel.set_xlim(0, last)
    _label_ends(panel, ends, last)
    return pd.concat(frames, ignore_index=True)


def _label_ends(
    panel: Axes, ends: list[tuple[float, float, str, str]], last: float
) -> None:
    """Name curves beside the panel, or in it where they leave it early."""
    late = [end for end in ends if end[0] > 0.9 * last]
    heights = _spread_labels(panel, [end[1] for end in late])
    for (_, _, name, colour), height in zip(late, heights, strict=True):
        end_label(panel, last, height, name, colour)
    for x, y, name, colour in ends:
        if x <= 0.9 * last:
            end_label(panel, x, 4 * y, name, colour)


def _spread_labels(axes: Axes, heights: list[float], gap: float = 0.065) -> list[float]:
    """Move labels at these heights apart until none overlaps, keeping their order."""
    to_axes = axes.transData + axes.transAxes.inverted()
    places = to_axes.transform([(1, height) for height in heights])[:, 1]
    order = np.argsort(places)
    moved = places.copy()
    for lower, upper in zip(order[:-1], order[1:], strict=True):
        moved[upper] = max(moved[upper], moved[lower] + gap)
    back = to_axes.inverted().transform([(0, place) for place in moved])[:, 1]
    return [float(height) for height in back]

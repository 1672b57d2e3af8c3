"""Figures that compare update rules: how fast they train, and which stages they keep."""

from typing import Any

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
    spread_labels,
    styled,
)

COLOURS = (ORANGE, YELLOW, PINK, GREEN, SKY)
DASHES: tuple[Any, ...] = ("-", "--", "-.", ":", (0, (5, 1, 1, 1)))


@styled
def similarity(table: pd.DataFrame, boundaries: tuple[str, ...]) -> Picture:
    """When each rule crosses each boundary of the stages; a cross where a seed does not."""
    figure, axes = canvas(1, 1, 3.0)
    panel = axes[0, 0]
    rules = list(table["rule"])
    offsets = np.linspace(0.28, -0.28, len(rules))
    heights = np.arange(len(boundaries))[::-1]
    last = 3000.0
    looks = zip(rules, offsets, (BLUE, *COLOURS), "os^Dv*", strict=False)
    for rule, offset, colour, marker in looks:
        row = table[table["rule"] == rule].iloc[0]
        steps = np.array([float(row[name]) for name in boundaries])
        reached = ~np.isnan(steps)
        y = heights + offset
        panel.plot(steps[reached], y[reached], marker, color=colour, ms=5, label=rule)
        panel.plot(
            np.full((~reached).sum(), last), y[~reached], "x", color=colour, ms=5
        )
    panel.set_yticks(heights, boundaries)
    panel.set(
        xscale="log", xlabel="step $t$ (× at the right: not for good in every seed)"
    )
    panel.set_xlim(0.8, 4200)
    for height in heights[:-1]:
        panel.axhline(height - 0.5, color="#dddddd", lw=0.5)
    panel.legend(loc="lower left", ncols=2)
    caption = (
        "When SignGD and Adam with several (β₁, β₂) cross the boundaries of the stages "
        "for good (median over seeds; a cross where a seed does not)."
    )
    return Picture(figure, table, caption)


@styled
def disparity(signgd: xr.Dataset, adam: list[tuple[str, xr.Dataset]]) -> Picture:
    """Training loss of SignGD and of Adam over (β₁, β₂)."""
    figure, axes = canvas(1, 1, 2.9)
    curves: list[Any] = [("SignGD", signgd.train_loss, BLUE, "-")]
    for (name, cells), colour, dash in zip(adam, COLOURS, DASHES, strict=False):
        curves.append((name, cells.train_loss, colour, dash))
    data = loss_curves(axes[0, 0], curves, lowest=1e-6)
    caption = (
        "Training loss of SignGD and of Adam with several (β₁, β₂) on dense noise "
        "(median over seeds)."
    )
    return Picture(figure, data, caption)


@styled
def rules(
    signgd: xr.Dataset, gd: list[tuple[str, xr.Dataset]], normalised: xr.Dataset
) -> Picture:
    """Training loss and test error of SignGD, GD at several rates, and normalised GD."""
    figure, axes = canvas(1, 2, 3.1)
    curves: list[Any] = [("SignGD", signgd.train_loss, BLUE, "-")]
    for (name, cells), colour, dash in zip(gd, COLOURS, DASHES, strict=False):
        curves.append((name, cells.train_loss, colour, dash))
    curves.append(("norm. GD", normalised.train_loss, BLACK, "-"))
    data = loss_curves(axes[0, 0], curves, lowest=1e-7)
    errors = [("SignGD", signgd, BLUE, "-"), (*gd[2], COLOURS[2], "-")]
    errors.append(("norm. GD", normalised, BLACK, ":"))
    for name, cells, colour, dash in errors:
        error = cells.test_error.median("cell")
        axes[0, 1].plot(error.test_step, error, color=colour, ls=dash, label=name)
    axes[0, 1].set(xlabel="step $t$", ylabel="test error", ylim=(-0.01, 0.6))
    axes[0, 1].legend(loc="upper right")
    caption = (
        "SignGD, GD at several learning rates and normalised GD on the same data (SNR ½): "
        "training loss, and test error (medians over seeds)."
    )
    return Picture(figure, data, caption)


def loss_curves(panel: Axes, curves: list, lowest: float = 1e-8) -> pd.DataFrame:
    """Medians over seeds on a logarithmic axis, labelled at their ends."""
    rows, ends = [], []
    for name, losses, colour, dash in curves:
        median = losses.median("cell")
        panel.plot(median.step, median, color=colour, ls=dash)
        shown = median.where(median > lowest, drop=True)
        ends.append((float(shown.step[-1]), float(shown[-1]), name, colour))
        frame = pd.DataFrame({"step": median.step, "train_loss": median.values})
        rows.append(frame.assign(rule=name))
    panel.set(yscale="log", ylim=(lowest, 1.5), xlabel="step $t$", ylabel="$L_S$")
    last = float(curves[0][1].step[-1])
    panel.set_xlim(0, last)
    late = [end for end in ends if end[0] > 0.9 * last]
    heights = spread_labels(panel, [end[1] for end in late])
    for (_, _, name, colour), height in zip(late, heights, strict=True):
        end_label(panel, last, height, name, colour)
    for x, y, name, colour in ends:
        if x <= 0.9 * last:
            end_label(panel, x, 4 * y, name, colour)
    return pd.concat(rows, ignore_index=True)

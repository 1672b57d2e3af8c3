"""The figure of the losses: training loss, test loss and test error over seeds."""

import itertools
from collections.abc import Sequence

import pandas as pd
import xarray as xr
from matplotlib.axes import Axes

from piste.claims import Group, by_experiment
from piste.figures import (
    BLACK,
    BLUE,
    GREEN,
    ORANGE,
    PINK,
    Picture,
    canvas,
    end_label,
    styled,
)

from ..panels import figure_data

GROUP_COLOURS = (BLUE, ORANGE, GREEN, PINK, BLACK)
"""Colours of experiments that are drawn apart."""


@styled
def losses(trajectories: Sequence[xr.Dataset]) -> Picture:
    """Training loss, test loss and test error: seeds as median and range.

    Runs that differ in more than the seed are drawn apart, with what differs named.
    """
    figure, axes = canvas(1, 2, 2.5)
    loss, error = axes[0]
    groups = by_experiment(trajectories)
    if len(groups) == 1:
        _draw_one(loss, error, groups[0])
    else:
        for group, colour in zip(groups, itertools.cycle(GROUP_COLOURS), strict=False):
            _draw_among_others(loss, error, group, colour)
        error.legend(loc="best")
    loss.set(yscale="log", ylabel="loss", xlabel="step $t$")
    error.set(ylim=(0, 0.7), ylabel="test error", xlabel="step $t$")
    probes = ["train_loss", "test_loss", "test_error"]
    data = pd.concat(
        figure_data(run, probes).assign(seed=seed, runs=group.difference_text())
        for group in groups
        for run, seed in zip(group.runs, group.seeds, strict=True)
    )
    return Picture(figure, data, _caption(groups))


def _draw_one(loss: Axes, error: Axes, group: Group) -> None:
    """The only experiment: training and test loss in two colours, with labels."""
    runs = xr.concat(group.runs, "seed", join="inner")
    _draw_band(loss, runs.train_loss, BLUE)
    _draw_band(loss, runs.test_loss, PINK)
    _draw_band(error, runs.test_error, PINK, label=group.difference_text())
    _label_end(loss, runs.train_loss, "train", BLUE)
    _label_end(loss, runs.test_loss, "test", PINK)


def _draw_among_others(loss: Axes, error: Axes, group: Group, colour: str) -> None:
    """One of several experiments: a colour of its own, the test loss dashed."""
    runs = xr.concat(group.runs, "seed", join="inner")
    _draw_band(loss, runs.train_loss, colour)
    _draw_band(loss, runs.test_loss, colour, "--")
    _draw_band(error, runs.test_error, colour, label=group.difference_text())


def _draw_band(
    panel: Axes, runs: xr.DataArray, colour: str, dashes: str = "-", label: str = ""
) -> None:
    """Median and range over seeds."""
    time = runs[next(d for d in runs.dims if str(d).endswith("step"))]
    low, high = runs.min("seed"), runs.max("seed")
    panel.fill_between(time, low, high, color=colour, alpha=0.2, lw=0)
    panel.plot(time, runs.median("seed"), color=colour, ls=dashes, label=label or None)


def _label_end(panel: Axes, runs: xr.DataArray, label: str, colour: str) -> None:
    last = runs.isel({runs.dims[1]: -1})
    end_label(panel, float(runs[runs.dims[1]][-1]), float(last.median()), label, colour)


def _caption(groups: list[Group]) -> str:
    counts = sorted({len(group.runs) for group in groups})
    count = f"{counts[0]} to {counts[-1]}" if len(counts) > 1 else f"{counts[0]}"
    seeds = "one seed" if counts == [1] else f"{count} seeds (median and range)"
    if len(groups) == 1:
        return f"Training loss, test loss and test error over {seeds}."
    return (
        f"Training loss (solid), test loss (dashed) and test error of {len(groups)} "
        f"experiments, each over {seeds}."
    )

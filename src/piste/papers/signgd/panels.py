"""What several figures of one run draw: lines by vote, attention, losses, keys."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
import xarray as xr
from matplotlib.axes import Axes

from piste import figures
from piste.claims import Timeline
from piste.figures import (
    BLACK,
    BLUE,
    ORANGE,
    PINK,
    inside_label,
    series_table,
    stage_bands,
)

SHOWN_PAIRS = 60
"""Pairs (s, i) drawn of the m_k · n that there are; the same ones in every figure."""


TIMES = (0, 2, 5, 10, 40, 150, 600, 2000, 6000, 20000)
"""The steps that the slides name: stage I happens within the first ten."""


def time_axis(axes: Axes, last: int) -> None:
    """Time as on the slides: nearly linear in stage I, and logarithmic after it."""
    figures.time_axis(axes, last, TIMES)


def both_signs(axes: Axes, linear: float) -> None:
    """A value axis that shows small and large numbers of both signs."""
    axes.set_yscale("asinh", linear_width=linear or 1.0)
    low, high = axes.get_ylim()
    reach = max(-low, high)
    powers = [p for p in 10.0 ** np.arange(-8, 9) if 2 * linear < p < reach]
    ticks = [-p for p in reversed(powers)] + [0.0] + powers
    ticks = [t for t in ticks if low <= t <= high]
    axes.set_yticks(ticks, [f"{t:g}".replace("-", "−") for t in ticks])
    axes.set_yticks([], minor=True)


def choose_pairs(noise: xr.DataArray) -> xr.DataArray:
    """A fixed choice of pairs (s, i), as one dimension ``pair``."""
    pairs = noise.stack(pair=("neuron", "sample"))
    chosen = np.random.default_rng(0).permutation(pairs.sizes["pair"])[:SHOWN_PAIRS]
    return pairs.isel(pair=np.sort(chosen))


def draw_by_vote(panel: Axes, trajectory: xr.Dataset, probe: str) -> None:
    """Draw lines coloured by the final sign of their neuron's query signal: its vote."""
    series = trajectory[probe]
    if "sample" in series.dims:
        series = choose_pairs(series)
        neurons = series["neuron"].values
        series = series.rename(pair="line")
    else:
        neurons = np.arange(series.sizes["neuron"])
        series = series.rename(neuron="line")
    vote = np.sign(trajectory.query_signal.isel(step=-1).values)[neurons]
    values = series.transpose("step", "line").values
    for sign, colour in ((1, BLUE), (-1, ORANGE)):
        lines = values[:, vote == sign]
        panel.plot(series.step, lines, color=colour, lw=0.6, alpha=0.5)
    panel.axhline(0, color=BLACK, lw=0.5, ls=":")
    both_signs(panel, float(np.abs(values[0]).max()))


def draw_vote_key(panel: Axes) -> None:
    """Name the two colours of :func:`draw_by_vote`."""
    inside_label(panel, (0.02, 0.97), "vote +", BLUE)
    inside_label(panel, (0.02, 0.86), "vote −", ORANGE)


def draw_symbols(panel: Axes, *entries: tuple[xr.DataArray, str]) -> None:
    """Name some series by their symbols, each in its colour, from the top down."""
    for row, (series, colour) in enumerate(entries):
        inside_label(panel, (0.04, 0.97 - 0.12 * row), series.attrs["symbol"], colour)


def draw_attention(panel: Axes, trajectory: xr.Dataset) -> None:
    r"""Draw mean and range over samples of $s_{11}$ and $s_{21}$."""
    entries = (
        ("attention_signal_signal", "$s_{i,11}$", BLUE, 0.62),
        ("attention_noise_signal", "$s_{i,21}$", ORANGE, 0.30),
    )
    for probe, symbol, colour, height in entries:
        weight = trajectory[probe]
        low, high = weight.min("sample"), weight.max("sample")
        panel.fill_between(weight.step, low, high, color=colour, alpha=0.2, lw=0)
        panel.plot(weight.step, weight.mean("sample"), color=colour)
        inside_label(panel, (0.05, height), symbol, colour)


def draw_losses(panel: Axes, trajectory: xr.Dataset) -> None:
    """Draw training and test loss on a logarithmic axis."""
    panel.plot(trajectory.step, trajectory.train_loss, color=BLUE)
    panel.plot(trajectory.test_step, trajectory.test_loss, color=PINK)
    panel.set_yscale("log")
    inside_label(panel, (0.05, 0.3), "test $L_D$", PINK)
    inside_label(panel, (0.05, 0.16), "train $L_S$", BLUE)


def finish(panel: Axes, trajectory: xr.Dataset, timeline: Timeline) -> None:
    """Add the axis of time, and a band for every stage that was found."""
    time_axis(panel, int(trajectory.step[-1]))
    stage_bands(panel, timeline)


def figure_data(trajectory: xr.Dataset, probes: Sequence[str]) -> pd.DataFrame:
    """The series of a figure in tidy form: series, step, indices, value."""
    series = [series_table(trajectory[probe]) for probe in probes]
    return pd.concat(series, ignore_index=True)

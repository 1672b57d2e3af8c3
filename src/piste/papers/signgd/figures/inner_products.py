"""The figure of Adam's inner products beside SignGD's: the slides' similarity."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
import xarray as xr
from matplotlib.axes import Axes

from piste.figures import BLACK, BLUE, ORANGE, Picture, canvas, styled

from ..panels import draw_attention, draw_by_vote, draw_vote_key, figure_data, time_axis

BY_VOTE = ("query_noise", "key_noise", "query_signal", "key_signal")
"""What is drawn by the vote of its neuron, a row each."""
COLUMN_PROBES = (
    "value_noise",
    "value_signal",
    *BY_VOTE,
    "attention_signal_signal",
    "attention_noise_signal",
)
"""What a column shows, from the top."""


@styled
def inner_products(rules: Sequence[tuple[str, xr.Dataset]]) -> Picture:
    """Every inner product of the paper under several rules: a column for each."""
    rows = 2 + len(BY_VOTE)
    figure, axes = canvas(rows, len(rules), 9.2, sharex=True, sharey="row")
    for (name, run), column in zip(rules, axes.T, strict=True):
        _draw_column(column, run)
        column[0].set_title(name, loc="left")
        for panel in column:
            time_axis(panel, int(run.step[-1]))
            panel.set_xlabel("")
        column[-1].set_xlabel("step $t$")
    first = rules[0][1]
    labels = (r"$\langle v, y_i\xi_i\rangle$, $\langle v,\mu\rangle$",)
    labels += tuple(first[probe].attrs["symbol"] for probe in BY_VOTE) + ("attention",)
    for panel, label in zip(axes[:, 0], labels, strict=True):
        panel.set_ylabel(label)
    draw_vote_key(axes[1, 0])
    names = ", ".join(name for name, _ in rules)
    caption = (
        f"The inner products and the attention of one seed on dense noise: {names}. Top: "
        "the mean value's noise (blue) and signal (orange); then query and key, by the "
        "final sign of the neuron's query signal; attention as mean and range."
    )
    frames = [_thinned(run).assign(rule=name) for name, run in rules]
    return Picture(figure, pd.concat(frames, ignore_index=True), caption)


def _draw_column(column: np.ndarray, run: xr.Dataset) -> None:
    value, *by_vote, attention = column
    noise = run.value_noise.transpose("step", "sample")
    value.plot(run.step, noise, color=BLUE, lw=0.6, alpha=0.6)
    value.plot(run.step, run.value_signal, color=ORANGE)
    for panel, probe in zip(by_vote, BY_VOTE, strict=True):
        draw_by_vote(panel, run, probe)
    _draw_attention(attention, run)


def _draw_attention(panel: Axes, run: xr.Dataset) -> None:
    draw_attention(panel, run)
    panel.axhline(0.5, color=BLACK, lw=0.5, ls=":")
    panel.set_ylim(0, 0.65)


def _thinned(run: xr.Dataset) -> pd.DataFrame:
    """What is drawn, with means and ranges in place of all pairs."""
    others = {
        name: [d for d in run[name].dims if d != "step"] for name in COLUMN_PROBES
    }
    means = {name: run[name].mean(others[name]) for name in COLUMN_PROBES}
    return figure_data(xr.Dataset(means), COLUMN_PROBES)

"""Figures of the four stages: one function a figure, trajectory in, picture out."""

import itertools
from collections.abc import Sequence

import numpy as np
import pandas as pd
import xarray as xr
from matplotlib.axes import Axes

from piste.claims import Group, Timeline, by_experiment
from piste.figures import (
    BLACK,
    BLUE,
    GREEN,
    ORANGE,
    PINK,
    Picture,
    both_signs,
    canvas,
    end_label,
    inside_label,
    run_overview,
    series_table,
    stage_bands,
    stages_found,
    styled,
    time_axis,
)

from ..stages import NEEDED, detect

OVERVIEW = (
    *NEEDED,
    "value_signal",
    "attention_signal_signal",
    "train_loss",
    "test_loss",
    "test_error",
)
"""The probes that the picture of a whole run shows."""
PAIRS = 60
"""Pairs (s, i) drawn of the m_k · n that there are; the same ones in every figure."""


@styled
def value_noise(trajectory: xr.Dataset) -> Picture:
    """Stage I: the mean value against the noise of each sample, in three zooms."""
    timeline = detect(trajectory)
    figure, axes = canvas(1, 3, 2.3)
    last = int(trajectory.step[-1])
    ends = (min(4, last), min(40, last), last)
    for panel, end in zip(axes[0], ends, strict=True):
        early = trajectory.sel(step=slice(0, end))
        panel.plot(early.step, early.value_noise, color=BLUE, lw=0.8, alpha=0.7)
        panel.plot(early.step, early.value_signal, color=ORANGE)
        panel.plot(early.step, _few(early.key_noise), color=GREEN, lw=0.4, alpha=0.35)
        panel.axhline(0, color=BLACK, lw=0.5, ls=":")
        panel.set(xlim=(0, end), xlabel="step $t$")
        stage_bands(panel, timeline)
    _key(
        axes[0, 0],
        (trajectory.value_noise, BLUE),
        (trajectory.value_signal, ORANGE),
        (trajectory.key_noise, GREEN),
    )
    caption = (
        "The mean value's inner product with each training noise, ⟨v, y_iξ_i⟩, beside "
        f"⟨v, μ⟩ and the key noise. Three zooms of one run. {stages_found(timeline)}"
    )
    few = trajectory.assign(key_noise=_few_pairs(trajectory.key_noise))
    names = ["value_noise", "value_signal", "key_noise"]
    return Picture(figure, _long(few, names), caption)


@styled
def query_key(trajectory: xr.Dataset) -> Picture:
    """Query and key, noise and signal, through all stages."""
    timeline = detect(trajectory)
    names = (("query_noise", "key_noise"), ("query_signal", "key_signal"))
    figure, axes = canvas(2, 2, 4.4, sharex=True)
    for row, pair in zip(axes, names, strict=True):
        for panel, name in zip(row, pair, strict=True):
            _by_vote(panel, trajectory, name)
            panel.set_title(trajectory[name].attrs["symbol"], loc="left", y=1.11)
            _finish(panel, trajectory, timeline)
    for panel in axes[0]:
        panel.set_xlabel("")
    _vote_key(axes[0, 0])
    shown = _few_pairs(trajectory.query_noise).sizes["pair"]
    data = _long(
        trajectory.assign(
            query_noise=_few_pairs(trajectory.query_noise),
            key_noise=_few_pairs(trajectory.key_noise),
        ),
        [name for pair in names for name in pair],
    )
    caption = (
        f"Query and key noise of {shown} pairs (s, i) and the signals of all neurons, by "
        "the final sign of the neuron's query signal: its vote. Vertical axes are linear "
        f"near zero and logarithmic beyond. {stages_found(timeline)}"
    )
    return Picture(figure, data, caption)


@styled
def attention(trajectory: xr.Dataset) -> Picture:
    r"""Softmax outputs $s_{11}$ and $s_{21}$, linear and logarithmic."""
    timeline = detect(trajectory)
    figure, axes = canvas(1, 2, 2.5)
    for panel in axes[0]:
        _attention_lines(panel, trajectory)
        _finish(panel, trajectory, timeline)
    weights = trajectory[["attention_signal_signal", "attention_noise_signal"]]
    low, high = (float(end) for end in _ends(weights))
    axes[0, 0].set_ylim(min(0.0, 1.05 * low), max(0.62, 1.05 * high))
    axes[0, 0].axhline(0.5, color=BLACK, lw=0.5, ls=":")
    axes[0, 1].set(yscale="log", ylim=(1e-30, 3))
    for panel in axes[0]:
        panel.set_ylabel("attention")
    data = _long(trajectory, ["attention_signal_signal", "attention_noise_signal"])
    caption = (
        "Attention of the signal token (s_11) and of the noise token (s_21) on the signal "
        "token: mean and range over samples, on a linear and a logarithmic axis. "
        f"{stages_found(timeline)}"
    )
    return Picture(figure, data, caption)


@run_overview("four stages of sign descent", needs=OVERVIEW)
@styled
def overview(trajectory: xr.Dataset) -> Picture:
    """All quantities on one page, with the stages that were found shaded."""
    timeline = detect(trajectory)
    figure, axes = canvas(4, 2, 8.2, sharex=True)
    panels = axes.ravel()
    panels[0].plot(
        trajectory.step, trajectory.value_noise, color=BLUE, lw=0.6, alpha=0.6
    )
    panels[0].plot(trajectory.step, trajectory.value_signal, color=ORANGE)
    _key(panels[0], (trajectory.value_noise, BLUE), (trajectory.value_signal, ORANGE))
    _attention_lines(panels[1], trajectory)
    for panel, name in zip(
        panels[2:6],
        ("query_noise", "key_noise", "query_signal", "key_signal"),
        strict=True,
    ):
        _by_vote(panel, trajectory, name)
        panel.set_title(trajectory[name].attrs["symbol"], loc="left", y=1.09)
    _vote_key(panels[2])
    _loss_lines(panels[6], trajectory)
    panels[7].plot(trajectory.test_step, trajectory.test_error, color=PINK)
    panels[7].set_ylim(0, max(0.7, 1.05 * float(trajectory.test_error.max())))
    titles = {0: "mean value", 1: "softmax outputs", 6: "loss", 7: "test error"}
    for place, title in titles.items():
        panels[place].set_title(title, loc="left", y=1.09)
    for panel in panels:
        _finish(panel, trajectory, timeline)
        if panel not in axes[-1]:
            panel.set_xlabel("")
    names = ["value_noise", "value_signal", "query_signal", "key_signal"]
    names += ["attention_signal_signal", "attention_noise_signal", "train_loss"]
    names += ["test_loss", "test_error", "query_noise", "key_noise"]
    few = trajectory.assign(
        query_noise=_few_pairs(trajectory.query_noise),
        key_noise=_few_pairs(trajectory.key_noise),
    )
    caption = f"Every observable of the paper in one run. {stages_found(timeline)}"
    return Picture(figure, _long(few, names), caption)


@styled
def losses(trajectories: Sequence[xr.Dataset]) -> Picture:
    """Training loss, test loss and test error: seeds as median and range.

    Runs that differ in more than the seed are drawn apart, with what differs named.
    """
    figure, axes = canvas(1, 2, 2.5)
    groups, names = (
        by_experiment(trajectories),
        ["train_loss", "test_loss", "test_error"],
    )
    alone = len(groups) == 1
    for group, colour in zip(groups, itertools.cycle(_GROUPS), strict=False):
        runs = xr.concat(group.runs, "seed", join="inner")
        train, test = (BLUE, PINK) if alone else (colour, colour)
        _band(axes[0, 0], runs.train_loss, train)
        _band(axes[0, 0], runs.test_loss, test, "-" if alone else "--")
        _band(axes[0, 1], runs.test_error, test, words=group.words())
        if alone:
            _at_the_end(axes[0, 0], runs.train_loss, "train", train)
            _at_the_end(axes[0, 0], runs.test_loss, "test", test)
    axes[0, 0].set(yscale="log", ylabel="loss", xlabel="step $t$")
    axes[0, 1].set(ylim=(0, 0.7), ylabel="test error", xlabel="step $t$")
    if not alone:
        axes[0, 1].legend(loc="best")
    data = pd.concat(
        [
            _long(run, names).assign(seed=seed, runs=group.words())
            for group in groups
            for run, seed in zip(group.runs, group.seeds, strict=True)
        ]
    )
    return Picture(figure, data, _losses_caption(groups))


_GROUPS = (BLUE, ORANGE, GREEN, PINK, BLACK)


def _losses_caption(groups: list[Group]) -> str:
    counts = sorted({len(group.runs) for group in groups})
    many = f"{counts[0]} to {counts[-1]}" if len(counts) > 1 else f"{counts[0]}"
    seeds = "one seed" if counts == [1] else f"{many} seeds (median and range)"
    if len(groups) == 1:
        return f"Training loss, test loss and test error over {seeds}."
    return (
        f"Training loss (solid), test loss (dashed) and test error of {len(groups)} "
        f"experiments, each over {seeds}."
    )


# --- parts -----------------------------------------------------------------------


def _few_pairs(noise: xr.DataArray) -> xr.DataArray:
    """A fixed choice of pairs (s, i), as one dimension."""
    pairs = noise.stack(pair=("neuron", "sample"))
    chosen = np.random.default_rng(0).permutation(pairs.sizes["pair"])[:PAIRS]
    return pairs.isel(pair=np.sort(chosen))


def _few(noise: xr.DataArray) -> np.ndarray:
    return _few_pairs(noise).transpose("step", "pair").values


def _by_vote(panel: Axes, trajectory: xr.Dataset, name: str) -> None:
    """Lines coloured by the final sign of their neuron's query signal."""
    lines = trajectory[name]
    if "sample" in lines.dims:
        lines = _few_pairs(lines)
        neurons = lines["neuron"].values
        lines = lines.rename(pair="line")
    else:
        neurons = np.arange(lines.sizes["neuron"])
        lines = lines.rename(neuron="line")
    final = np.sign(trajectory.query_signal.isel(step=-1).values)[neurons]
    values = lines.transpose("step", "line").values
    for sign, colour in ((1, BLUE), (-1, ORANGE)):
        panel.plot(
            lines.step, values[:, final == sign], color=colour, lw=0.6, alpha=0.5
        )
    panel.axhline(0, color=BLACK, lw=0.5, ls=":")
    both_signs(panel, float(np.abs(values[0]).max()))


def _vote_key(panel: Axes) -> None:
    inside_label(panel, (0.02, 0.97), "vote +", BLUE)
    inside_label(panel, (0.02, 0.86), "vote −", ORANGE)


def _key(panel: Axes, *entries: tuple[xr.DataArray, str]) -> None:
    for place, (series, colour) in enumerate(entries):
        inside_label(panel, (0.04, 0.97 - 0.12 * place), series.attrs["symbol"], colour)


def _attention_lines(panel: Axes, trajectory: xr.Dataset) -> None:
    entries = (
        ("attention_signal_signal", "$s_{i,11}$", BLUE, 0.62),
        ("attention_noise_signal", "$s_{i,21}$", ORANGE, 0.30),
    )
    for name, symbol, colour, height in entries:
        part = trajectory[name]
        panel.fill_between(
            part.step,
            part.min("sample"),
            part.max("sample"),
            color=colour,
            alpha=0.2,
            lw=0,
        )
        panel.plot(part.step, part.mean("sample"), color=colour)
        inside_label(panel, (0.05, height), symbol, colour)


def _loss_lines(panel: Axes, trajectory: xr.Dataset) -> None:
    panel.plot(trajectory.step, trajectory.train_loss, color=BLUE)
    panel.plot(trajectory.test_step, trajectory.test_loss, color=PINK)
    panel.set_yscale("log")
    inside_label(panel, (0.05, 0.3), "test $L_D$", PINK)
    inside_label(panel, (0.05, 0.16), "train $L_S$", BLUE)


def _at_the_end(panel: Axes, runs: xr.DataArray, words: str, colour: str) -> None:
    last = runs.isel({runs.dims[1]: -1})
    end_label(panel, float(runs[runs.dims[1]][-1]), float(last.median()), words, colour)


def _band(
    panel: Axes, runs: xr.DataArray, colour: str, dashes: str = "-", words: str = ""
) -> None:
    """Median and range over seeds."""
    time = runs[next(d for d in runs.dims if str(d).endswith("step"))]
    panel.fill_between(
        time, runs.min("seed"), runs.max("seed"), color=colour, alpha=0.2, lw=0
    )
    panel.plot(time, runs.median("seed"), color=colour, ls=dashes, label=words or None)


def _ends(data: xr.Dataset) -> tuple[float, float]:
    """The smallest and the largest number of some arrays."""
    parts = [part.values for part in data.data_vars.values()]
    return min(np.nanmin(p) for p in parts), max(np.nanmax(p) for p in parts)


def _finish(panel: Axes, trajectory: xr.Dataset, timeline: Timeline) -> None:
    time_axis(panel, int(trajectory.step[-1]))
    stage_bands(panel, timeline)


def _long(trajectory: xr.Dataset, names: list[str]) -> pd.DataFrame:
    """The series of a figure in tidy form: series, step, indices, value."""
    parts = [series_table(trajectory[name]) for name in names]
    return pd.concat(parts, ignore_index=True)

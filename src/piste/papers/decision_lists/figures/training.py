"""Figures of decision lists: V alone, and W and V from small random weights."""

import numpy as np
import pandas as pd
import xarray as xr
from matplotlib.axes import Axes

from piste.figures import BLUE, GREEN, ORANGE, PINK, Picture, canvas, styled

_RULES = {
    "gd": ("GD", GREEN, "^", "-."),
    "signgd": ("SignGD", BLUE, "o", "-"),
    "adam": ("Adam", PINK, "s", "--"),
}


@styled
def values(sweep: xr.Dataset, run: xr.Dataset, caption: str) -> Picture:
    """V alone under uniform attention: cosine with P and accuracy; V trained with W."""
    figure, axes = canvas(1, 3, 2.4)
    left, middle, right = axes[0]
    for name, words, colour in (
        ("value_cosine_centred", r"$\cos(\bar V, \bar P)$", BLUE),
        ("value_cosine", r"$\cos(V, P)$", ORANGE),
    ):
        _band(left, sweep[name], colour, words)
    left.set(ylim=(-0.1, 1.02), ylabel="cosine", title="$V$ alone, $W = 0$")
    left.legend(loc="lower right")
    _band(middle, sweep.accuracy, GREEN, "")
    middle.set(ylim=(0, 1.02), ylabel="share right", title="$V$ alone, $W = 0$")
    for panel in (left, middle):
        panel.set(xlabel="step $t$", xscale="symlog", xlim=(0, None))
        panel.set_xticks([0, 1, 10, 100, 1000], ["0", "1", "10", "100", "1000"])
        panel.set_xticks([], minor=True)
    matrix = run.value_matrix.values[-1]
    order = np.argsort(matrix.argmax(0))
    reach = np.abs(matrix).max()
    right.imshow(matrix[:, order], cmap="PuOr", vmin=-reach, vmax=reach)
    right.set(xlabel=r"token $\pi^{-1}(1), …$", ylabel="label", xticks=[], yticks=[])
    right.set_title("$V$ trained with $W$")
    frame = sweep.to_dataframe().reset_index()
    return Picture(figure, frame, caption)


def _band(panel: Axes, series: xr.DataArray, colour: str, words: str) -> None:
    low, middle, high = (series.quantile(q, "cell") for q in (0, 0.5, 1))
    panel.fill_between(series.step, low, high, color=colour, alpha=0.15, lw=0)
    panel.plot(series.step, middle, color=colour, label=words or None)


@styled
def success(
    sweeps: dict[tuple[str, str], xr.Dataset], steps: dict, caption: str
) -> Picture:
    """Training from random weights: four measures, and the first perfect steps."""
    figure, axes = canvas(2, 3, 4.2)
    panels = (
        ("train_loss", r"$\mathcal{L}(W, V)$", axes[0, 0]),
        ("accuracy", "share right", axes[0, 1]),
        ("decider_attention", r"attention on LD token", axes[1, 0]),
        ("value_cosine_centred", r"$\cos(\bar V, \bar P)$", axes[1, 1]),
    )
    size = middle_size(sweeps)
    for name, words, panel in panels:
        for rule, (_, colour, _, _) in _RULES.items():
            _band(panel, sweeps[size, rule][name], colour, "")
        panel.set(ylabel=words, xlabel="step $t$", xscale="symlog", xlim=(0, None))
        panel.set_xticks([0, 1, 10, 100], ["0", "1", "10", "100"])
        panel.set_xticks([], minor=True)
    axes[0, 0].set_yscale("log")
    axes[0, 0].set_title(f"{size}", fontsize=8.5)
    _firsts(axes[:, 2], steps)
    rows = [
        {"size": size, "rule": rule, "seed": seed, "first perfect step": step}
        for (size, rule), found in steps.items()
        for seed, step in enumerate(found)
    ]
    return Picture(figure, pd.DataFrame(rows), caption)


def middle_size(sweeps: dict[tuple[str, str], xr.Dataset]) -> str:
    """The size whose curves are drawn: the middle one by its vocabulary."""
    sizes = sorted({size for size, _ in sweeps}, key=lambda s: int(s[1:].split(",")[0]))
    return sizes[len(sizes) // 2]


def _firsts(panels, steps: dict) -> None:
    """First perfect steps by size and rule, with the share of runs that get there."""
    top, below = panels
    sizes = list(dict.fromkeys(size for size, _ in steps))
    for place, (rule, (name, colour, marker, _)) in enumerate(_RULES.items()):
        for x, size in enumerate(sizes):
            found = np.asarray(steps[size, rule])
            jitter = x + 0.25 * (place - 1) + np.linspace(-0.07, 0.07, found.size)
            top.plot(jitter, found, marker, ms=3, color=colour, mfc="none", mew=0.8)
            share = np.mean(~np.isnan(found))
            below.bar(x + 0.25 * (place - 1), share, 0.22, color=colour)
        top.plot([], [], marker, color=colour, mfc="none", ms=4, label=name)
    top.set(yscale="log", ylabel="first perfect step")
    top.legend(loc="upper left", fontsize=7, ncols=3, columnspacing=0.8, handlelength=1)
    low, high = top.get_ylim()
    top.set_ylim(low, high * 3)
    below.set(ylim=(0, 1.05), ylabel="share of runs perfect")
    for panel in panels:
        panel.set_xticks(range(len(sizes)), sizes)
        panel.set_xlabel("$(L, n, M)$")

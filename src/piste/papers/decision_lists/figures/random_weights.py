"""Figure of W and V from small random weights: four measures, and first perfect steps."""

import numpy as np
import pandas as pd
import xarray as xr
from matplotlib.axes import Axes

from piste.figures import BLUE, GREEN, PINK, Picture, canvas, styled
from piste.reproduction import Evidence, Figure

from ..results.random_weights import (
    Size,
    first_perfect_steps,
    sizes_and_rules,
    study_name,
    study_names,
)
from ._bands import draw_band, mark_powers_of_ten

_RULES = {
    "gd": ("GD", GREEN, "^"),
    "signgd": ("SignGD", BLUE, "o"),
    "adam": ("Adam", PINK, "s"),
}
_PANELS = {
    "train_loss": r"$\mathcal{L}(W, V)$",
    "accuracy": "share right",
    "decider_attention": "attention on LD token",
    "value_cosine_centred": r"$\cos(\bar V, \bar P)$",
}


def _success(evidence: Evidence) -> Picture:
    sweeps = {pair: evidence.dataset(study_name(*pair)) for pair in sizes_and_rules()}
    size = middle_size(sweeps)
    seeds = sweeps[size, next(iter(_RULES))].sizes["cell"]
    return draw_success(sweeps, size, _caption(seeds, size))


def middle_size(sweeps: dict[tuple[Size, str], xr.Dataset]) -> Size:
    """The size whose curves are drawn: the middle one by its vocabulary."""
    sizes = sorted({size for size, _ in sweeps}, key=lambda size: size[0])
    return sizes[len(sizes) // 2]


def _caption(seeds: int, size: Size) -> str:
    return (
        f"W and V from small random weights: median and range over {seeds} seeds at "
        f"{size}, and the first perfect step and success rate at every size (GD green, "
        "SignGD blue, Adam pink)."
    )


@styled
def draw_success(
    sweeps: dict[tuple[Size, str], xr.Dataset], size: Size, caption: str
) -> Picture:
    """Four measures at one size, and the first perfect steps at every size."""
    figure, axes = canvas(2, 3, 4.2)
    for (probe, label), panel in zip(_PANELS.items(), axes[:, :2].flat, strict=True):
        for rule, (_, colour, _) in _RULES.items():
            draw_band(panel, sweeps[size, rule][probe], colour)
        panel.set(ylabel=label, xlabel="step $t$", xscale="symlog", xlim=(0, None))
        mark_powers_of_ten(panel, 1, 10, 100)
    axes[0, 0].set_yscale("log")
    axes[0, 0].set_title(f"{size}", fontsize=8.5)
    steps = {pair: first_perfect_steps(data) for pair, data in sweeps.items()}
    _draw_first_steps(axes[0, 2], axes[1, 2], steps)
    rows = [
        {"size": str(size), "rule": rule, "seed": seed, "first perfect step": step}
        for (size, rule), first in steps.items()
        for seed, step in enumerate(first)
    ]
    return Picture(figure, pd.DataFrame(rows), caption)


def _draw_first_steps(
    top: Axes, bottom: Axes, steps: dict[tuple[Size, str], np.ndarray]
) -> None:
    """First perfect steps by size and rule, with the share of runs that get there."""
    sizes = list(dict.fromkeys(size for size, _ in steps))
    for column, (rule, (name, colour, marker)) in enumerate(_RULES.items()):
        offset = 0.25 * (column - 1)
        for x, size in enumerate(sizes):
            first = steps[size, rule]
            jitter = x + offset + np.linspace(-0.07, 0.07, first.size)
            top.plot(jitter, first, marker, ms=3, color=colour, mfc="none", mew=0.8)
            bottom.bar(x + offset, np.mean(~np.isnan(first)), 0.22, color=colour)
        top.plot([], [], marker, color=colour, mfc="none", ms=4, label=name)
    top.set(yscale="log", ylabel="first perfect step")
    top.legend(loc="upper left", fontsize=7, ncols=3, columnspacing=0.8, handlelength=1)
    low, high = top.get_ylim()
    top.set_ylim(low, high * 3)
    bottom.set(ylim=(0, 1.05), ylabel="share of runs perfect")
    for panel in (top, bottom):
        panel.set_xticks(range(len(sizes)), [str(size) for size in sizes])
        panel.set_xlabel("$(L, n, M)$")


FIGURES = (Figure("success", _success, study_names()),)

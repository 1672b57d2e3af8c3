"""Theorem 1's bound beside the loss: along the runs, and at their ends."""

from collections.abc import Mapping
from typing import Any

import pandas as pd
import xarray as xr
from matplotlib.axes import Axes

from piste.figures import BLACK, BLUE, Picture, canvas, styled
from piste.reproduction import Evidence, Figure

from ..results.cells import by_shape, keep, ratios, select
from ..results.theorem_1.runs import TRAINED_MATRICES
from ..theory import is_wide
from ..thresholds import MAX_PROMISED_SHARE
from ._looks import GREY, TRAINED_LOOKS, band, seeds_words, steps_words

SHOWN_RATIOS = (1.0, 1.5, 2.0, 4.0)
"""HD/Nn for which the bound is drawn; below 1 it says nothing."""


@styled
def bounds(
    parts: Mapping[tuple[str, float], Mapping[str, xr.Dataset]], caption: str
) -> Picture:
    """Draw the loss and both readings of the bound for every kernel and HD/Nn."""
    names = list(dict.fromkeys(name for name, _ in parts))
    ratios = sorted({ratio for _, ratio in parts})
    figure, axes = canvas(len(names), len(ratios), 3.9, sharex=True, sharey=True)
    for (name, ratio), trained in parts.items():
        panel = axes[names.index(name), ratios.index(ratio)]
        for train, data in trained.items():
            label, colour, dashes, _ = TRAINED_LOOKS[train]
            band(panel, data.share, colour, dashes, label)
        data = next(iter(trained.values()))
        _median_line(panel, data.bound, BLACK, "--", r"$(1-\eta\beta)^t$, per head")
        _median_line(panel, data.stacked_bound, BLUE, ":", r"the same, stacked $W^O$")
        panel.set_title(f"{name}, $HD/Nn$ = {ratio:g}", fontsize=8.5)
        panel.set(xscale="log", yscale="log", ylim=(1e-4, 2), xlim=(1, None))
    for panel in axes[-1]:
        panel.set_xlabel("step $t$")
    for panel in axes[:, 0]:
        panel.set_ylabel(r"$f(M_t)/f(M_0)$")
    handles = axes[0, 0].get_legend_handles_labels()
    figure.legend(*handles, loc="outside lower center", ncols=4)
    return Picture(figure, _frame(parts), caption)


def _median_line(
    panel: Axes, series: xr.DataArray, colour: str, dashes: str, label: str
):
    middle = series.median("cell")
    panel.plot(series.step, middle, color=colour, ls=dashes, label=label, lw=1.3)


def _frame(parts) -> pd.DataFrame:
    kept = ["share", "bound", "stacked_bound"]
    return pd.concat(
        data[kept]
        .to_dataframe()
        .reset_index()
        .assign(kernel=name, ratio=ratio, train=train)
        for (name, ratio), trained in parts.items()
        for train, data in trained.items()
    )


def _draw_bounds(evidence: Evidence) -> Picture:
    data = evidence.dataset("transition")
    every = ratios(data)
    shown = [ratio for ratio in SHOWN_RATIOS if ratio in every] or every[-2:]
    parts = {}
    for kernel, ratio, cells in by_shape(data):
        if ratio in shown:
            shares = cells.assign(
                share=cells.loss / cells.initial_loss,
                bound=cells.bound / cells.initial_loss,
                stacked_bound=cells.stacked_bound / cells.initial_loss,
            )
            parts[kernel, ratio] = {
                train: select(shares, train=train) for train in TRAINED_MATRICES
            }
    caption = (
        f"Theorem 1 ({seeds_words(data)}; {steps_words(data)}): the loss (median and "
        "range over the seeds), the bound with β per head (dashed), and with stacked W^O "
        "(dotted), medians. A loss above the dotted line violates the stacked reading."
    )
    return bounds(parts, caption)


@styled
def promised(frame: Any, limit: float, caption: str) -> Picture:
    """Draw what is left of the loss in every run against what the bound leaves of it."""
    names = list(dict.fromkeys(frame.kernel))
    figure, axes = canvas(1, len(names), 2.8, sharex=True, sharey=True)
    for panel, name in zip(axes[0], names, strict=True):
        for train, (label, colour, _, marker) in TRAINED_LOOKS.items():
            rows = frame[(frame.kernel == name) & (frame.train == train)]
            look = {"color": colour, "ms": 3.5, "mfc": "none", "label": label}
            panel.plot(rows.bound_promise, rows.share, marker, **look)
        low = frame.bound_promise.min()
        panel.plot([low, 1], [low, 1], color=BLACK, ls="--", lw=1.2, label="the bound")
        panel.axvline(limit, color=GREY, ls=":", lw=1)
        panel.set(xscale="log", yscale="log", title=name)
        panel.set_xlabel(r"$(1-\eta\beta)^T$")
    axes[0, 0].set_ylabel("$f(M_T)/f(M_0)$")
    handles = axes[0, 0].get_legend_handles_labels()
    figure.legend(*handles, loc="outside lower center", ncols=3)
    return Picture(figure, frame, caption)


def _draw_promised(evidence: Evidence) -> Picture:
    data = evidence.dataset("promised")
    frame = keep(data, is_wide(data).values).to_dataframe().reset_index()
    caption = (
        f"Theorem 1's runs with HD ≥ Nn ({seeds_words(data)}), continued for up to "
        f"{int(data.steps.max()):,} steps: what is left of the loss against what the bound "
        f"leaves. On the left of the dotted line ({MAX_PROMISED_SHARE:g}) a run is a test "
        "of the bound; above the dashed one it would violate it."
    )
    return promised(frame, MAX_PROMISED_SHARE, caption)


BOUNDS = Figure("bounds", _draw_bounds, ("transition",))
PROMISED = Figure("promised", _draw_promised, ("promised",))

"""How the loss bends along Theorem 1's runs, and how far their weights move."""

from collections.abc import Mapping
from typing import Any

import pandas as pd
import xarray as xr
from matplotlib.axes import Axes

from piste.figures import BLACK, Picture, canvas, styled
from piste.reproduction import Evidence, Figure

from ..results.cells import by_shape, ratios
from ..results.theorem_1.region import negative_curvature, relative_move
from ..thresholds import MAX_NEGATIVE_CURVATURE, MAX_RELATIVE_MOVE
from ._looks import KERNEL_LOOKS, band, seeds_words, steps_axis, steps_words


@styled
def region(
    frame: pd.DataFrame,
    paths: Mapping[str, xr.DataArray],
    titles: tuple[str, str, str],
    limits: tuple[float, float],
    caption: str,
) -> Picture:
    """Draw how the loss bends at the start and on the way, and how far the weights move.

    The frame has a row for each run: kernel, ratio, bend, and what each of "all", "Q" and
    "K" moved. Dotted are the limits of a nearly convex region and of moving a bit.
    """
    figure, axes = canvas(1, 3, 2.7)
    first, way, last = axes[0]
    for name, series in paths.items():
        colour, marker, dashes, _ = KERNEL_LOOKS[name]
        rows: Any = frame[frame.kernel == name]
        _by_ratio(first, rows, "bend", colour, marker, dashes, name)
        band(way, series, colour, dashes, name)
        _by_ratio(last, rows, "all", colour, marker, dashes, name)
        for matrix in ("Q", "K"):
            middle = rows.groupby("ratio")[matrix].median()
            last.plot(middle.index, middle, color=colour, lw=0.7, ls=":")
    for panel, limit in zip((first, way, last), (limits[0], *limits), strict=True):
        panel.axhline(limit, color=BLACK, lw=0.8, ls=":")
        panel.set_ylim(0, None)
    for panel, title in zip((first, way, last), titles, strict=True):
        panel.set_title(title)
    for panel in (first, last):
        ticks = sorted(set(frame.ratio))
        panel.set(xlabel="$HD/Nn$", xscale="log")
        panel.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
        panel.set_xticks([], minor=True)
    steps_axis(way)
    first.set_ylabel(r"$-\lambda_{\min}/\lambda_{\max}$")
    last.set_ylabel(r"$\|M_T - M_0\|/\|M_0\|$")
    handles = first.get_legend_handles_labels()
    figure.legend(*handles, loc="outside lower center", ncols=2)
    return Picture(figure, frame, caption)


def _by_ratio(panel: Axes, rows: Any, name: str, colour, marker, dashes, label) -> None:
    """Draw all runs as dots, and their median as a line."""
    panel.plot(rows.ratio, rows[name], ".", color=colour, ms=3, alpha=0.6)
    middle = rows.groupby("ratio")[name].median()
    look = {"color": colour, "ls": dashes, "ms": 4, "label": label}
    panel.plot(middle.index, middle, marker, **look)


def _draw(evidence: Evidence) -> Picture:
    data = evidence.dataset("region")
    shapes = by_shape(data)
    frame = pd.concat(
        pd.DataFrame(
            {
                "kernel": kernel,
                "ratio": ratio,
                "seed": runs.seed.values,
                "bend": negative_curvature(runs).isel(step=0).values,
                "all": relative_move(runs),
                "Q": relative_move(runs, "query"),
                "K": relative_move(runs, "key"),
            }
        )
        for kernel, ratio, runs in shapes
    )
    every = ratios(data)
    middle = every[len(every) // 2]
    paths = {
        kernel: negative_curvature(runs)
        for kernel, ratio, runs in shapes
        if ratio == middle
    }
    titles = ("at the start", f"on the way, $HD/Nn$ = {middle:g}", "moved at the end")
    limits = MAX_NEGATIVE_CURVATURE, MAX_RELATIVE_MOVE
    return region(frame, paths, titles, limits, _caption(data, middle))


def _caption(data: xr.Dataset, ratio: float) -> str:
    return (
        f"Theorem 1's runs of W^Q, W^K, W^V ({seeds_words(data)}): the most negative "
        f"curvature over the largest, at the start and (HD/Nn = {ratio:g}, median and "
        "range) on the way; and how far the weights are from their start after "
        f"{steps_words(data)}, all together (medians and all seeds) and W^Q and W^K alone "
        f"(thin). Dotted: what is called nearly convex here, {MAX_NEGATIVE_CURVATURE:g}, "
        f"and a bit, {MAX_RELATIVE_MOVE:g}."
    )


FIGURES = (Figure("region", _draw, ("region",)),)

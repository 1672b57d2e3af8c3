"""Figures along the paths of kernel layers: attention, singular values, movement."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr
from matplotlib.axes import Axes

from piste.figures import BLACK, Picture, canvas, styled

from .theorems import LOOKS, band


@styled
def attention_pair(runs: Mapping[str, xr.Dataset], heads: int, caption: str) -> Picture:
    """Attention of the first sequence before and after training, some heads."""
    figure, axes = canvas(len(runs), 2 * heads, 1.55 * len(runs))
    image, rows = None, []
    for line, (name, run) in zip(axes, runs.items(), strict=True):
        for place, panel in enumerate(line):
            head, after = divmod(place, 2)
            when = -1 if after else 0
            matrix = run.attention.values[when, head]
            image = panel.imshow(matrix, cmap="cividis", vmin=0, vmax=1)
            words = "after" if after else "before"
            panel.set_title(rf"$S_{{1{head + 1}}}$ {words}", fontsize=8.5)
            _numerals(panel, matrix)
            panel.set(xticks=[], yticks=[])
            panel.set_xlabel("key $j$", fontsize=8)
            places = np.ndindex(matrix.shape)
            cells = [(k, j, matrix[k, j]) for k, j in places]
            flat = pd.DataFrame(cells, columns=["query", "key", "weight"])
            rows.append(flat.assign(kernel=name, head=head + 1, when=words))
        line[0].set_ylabel(f"{name}\nquery $k$")
    assert image is not None
    figure.colorbar(image, ax=axes, shrink=0.8, pad=0.01).set_label("weight")
    return Picture(figure, pd.concat(rows), caption)


def _numerals(panel: Axes, matrix: np.ndarray) -> None:
    """Write down the weights that are not nearly zero."""
    for (row, column), weight in np.ndenumerate(matrix):
        if weight >= 0.005:
            look = {"ha": "center", "va": "center", "fontsize": 6.5}
            words = f"{weight:.2f}".replace("0.", ".", 1)
            colour = BLACK if weight > 0.55 else "white"
            panel.text(column, row, words, color=colour, **look)


@styled
def singular_values(
    queries: Mapping[str, xr.Dataset], runs: Mapping[str, xr.Dataset], caption: str
) -> Picture:
    """‖∇f‖ and σ_min(J_Q) along Theorem 2's paths, σ_min(B) along Theorem 1's."""
    figure, axes = canvas(1, 3 if runs else 2, 2.5)
    panels, rows = axes[0], []
    for name, data in queries.items():
        colour, _, dashes, _ = LOOKS[name]
        limit = data.jacobian_resolution
        shown = data.jacobian_least.where(data.jacobian_least > limit, limit)
        band(panels[0], data.gradient_norm, colour, dashes, name)
        band(panels[1], shown, colour, dashes, name)
        panels[1].plot(limit.step, limit.median("cell"), color=BLACK, ls=":", lw=1)
        rows.append(_long(data.gradient_norm, "gradient_norm", name))
        rows.append(_long(shown, "jacobian_least", name))
        rows.append(_long(limit, "jacobian_resolution", name))
    panels[0].set(ylabel=r"$\|\nabla f(M_t)\|$", yscale="log")
    panels[1].set(ylabel=r"$\sigma_{\min}(J_Q)$", yscale="log")
    for panel in panels[:2]:
        panel.set_title("Theorem 2: $W^Q$ alone")
    for name, run in runs.items():
        colour, _, dashes, _ = LOOKS[name]
        panels[2].plot(run.step, run.feature_least, color=colour, ls=dashes)
        rows.append(_long(run.feature_least, "feature_least", name))
    if runs:
        panels[2].set(ylabel=r"$\sigma_{\min}(B_t)$", yscale="log")
        panels[2].set_title("Theorem 1: $W^Q, W^K, W^V$")
        panels[2].yaxis.set_major_formatter("{x:g}")
        panels[2].yaxis.set_minor_formatter("{x:g}")
    for panel in panels:
        _steps(panel)
    panels[1].plot([], [], color=BLACK, ls=":", lw=1, label="what an SVD resolves")
    handles = panels[1].get_legend_handles_labels()
    figure.legend(*handles, loc="outside lower center", ncols=3)
    return Picture(figure, pd.concat(rows), caption)


def _long(series: xr.DataArray, name: str, kernel: str) -> pd.DataFrame:
    flat = series.rename("value").to_dataframe()[["value"]].reset_index()
    return flat.assign(kernel=kernel, series=name)


def _steps(panel: Axes) -> None:
    """Time from zero, on a logarithmic scale."""
    panel.set(xlabel="step $t$", xscale="symlog", xlim=(0, None))
    panel.set_xticks([0, 1, 10, 100, 1000], ["0", "1", "10", "100", "1000"])
    panel.set_xticks([], minor=True)


@styled
def region(
    frame: pd.DataFrame,
    paths: Mapping[str, xr.DataArray],
    titles: tuple[str, str, str],
    limits: tuple[float, float],
    caption: str,
) -> Picture:
    """How the loss bends at the start and on the way, and how far the weights move.

    The frame has a row for each run: kernel, ratio, bend, and what each of "all", "Q" and
    "K" moved. Dotted are the limits of a nearly convex region and of moving a bit.
    """
    figure, axes = canvas(1, 3, 2.7)
    first, way, last = axes[0]
    for name, series in paths.items():
        colour, marker, dashes, _ = LOOKS[name]
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
    _steps(way)
    first.set_ylabel(r"$-\lambda_{\min}/\lambda_{\max}$")
    last.set_ylabel(r"$\|M_T - M_0\|/\|M_0\|$")
    handles = first.get_legend_handles_labels()
    figure.legend(*handles, loc="outside lower center", ncols=2)
    return Picture(figure, frame, caption)


def _by_ratio(panel: Axes, rows: Any, name: str, colour, marker, dashes, label) -> None:
    """All runs as dots, and their median as a line."""
    panel.plot(rows.ratio, rows[name], ".", color=colour, ms=3, alpha=0.6)
    middle = rows.groupby("ratio")[name].median()
    look = {"color": colour, "ls": dashes, "ms": 4, "label": label}
    panel.plot(middle.index, middle, marker, **look)

"""Loss surfaces of several kernels side by side, with the trajectory on them."""

from typing import Any

import numpy as np
import pandas as pd
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import LogNorm, Normalize
from matplotlib.figure import Figure

from piste.landscape.tables import by_model, kernels_of

from .style import BLACK, BLUE, ORANGE, WIDTH, Picture, canvas, styled

LEVELS = 24
_COLOURS: Any = {"cmap": "viridis", "extend": "both"}
WIDE = 30.0
"""Losses that span more than this are drawn on a logarithmic scale."""


@styled
def contours(part: xr.Dataset, caption: str, **where: str) -> Picture:
    """The loss on a plane for every kernel, from above, on one scale of colours.

    ``where`` chooses weights and window; without it, the first of either.
    """
    part = _chosen(part, where)
    figure, (panels,) = canvas(1, part.sizes["kernel"], 3.3)
    scale = _scale(part)
    drawn: Any = None
    for axes, kernel in zip(panels, kernels_of(part), strict=True):
        one = part.sel(kernel=kernel)
        drawn = _contour(axes, one, scale)
        _path(axes, one)
        axes.set(title=kernel, **_names(part))
        if len(panels) == 2:  # more panels have no room; the caption says it too
            axes.set_xlabel(f"{axes.get_xlabel()}\n{_share(one)}\n{_losses(one)}")
        else:
            axes.label_outer()
    shrink = 0.9 if len(panels) == 2 else 0.5
    figure.colorbar(
        drawn, ax=list(panels), label="loss", shrink=shrink, **_ticks(scale)
    )
    return Picture(figure, _frame(part), caption)


@styled
def surfaces(part: xr.Dataset, caption: str, **where: str) -> Picture:
    """The same in three dimensions; on a logarithmic scale the height is log₁₀ loss."""
    part = _chosen(part, where)
    rows = -(-part.sizes["kernel"] // 2)
    figure = Figure(figsize=(WIDTH, 3.7 * rows))
    FigureCanvasAgg(figure)
    edges = {"bottom": 0.2 / rows, "top": 1 - 0.01 / rows, "hspace": 0.25}
    figure.subplots_adjust(left=0.0, right=0.9, wspace=0.16, **edges)
    scale = _scale(part)
    for place, kernel in enumerate(kernels_of(part)):
        axes: Any = figure.add_subplot(rows, 2, place + 1, projection="3d")
        one = part.sel(kernel=kernel)
        _bend(axes, one, scale)
        first, second = part.attrs["labels"]
        axes.set_title(kernel, y=1.0)
        axes.set_xlabel(first, labelpad=-1)
        axes.set_ylabel(second, labelpad=-1)
        axes.set_zlabel(_height_name(scale), labelpad=-1)
        text = f"{_share(one)}\n{_losses(one)}"
        axes.text2D(0.5, -0.19, text, transform=axes.transAxes, ha="center")
    return Picture(figure, _frame(part), caption)


def _chosen(part: xr.Dataset, where: dict[str, str]) -> xr.Dataset:
    """Choose weights and window; the first of them unless told."""
    first = {name: str(part[name].values[0]) for name in ("weights", "window")}
    return part.sel(first | where)


@styled
def by_kernel(
    table: pd.DataFrame, metrics: dict[str, str], caption: str, weights: str
) -> Picture:
    """Every model's metrics with each kernel, a row of panels for each window.

    Thin lines are models, each the median over its planes; thick is the median of the
    models that have a number with every kernel.
    """
    windows = list(table.window.unique())
    figure, panels = canvas(len(windows), len(metrics), 2.1 * len(windows))
    rows = []
    for column, (name, words) in enumerate(metrics.items()):
        wide = by_model(table, name).loc[weights]
        for axes, window in zip(panels[:, column], windows, strict=True):
            every = wide.loc[window]
            _models(axes, every)
            axes.set(title=window if column == 0 else "", ylabel=words)
            if window != windows[-1]:
                axes.set_xticklabels([])
            rows.append(every.reset_index().assign(metric=words, window=window))
    return Picture(figure, pd.concat(rows, ignore_index=True), caption)


def _models(axes: Axes, every: pd.DataFrame) -> None:
    places = range(every.shape[1])
    for values in every.to_numpy():
        axes.plot(places, values, color=BLUE, lw=0.6, marker="o", ms=2.5, alpha=0.6)
    complete = every.dropna()
    if len(complete):
        axes.plot(places, complete.median(), color=BLACK, lw=2.4)
    if len(complete) < len(every):
        text = f"{len(every) - len(complete)} of {len(every)} models incomplete"
        axes.text(0.02, 0.97, text, transform=axes.transAxes, va="top", fontsize=6)
    names = [name.replace("gaussian-", "gaussian\n") for name in every.columns]
    axes.set_xticks(list(places), names)
    axes.set_xlim(-0.4, every.shape[1] - 0.6)


def describe(part: xr.Dataset) -> str:
    """Say of every kernel's surface where it is centred and what it leaves out."""
    return ". ".join(kernel_lines(part)) + "."


def kernel_lines(part: xr.Dataset) -> list[str]:
    """The same as one line per kernel, without the full stops."""
    said = []
    for kernel in kernels_of(part):
        one = part.sel(kernel=kernel)
        step = int(one.step[int(one.centre.sel(weights="trained"))])
        said.append(f"{kernel} around step {step:,}: {_share(one)}; {_losses(one)}")
    return said


def _share(one: xr.Dataset) -> str:
    percent = 100 * float(one.explained_share)
    text = f"{percent:.2f}" if percent >= 1 else f"{percent:.2g}"
    return f"plane explains {text} % of the trajectory"


def _losses(one: xr.Dataset) -> str:
    """True and projected loss at both ends of the trajectory."""
    true, below = one.true_loss.values, one.projected_loss.values
    ends = [f"{true[at]:.3g} / {below[at]:.3g}" for at in (0, -1)]
    return f"true / projected loss {ends[0]} → {ends[1]}"


def _names(part: xr.Dataset) -> dict[str, str]:
    first, second = part.attrs["labels"]
    return {"xlabel": f"along {first}", "ylabel": f"along {second}"}


def _scale(part: xr.Dataset) -> Normalize:
    """One scale for all kernels: from the least loss to the largest finite one."""
    losses = part.loss.values[np.isfinite(part.loss.values)]
    if not losses.size:
        return Normalize(0, 1)
    low, high = float(losses.min()), float(losses.max())
    if low > 0 and high > WIDE * low:
        return LogNorm(low, high)
    return Normalize(low, high if high > low else low + 1)


def _levels(scale: Normalize) -> np.ndarray:
    assert scale.vmin is not None and scale.vmax is not None
    if isinstance(scale, LogNorm):
        return np.geomspace(scale.vmin, scale.vmax, LEVELS)
    return np.linspace(scale.vmin, scale.vmax, LEVELS)


def _ticks(scale: Normalize) -> dict[str, Any]:
    """Few ticks that can be read, at round numbers where the scale is logarithmic."""
    if not isinstance(scale, LogNorm):
        return {"format": "%.3g"}
    low, high = np.log10(np.array([scale.vmin, scale.vmax]))
    steps = [1, 3] if high - low < 4 else [1]
    powers = range(int(np.floor(low)), int(np.ceil(high)) + 1)
    ticks = [s * 10.0**p for p in powers for s in steps]
    inside = [t for t in ticks if 10**low <= t <= 10**high]
    return {"ticks": inside, "format": "%g"}


def _grid(one: xr.Dataset) -> np.ndarray:
    """The coordinates along a side: shares of the reach, times the reach."""
    reach = float(one.reach)
    return one["first"].values * (reach if np.isfinite(reach) else 1.0)


def _contour(axes: Axes, one: xr.Dataset, scale: Normalize):
    grid, levels = _grid(one), _levels(scale)
    loss = np.ma.masked_invalid(one.loss.values.T.astype(float))
    drawn = axes.contourf(grid, grid, loss, levels, norm=scale, **_COLOURS)
    lines = {"colors": "white", "linewidths": 0.4, "alpha": 0.7}
    axes.contour(grid, grid, loss, levels[::2], **lines)
    return drawn


def _path(axes: Axes, one: xr.Dataset) -> None:
    """The trajectory, a ring where the second stage began, a dot at the centre."""
    if str(one.weights.values) != "trained":
        return  # the kernel was swapped, and nothing moved
    a, b = one.coordinates.values.T
    limits = axes.get_xlim(), axes.get_ylim()
    axes.plot(a, b, color="white", lw=2.6)
    axes.plot(a, b, color=ORANGE, lw=1.4, marker=".", ms=3)
    axes.plot(a[:1], b[:1], "o", mfc="white", mec=ORANGE, ms=5)
    axes.plot(0, 0, "o", color="white", mec="black", ms=4)
    axes.set(xlim=limits[0], ylim=limits[1], aspect="equal")


def _heights(loss: np.ndarray, scale: Normalize) -> np.ndarray:
    loss = np.where(np.isfinite(loss), loss, np.nan).astype(float)
    if isinstance(scale, LogNorm):
        return np.log10(np.maximum(loss, scale.vmin or 0))
    return loss


def _height_name(scale: Normalize) -> str:
    return r"$\log_{10}$ loss" if isinstance(scale, LogNorm) else "loss"


def _bend(axes: Any, one: xr.Dataset, scale: Normalize) -> None:
    grid = _grid(one)
    a, b = np.meshgrid(grid, grid, indexing="ij")
    heights = _heights(one.loss.values, scale)
    low, high = _heights(np.array([scale.vmin, scale.vmax]), scale)
    axes.plot_surface(
        a, b, heights, cmap="viridis", vmin=low, vmax=high, rcount=60, ccount=60,
        linewidth=0, alpha=0.9,
    )  # fmt: skip
    x, y = one.coordinates.values.T
    inside = (np.abs(x) <= grid[-1]) & (np.abs(y) <= grid[-1])
    inside &= str(one.weights.values) == "trained"
    on = _heights(one.projected_loss.values, scale)
    if inside.any():
        axes.plot(x[inside], y[inside], on[inside], color=ORANGE, lw=1.8, zorder=9)
    axes.set_zlim(low, high)
    axes.tick_params(pad=0, labelsize=7)
    axes.view_init(elev=32, azim=-55)
    axes.locator_params(nbins=5)


def _frame(part: xr.Dataset) -> pd.DataFrame:
    """A row for each point of every grid."""
    rows = []
    for kernel in kernels_of(part):
        one = part.sel(kernel=kernel)
        a, b = (x.ravel() for x in np.meshgrid(_grid(one), _grid(one), indexing="ij"))
        point = {"kernel": kernel, "first": a, "second": b}
        rows.append(pd.DataFrame(point | {"loss": one.loss.values.ravel()}))
    return pd.concat(rows, ignore_index=True)

"""Loss surfaces of two kernels side by side, with the trajectory on them."""

from typing import Any

import numpy as np
import pandas as pd
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import LogNorm, Normalize
from matplotlib.figure import Figure

from piste.landscape.tables import by_model, kernels_of, one_of

from .style import BLACK, BLUE, ORANGE, WIDTH, Picture, canvas, styled

LEVELS = 24
_COLOURS: Any = {"cmap": "viridis", "extend": "both"}
_WAYS = {-1: (BLUE, "-"), 0: ("#999999", ":"), 1: (ORANGE, "--")}
"""How a pair is drawn: the second is lower, as high, or higher."""
WIDE = 30.0
"""Losses that span more than this are drawn on a logarithmic scale."""


@styled
def contours(part: xr.Dataset, caption: str) -> Picture:
    """The loss on a plane for either kernel, from above, on one scale of colours."""
    figure, (panels,) = canvas(1, 2, 3.3)
    scale = _scale(part)
    drawn: Any = None
    for axes, kernel in zip(panels, kernels_of(part), strict=True):
        one = one_of(part, kernel)
        drawn = _contour(axes, one, scale)
        _path(axes, one)
        axes.set(title=kernel, **_names(part))
        axes.set_xlabel(f"{axes.get_xlabel()}\n{_share(one)}\n{_losses(one)}")
    figure.colorbar(drawn, ax=list(panels), label="loss", shrink=0.9, **_ticks(scale))
    return Picture(figure, _frame(part), caption)


@styled
def surfaces(part: xr.Dataset, caption: str) -> Picture:
    """The same in three dimensions; on a logarithmic scale the height is log₁₀ loss."""
    figure = Figure(figsize=(WIDTH, 3.7))
    FigureCanvasAgg(figure)
    figure.subplots_adjust(left=0.0, right=0.9, bottom=0.2, top=0.99, wspace=0.16)
    scale = _scale(part)
    for place, kernel in enumerate(kernels_of(part)):
        axes: Any = figure.add_subplot(1, 2, place + 1, projection="3d")
        one = one_of(part, kernel)
        _bend(axes, one, scale)
        first, second = part.attrs["labels"]
        axes.set_title(kernel, y=1.0)
        axes.set_xlabel(first, labelpad=-1)
        axes.set_ylabel(second, labelpad=-1)
        axes.set_zlabel(_height_name(scale), labelpad=-1)
        text = f"{_share(one)}\n{_losses(one)}"
        axes.text2D(0.5, -0.19, text, transform=axes.transAxes, ha="center")
    return Picture(figure, _frame(part), caption)


@styled
def pairs(table: pd.DataFrame, metrics: dict[str, str], caption: str) -> Picture:
    """Every model's metrics with either kernel, joined by a line; thick: the medians.

    The table has a row for each surface; a model gives the median over its planes.
    """
    figure, (panels,) = canvas(1, len(metrics), 2.6)
    rows = []
    for axes, (name, words) in zip(panels, metrics.items(), strict=True):
        every = by_model(table, name)
        models = every.dropna()
        kernels, values = list(models.columns), models.to_numpy()
        for pair in values:
            colour, dash = _WAYS[int(np.sign(pair[1] - pair[0]))]
            axes.plot((0, 1), pair, color=colour, ls=dash, lw=0.8, marker="o", ms=3)
        if len(values):
            axes.plot((0, 1), np.median(values, 0), color=BLACK, lw=2.4)
        less = int((values[:, 1] < values[:, 0]).sum())
        without = (
            f", {left} without a number" if (left := len(every) - len(values)) else ""
        )
        axes.set_title(f"{kernels[1]} lower in {less} of {len(every)} models{without}")
        axes.set(ylabel=words, xlim=(-0.3, 1.3))
        axes.set_xticks((0, 1), kernels)
        rows.append(models.reset_index().assign(metric=words))
    return Picture(figure, pd.concat(rows, ignore_index=True), caption)


def describe(part: xr.Dataset) -> str:
    """What a caption says of both surfaces."""
    said = []
    for kernel in kernels_of(part):
        one = one_of(part, kernel)
        step = int(one.step[int(one.centre)])
        said.append(f"{kernel} around step {step:,}: {_share(one)}; {_losses(one)}")
    return ". ".join(said) + "."


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
    """One scale for both kernels: from the least loss to the largest finite one."""
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


def _contour(axes: Axes, one: xr.Dataset, scale: Normalize):
    grid, levels = one["first"].values, _levels(scale)
    loss = np.ma.masked_invalid(one.loss.values.T.astype(float))
    drawn = axes.contourf(grid, grid, loss, levels, norm=scale, **_COLOURS)
    lines = {"colors": "white", "linewidths": 0.4, "alpha": 0.7}
    axes.contour(grid, grid, loss, levels[::2], **lines)
    return drawn


def _path(axes: Axes, one: xr.Dataset) -> None:
    """The trajectory, a ring where the second stage began, a dot at the centre."""
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
    grid = one["first"].values
    a, b = np.meshgrid(grid, grid, indexing="ij")
    heights = _heights(one.loss.values, scale)
    low, high = _heights(np.array([scale.vmin, scale.vmax]), scale)
    axes.plot_surface(
        a, b, heights, cmap="viridis", vmin=low, vmax=high, rcount=60, ccount=60,
        linewidth=0, alpha=0.9,
    )  # fmt: skip
    x, y = one.coordinates.values.T
    inside = (np.abs(x) <= grid[-1]) & (np.abs(y) <= grid[-1])
    on = _heights(one.projected_loss.values, scale)
    if inside.any():
        axes.plot(x[inside], y[inside], on[inside], color=ORANGE, lw=1.8, zorder=9)
    axes.set_zlim(low, high)
    axes.tick_params(pad=0, labelsize=7)
    axes.view_init(elev=32, azim=-55)
    axes.locator_params(nbins=5)


def _frame(part: xr.Dataset) -> pd.DataFrame:
    """A row for each point of either grid."""
    grid = part["first"].values
    a, b = (each.ravel() for each in np.meshgrid(grid, grid, indexing="ij"))
    rows = [
        pd.DataFrame({"kernel": k, "first": a, "second": b, "loss": loss.ravel()})
        for k, loss in zip(kernels_of(part), part.loss.values, strict=True)
    ]
    return pd.concat(rows, ignore_index=True)

"""Figures of decision lists: bounds against what was measured, and what is kept."""

import numpy as np
import pandas as pd
import xarray as xr
from matplotlib.axes import Axes

from piste.figures import (
    BLACK,
    BLUE,
    GREEN,
    ORANGE,
    PINK,
    SKY,
    YELLOW,
    Picture,
    canvas,
    styled,
)

_LOOKS = ((BLUE, "o"), (GREEN, "^"), (PINK, "s"), (SKY, "+"), (ORANGE, "X"))
_COLOURS = (BLUE, ORANGE, GREEN, PINK, SKY, YELLOW, BLACK, "#888888")
_DASHES = ("-", "--", "-.", ":")


@styled
def bounds(groups: dict[str, xr.Dataset], caption: str) -> Picture:
    """Measured against predicted time over random instances; below the line it holds."""
    figure, axes = canvas(1, 1, 3.2)
    panel = axes[0, 0]
    for (name, data), (colour, marker) in zip(groups.items(), _LOOKS, strict=False):
        filled = {"c": colour, "s": 26, "marker": marker, "lw": 0.7}
        if marker not in "X+":
            filled |= {"c": "none", "s": 14, "edgecolors": colour}
        bound, reached = data.bound.values, np.isfinite(data.time.values)
        panel.scatter(bound[reached], data.time.values[reached], label=name, **filled)
        # What was never perfect stands far above the line, with an arrow.
        for x in bound[~reached]:
            panel.scatter(x, 30 * x, **filled)
            panel.text(x, 80 * x, "↑", ha="center", color=colour, fontsize=9)
    ends = np.concatenate([data.bound.values for data in groups.values()])
    line = np.array([ends.min() / 1.3, ends.max() * 1.3])
    panel.plot(line, line, color=BLACK, lw=0.8, ls=":")
    panel.set(xscale="log", yscale="log", xlim=line)
    ticks = [t for t in (10, 20, 50, 100, 200, 500) if line[0] <= t <= line[1]]
    panel.set_xticks(ticks, [f"{tick}" for tick in ticks])
    panel.set_xticks([], minor=True)
    panel.text(line[0] * 1.05, line[0] * 8, "measured = bound", fontsize=8)
    panel.set(xlabel=r"bound $4M/(\log(L)\,\gamma)$")
    panel.set_ylabel(r"first perfect time $t^*$ (descent: $\eta t^*$)")
    panel.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
    frame = pd.concat(
        data[["bound", "time"]].to_dataframe().assign(group=name)
        for name, data in groups.items()
    )
    return Picture(figure, frame, caption)


@styled
def scale(sweeps: dict[str, xr.Dataset], caption: str) -> Picture:
    """Time to perfection over factors of the stated scale c."""
    figure, axes = canvas(1, 1, 2.9)
    panel = axes[0, 0]
    for (name, data), colour in zip(sweeps.items(), (BLUE, ORANGE), strict=False):
        reached = np.isfinite(data.time)
        drawn = data.isel(cell=np.flatnonzero(reached))
        panel.plot(drawn.factor, drawn.time, "o-", ms=3.5, color=colour, label=name)
        bound = float(data.bound[0])
        panel.axhline(bound, color=colour, lw=0.8, ls=":")
        side = "top" if colour == ORANGE else "bottom"
        words = f"bound {name}"
        panel.text(1.6, bound, words, color=colour, fontsize=7.5, va=side)
    panel.axvline(1, color="#999999", lw=0.6)
    panel.text(
        1, 0.02, " stated $c$", transform=panel.get_xaxis_transform(), fontsize=8
    )
    _slope(panel, next(iter(sweeps.values())))
    panel.set(xscale="log", yscale="log", xlabel=r"$V = f\,cP$: factor $f$")
    panel.set_ylabel("first perfect time $t^*$")
    panel.legend(loc="lower left")
    frame = pd.concat(d.to_dataframe().assign(size=n) for n, d in sweeps.items())
    return Picture(figure, frame, caption)


def _slope(panel: Axes, data: xr.Dataset) -> None:
    """A line of the power −2 beside the points."""
    anchor = data.isel(cell=int(np.abs(data.factor.values - 0.1).argmin()))
    line = np.geomspace(0.01, 1, 2)
    slope = float(anchor.time) * (line / float(anchor.factor)) ** -2.0 * 4
    panel.plot(line, slope, color=BLACK, lw=0.8, ls="--")
    panel.text(0.03, slope[0] / 3, r"$\propto c^{-2}$", fontsize=9)


@styled
def descents(data: xr.Dataset, names: list[str], caption: str) -> Picture:
    """Theorem 2: the smallest margin and the curvature along every descent."""
    figure, axes = canvas(1, 2, 2.8)
    left, right = axes[0]
    for i, name in enumerate(names):
        margin, curvature = data.margin.values[i], data.curvature.values[i]
        if not np.isfinite(margin[0]):
            continue
        colour = _COLOURS[i % len(_COLOURS)]
        look = {"color": colour, "ls": _DASHES[i % len(_DASHES)], "lw": 1.2}
        size = max(abs(margin[0]), 1e-300)
        left.plot(margin / size, label=name, **look)
        right.plot(curvature / curvature[0], **look)
        _mark(left, data.perfect.values[i], margin / size, colour, colour)
        _mark(left, data.all_sets.values[i], margin / size, colour, "white")
    left.axhline(0, color=BLACK, lw=0.6)
    left.set(xlabel="step $t$", ylabel="smallest margin (start: $-1$)")
    left.set_yscale("symlog", linthresh=1)
    right.set(xlabel="step $t$", ylabel=r"$\lambda_{\max}(t)/\lambda_{\max}(0)$")
    figure.legend(loc="outside right center", fontsize=7, title="$(L, n, m)$, sets")
    frame = data[["margin", "curvature"]].to_dataframe().reset_index()
    return Picture(figure, frame, caption)


def _mark(panel: Axes, step: float, series: np.ndarray, colour: str, face: str) -> None:
    if np.isfinite(step):
        size = 3.5 if face == colour else 5
        look = {"ms": size, "mec": colour, "mfc": face, "mew": 0.9}
        panel.plot(
            step, series[int(step)], "o", zorder=3 if face == colour else 2, **look
        )


@styled
def persistence(
    paths: list[pd.DataFrame], shares: pd.DataFrame, caption: str
) -> Picture:
    """Margins of flows that lose perfection, and how often it happens, by family."""
    figure, axes = canvas(1, 2, 2.9, width_ratios=(5, 4))
    left, right = axes[0]
    families = [str(name) for name in shares["sequences"]]
    colours = dict(zip(families, map(str, _COLOURS), strict=False))
    for path in paths:
        _path(left, path, colours.get(str(path["sequences"].iloc[0]), BLACK))
    if not paths:
        words = "no flow lost it"
        left.text(0.5, 0.6, words, transform=left.transAxes, ha="center")
    left.axhline(0, color=BLACK, lw=0.6)
    left.set(xscale="log", xlabel="time $t/t^*$", ylabel=r"smallest lead $\cdot\ c/n$")
    left.set_yscale("symlog", linthresh=1)
    _intervals(right, shares, colours)
    return Picture(figure, pd.concat(paths) if paths else shares, caption)


def _path(panel: Axes, path: pd.DataFrame, colour: str) -> None:
    time, margin = path["t/t*"], path["margin"]
    if not path["chosen"].iloc[0]:
        panel.plot(time, margin, color=colour, lw=0.9, alpha=0.8)
        return
    panel.plot(time, margin, color=BLACK, lw=1.6, ls="--")
    words = f"{path['instance'].iloc[0]}, chosen"
    spot = (time.iloc[-1], margin.iloc[-1])
    panel.annotate(words, spot, fontsize=7, ha="right", va="bottom")


def _intervals(panel: Axes, shares: pd.DataFrame, colours: dict[str, str]) -> None:
    """The share of each family that loses perfection, with its interval."""
    for place, row in enumerate(shares.to_dict("records")):
        share = 100 * row["lose it"] / max(row["followed"], 1)
        ends = [[share - 100 * row["from"]], [100 * row["to"] - share]]
        look = {"color": colours[row["sequences"]], "capsize": 2.5, "ms": 4}
        panel.errorbar(share, -place, xerr=ends, fmt="o", lw=1, **look)
        words = f"{row['sequences']}: {row['lose it']} of {row['followed']}"
        words += f" ({row['sizes']})"
        panel.text(0.0, -place + 0.22, words, fontsize=6.5, va="bottom")
    panel.set(
        xlabel="instances that lose perfection (%)", yticks=[], xlim=(-0.05, None)
    )
    panel.set_ylim(-len(shares) + 0.4, 0.8)
    panel.spines["left"].set_visible(False)

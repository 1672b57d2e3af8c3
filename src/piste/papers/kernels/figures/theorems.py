"""Figures of attention kernels: bounds, the transition, success and its controls."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr
from matplotlib.axes import Axes

from piste.figures import BLACK, BLUE, GREEN, ORANGE, PINK, Picture, canvas, styled

LOOKS = {
    "softmax": (BLUE, "o", "-", ""),
    "gaussian": (ORANGE, "s", "--", "//"),
}
"""Colour, marker, dashes and hatching of each kernel."""
TRAINED = {"V": (r"$W^V$ alone", GREEN, "-"), "QKV": ("$W^Q, W^K, W^V$", PINK, "-.")}
WEIGHTS = (BLUE, BLACK, ORANGE)
_LIMIT: Any = {"color": "#999999", "ms": 4, "mfc": "none"}
"""How a singular value is drawn of which only an upper limit is known."""
DASHES = ("-", "--", ":")


@styled
def kernel_functions(
    weights: Mapping[str, np.ndarray], queries: np.ndarray, keys: np.ndarray, caption
) -> Picture:
    """The weights of three keys on a line against the place of the query."""
    figure, axes = canvas(1, len(weights), 1.75)
    rows = []
    for panel, (name, found) in zip(axes[0], weights.items(), strict=True):
        for place, (key, colour) in enumerate(zip(keys, WEIGHTS, strict=True)):
            dashes = DASHES[place]
            panel.plot(queries, found[:, place], color=colour, ls=dashes)
            panel.axvline(key, color=colour, lw=0.5, ls=dashes, alpha=0.6)
            part = {"kernel": name, "key": key, "query": queries}
            rows.append(pd.DataFrame(part | {"weight": found[:, place]}))
        panel.set_title(name, fontsize=9)
        panel.set(xlabel="query $q$", xticks=list(keys))
    for key, colour, dashes in zip(keys, WEIGHTS, DASHES, strict=True):
        words = f"$k$ = {key:g}".replace("-", "−")
        axes[0, 0].plot([], [], color=colour, ls=dashes, label=words)
    axes[0, 0].set_ylabel("weight of key $k$")
    figure.legend(loc="outside lower center", ncols=len(keys))
    return Picture(figure, pd.concat(rows), caption)


@styled
def bounds(
    parts: Mapping[tuple[str, float], Mapping[str, xr.Dataset]], caption: str
) -> Picture:
    """Loss and both readings of the bound for every kernel and HD/Nn."""
    names = list(dict.fromkeys(name for name, _ in parts))
    ratios = sorted({ratio for _, ratio in parts})
    figure, axes = canvas(len(names), len(ratios), 3.9, sharex=True, sharey=True)
    for (name, ratio), trained in parts.items():
        panel = axes[names.index(name), ratios.index(ratio)]
        for train, data in trained.items():
            words, colour, dashes = TRAINED[train]
            band(panel, data.share, colour, dashes, words)
        data = next(iter(trained.values()))
        _line(panel, data.bound, BLACK, "--", r"$(1-\eta\beta)^t$, per head")
        _line(panel, data.stacked_bound, BLUE, ":", r"the same, stacked $W^O$")
        panel.set_title(f"{name}, $HD/Nn$ = {ratio:g}", fontsize=8.5)
        panel.set(xscale="log", yscale="log", ylim=(1e-4, 2), xlim=(1, None))
    for panel in axes[-1]:
        panel.set_xlabel("step $t$")
    for panel in axes[:, 0]:
        panel.set_ylabel(r"$f(M_t)/f(M_0)$")
    handles = axes[0, 0].get_legend_handles_labels()
    figure.legend(*handles, loc="outside lower center", ncols=4)
    return Picture(figure, _frame(parts), caption)


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


def _line(panel: Axes, series: xr.DataArray, colour: str, dashes: str, words: str):
    middle = series.median("cell")
    panel.plot(series.step, middle, color=colour, ls=dashes, label=words, lw=1.3)


def band(panel: Axes, series: xr.DataArray, colour: str, dashes: str, words: str):
    """The median over the cells, and their range."""
    low, middle, high = (series.quantile(q, "cell") for q in (0, 0.5, 1))
    panel.fill_between(series.step, low, high, color=colour, alpha=0.15, lw=0)
    panel.plot(series.step, middle, color=colour, ls=dashes, label=words)


@styled
def promised(frame: Any, limit: float, caption: str) -> Picture:
    """What is left of the loss in every run against what the bound leaves of it."""
    names = list(dict.fromkeys(frame.kernel))
    figure, axes = canvas(1, len(names), 2.8, sharex=True, sharey=True)
    for panel, name in zip(axes[0], names, strict=True):
        for train, (words, colour, _) in TRAINED.items():
            rows = frame[(frame.kernel == name) & (frame.trained == train)]
            mark = {"V": "o", "QKV": "^"}[train]
            look = {"color": colour, "ms": 3.5, "mfc": "none", "label": words}
            panel.plot(rows.bound_promise, rows.share, mark, **look)
        low = frame.bound_promise.min()
        panel.plot([low, 1], [low, 1], color=BLACK, ls="--", lw=1.2, label="the bound")
        panel.axvline(limit, color="#999999", ls=":", lw=1)
        panel.set(xscale="log", yscale="log", title=name)
        panel.set_xlabel(r"$(1-\eta\beta)^T$")
    axes[0, 0].set_ylabel("$f(M_T)/f(M_0)$")
    handles = axes[0, 0].get_legend_handles_labels()
    figure.legend(*handles, loc="outside lower center", ncols=3)
    return Picture(figure, frame, caption)


@styled
def acceptance(parts: Mapping[str, xr.Dataset], caption: str) -> Picture:
    """The fall of log f in units of ηβt: 2 where the rate is attained, 1 is the bound."""
    figure, axes = canvas(1, 1, 2.4)
    panel, rows = axes[0, 0], []
    for name, data in parts.items():
        colour, _, dashes, _ = LOOKS[name]
        later = data.isel(step=slice(1, None))
        time = (later.eta * later.beta * later.step).transpose("cell", "step")
        rate = -np.log(later.loss / data.loss.isel(step=0, drop=True)) / time
        for x, y in zip(time.values, rate.values, strict=True):
            panel.plot(x, y, color=colour, ls=dashes, lw=0.8, alpha=0.7)
        panel.plot([], [], color=colour, ls=dashes, label=name)
        flat = xr.Dataset({"eta_beta_t": time, "rate": rate}).to_dataframe()
        rows.append(flat[["eta_beta_t", "rate"]].reset_index().assign(kernel=name))
    for height, words in ((2, "attained"), (1, "the bound")):
        panel.axhline(height, color=BLACK, ls=":", lw=1)
        place = panel.get_yaxis_transform()
        look = {"fontsize": 8, "ha": "right", "va": "bottom", "transform": place}
        panel.text(0.99, height + 0.02, words, **look)
    panel.set(xscale="log", xlabel=r"$\eta\beta t$", ylim=(0.8, 2.3))
    panel.set_ylabel(r"$-\log(f(M_t)/f(M_0))\,/\,\eta\beta t$")
    panel.legend(loc="center left")
    return Picture(figure, pd.concat(rows), caption)


@styled
def transition(frame: Any, caption: str) -> Picture:
    """f_T/f₀ against HD/Nn, with what W^V alone can reach at best."""
    names = list(dict.fromkeys(frame.kernel))
    figure, axes = canvas(1, len(names), 2.9, sharey=True)
    for panel, name in zip(axes[0], names, strict=True):
        part = frame[frame.kernel == name]
        for train, (words, colour, dashes) in TRAINED.items():
            rows = part[part.train == train]
            panel.plot(rows.ratio, rows.share, ".", color=colour, ms=3, alpha=0.6)
            middle = rows.groupby("ratio").share.median()
            panel.plot(middle.index, middle, "o", ls=dashes, ms=4, color=colour)
            panel.plot([], [], "o", ls=dashes, ms=4, color=colour, label=words)
        least = part[(part.train == "V") & (part.ratio < 1)]
        middle = least.groupby("ratio").floor.median()
        words = r"least that $W^V$ can reach ($0$ from $HD = Nn$ on)"
        panel.plot(middle.index, middle, "_", ms=14, mew=2, color=BLACK, label=words)
        panel.axvline(1, color="#999999", lw=0.8, ls="--")
        panel.set(xscale="log", yscale="log", xlabel="$HD/Nn$", title=name)
        panel.set_xticks([0.25, 0.5, 1, 2, 4], ["¼", "½", "1", "2", "4"])
        panel.set_xticks([], minor=True)
    axes[0, 0].set_ylabel("$f(M_T)/f(M_0)$")
    handles = axes[0, 0].get_legend_handles_labels()
    figure.legend(*handles, loc="outside lower center", ncols=3)
    return Picture(figure, frame, caption)


@styled
def scale(frame: Any, caption: str) -> Picture:
    """σ_min(B₀) against the scale of Q and K."""
    figure, axes = canvas(1, 1, 2.5)
    panel = axes[0, 0]
    for name, (colour, marker, dashes, _) in LOOKS.items():
        rows = frame[frame.kernel == name]
        known = rows.feature_least > rows.feature_resolution
        rows = rows.assign(
            shown=rows.feature_least.where(known, rows.feature_resolution)
        )
        middle = rows.groupby("key_scale").shown.median()
        limits, rows = rows[~known], rows[known]
        panel.plot(limits.key_scale, limits.shown, "v", **_LIMIT)
        panel.plot(rows.key_scale, rows.shown, ".", color=colour, ms=3)
        panel.plot(
            middle.index, middle, marker, ls=dashes, ms=5, color=colour, label=name
        )
    panel.set(xscale="log", yscale="log", ylabel=r"$\sigma_{\min}(B_0)$")
    panel.set_xlabel("scale of $W^Q$ and $W^K$")
    ticks = sorted(set(frame.key_scale))
    panel.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    panel.set_xticks([], minor=True)
    panel.legend(loc="lower left")
    return Picture(figure, frame, caption)


@styled
def success(frame: Any, caption: str) -> Picture:
    """How many seeds of every case succeed, by kernel."""
    figure, axes = canvas(1, 1, 2.7)
    panel, cases = axes[0, 0], list(dict.fromkeys(frame.case))
    for side, (name, (colour, _, _, hatch)) in zip(
        (-0.2, 0.2), LOOKS.items(), strict=True
    ):
        rows = frame[frame.kernel == name].set_index("case").loc[cases]
        places = np.arange(len(cases)) + side
        look = {"color": colour, "hatch": hatch, "edgecolor": "white", "label": name}
        panel.bar(places, rows.succeed / rows.runs, 0.38, **look)
        for x, row in zip(places, rows.itertuples(), strict=True):
            words, height = f"{row.succeed}/{row.runs}", row.succeed / row.runs
            panel.text(x, height + 0.015, words, ha="center", va="bottom", fontsize=7.5)
    two_lines = [c.replace("H =", "$H$ =").replace(", ", "\n", 1) for c in cases]
    panel.set_xticks(range(len(cases)), two_lines)
    panel.set(ylim=(0, 1.24), ylabel="share of seeds with $f_T/f_0 < 10^{-6}$")
    panel.set_yticks(np.linspace(0, 1, 6))
    made = sum("matched, scale 6" in case for case in cases)
    if 0 < made < len(cases):
        panel.axvline(made - 0.5, color="#999999", lw=0.8, ls="--")
        panel.text(made - 0.55, 1.24, "construction", ha="right", va="top", fontsize=8)
        panel.text(made - 0.45, 1.24, "controls", ha="left", va="top", fontsize=8)
    figure.legend(loc="outside lower center", ncols=2)
    return Picture(figure, frame, caption)

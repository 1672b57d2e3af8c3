"""Figures of attention kernels: bounds, the transition, the pair and its controls."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr
from matplotlib.axes import Axes

from .style import BLACK, BLUE, GREEN, ORANGE, PINK, Picture, canvas, styled

LOOKS = {
    "softmax": (BLUE, "o", "-", ""),
    "gaussian": (ORANGE, "s", "--", "//"),
}
"""Colour, marker, dashes and hatching of each kernel."""
TRAINED = {"V": (r"$W^V$ alone", GREEN, "-"), "QKV": ("$W^Q, W^K, W^V$", PINK, "-.")}
WEIGHTS = (BLUE, BLACK, ORANGE)
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
            _band(panel, data.share, colour, dashes, words)
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


def _band(panel: Axes, series: xr.DataArray, colour: str, dashes: str, words: str):
    low, middle, high = (series.quantile(q, "cell") for q in (0, 0.5, 1))
    panel.fill_between(series.step, low, high, color=colour, alpha=0.15, lw=0)
    panel.plot(series.step, middle, color=colour, ls=dashes, label=words)


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
        middle = rows.groupby("key_scale").feature_least.median()
        panel.plot(rows.key_scale, rows.feature_least, ".", color=colour, ms=3)
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
    shown = (
        ("gradient_norm", r"$\|\nabla f(M_t)\|$"),
        ("jacobian_least", r"$\sigma_{\min}(J_Q)$"),
    )
    for panel, (probe, words) in zip(panels, shown, strict=False):
        for name, data in queries.items():
            colour, _, dashes, _ = LOOKS[name]
            _band(panel, data[probe], colour, dashes, name)
            flat = data[probe].to_dataframe().reset_index()
            rows.append(flat.rename(columns={probe: "value"}).assign(kernel=name))
            rows[-1]["series"] = probe
        panel.set(ylabel=words, yscale="log", title="Theorem 2: $W^Q$ alone")
    for name, run in runs.items():
        colour, _, dashes, _ = LOOKS[name]
        panels[2].plot(run.step, run.feature_least, color=colour, ls=dashes)
        flat = run.feature_least.to_dataframe()[["feature_least"]].reset_index()
        flat = flat.rename(columns={"feature_least": "value"})
        rows.append(flat.assign(kernel=name, series="feature_least"))
    if runs:
        panels[2].set(ylabel=r"$\sigma_{\min}(B_t)$", yscale="log")
        panels[2].set_title("Theorem 1: $W^Q, W^K, W^V$")
        panels[2].yaxis.set_major_formatter("{x:g}")
        panels[2].yaxis.set_minor_formatter("{x:g}")
    for panel in panels:
        panel.set(xlabel="step $t$", xscale="symlog", xlim=(0, None))
        panel.set_xticks([0, 1, 10, 100, 1000], ["0", "1", "10", "100", "1000"])
        panel.set_xticks([], minor=True)
    handles = panels[0].get_legend_handles_labels()
    figure.legend(*handles, loc="outside lower center", ncols=2)
    return Picture(figure, pd.concat(rows), caption)

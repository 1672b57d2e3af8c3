"""Figures of decision lists: the task, the scores, and when all labels are right."""

import numpy as np
import pandas as pd
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from .style import BLACK, BLUE, GREEN, ORANGE, PINK, Picture, canvas, styled

_RULES = {
    "gd": ("GD", GREEN, "^", "-."),
    "signgd": ("SignGD", BLUE, "o", "-"),
    "adam": ("Adam", PINK, "s", "--"),
}


@styled
def one_sequence(
    tokens: np.ndarray,
    lists: list[list[int]],
    deciders: np.ndarray,
    labels: np.ndarray,
    caption: str,
) -> Picture:
    """A sequence, the list of each of its tokens, and the label that it gives."""
    figure, axes = canvas(1, 1, 0.55 + 0.42 * len(tokens))
    panel, longest = axes[0, 0], max(map(len, lists))
    for row, (a, listed) in enumerate(zip(tokens, lists, strict=True)):
        y = len(tokens) - 1 - row
        _cell(panel, 0, y, str(a), "#e6eef5")
        panel.text(1.35, y, rf"$L_{{{a}}}$:", va="center", ha="right")
        for k, b in enumerate(listed):
            present, decides = b in tokens, b == deciders[row]
            look = {"face": "#f6d7c3" if decides else "white", "soft": not present}
            _cell(panel, 2 + k, y, str(b), bold=decides, **look)
        words = rf"$\to\ \pi({deciders[row]}) = {labels[row]}$"
        panel.text(2 + longest - 0.2, y, words, va="center")
    top = len(tokens) - 0.25
    heads = {0: "sequence $s$", 2 + (longest - 1) / 2: "its list, first to last"}
    for x, words in (heads | {2 + longest + 0.6: "label"}).items():
        panel.text(x, top, words, ha="center", va="bottom", color="#666666")
    panel.set(xlim=(-1, 4.5 + longest), ylim=(-0.6, len(tokens) + 0.35))
    panel.axis("off")
    rows = zip(tokens, lists, deciders, labels, strict=True)
    names = ("token", "list", "label-determining token", "label")
    return Picture(figure, pd.DataFrame(list(rows), columns=names), caption)


def _cell(panel: Axes, x, y, words, face="white", bold=False, soft=False) -> None:
    edge = "#bbbbbb" if soft else BLACK
    box = Rectangle((x - 0.36, y - 0.36), 0.72, 0.72, fc=face, ec=edge, lw=0.8)
    panel.add_patch(box)
    colour, weight = ("#bbbbbb" if soft else BLACK), "bold" if bold else "normal"
    panel.text(x, y, words, ha="center", va="center", color=colour, weight=weight)


@styled
def scores(run: xr.Dataset, lists: np.ndarray, unit: float, caption: str) -> Picture:
    r"""$W$ at four moments; numerals mark the place of a key in the query's list."""
    steps = run.test_step.values
    # From a quarter of the first perfect moment to the end, in equal ratios.
    first = int(run.step.values[(run.margin > 0).values.argmax()])
    moments = np.geomspace(max(first / 4, steps[1]), steps[-1], 4)
    shown = [int(np.abs(steps - moment).argmin()) for moment in moments]
    figure, axes = canvas(1, len(shown), 2.2, sharey=True)
    reach = float(np.abs(run.attention_matrix[shown[-1]]).max()) / unit
    image = None
    for panel, place in zip(axes[0], shown, strict=True):
        matrix = run.attention_matrix.values[place] / unit
        image = panel.imshow(matrix, cmap="PuOr", vmin=-reach, vmax=reach)
        _numerals(panel, lists, matrix / reach)
        time = float(run.time.sel(step=steps[place]))
        share = time / perfect_time(run)
        panel.set_title(f"$t$ = {share:.2g} $t^*$", fontsize=8.5)
        panel.set(xlabel="query $a$", xticks=[], yticks=[])
    axes[0, 0].set_ylabel("key $b$")
    assert image is not None
    bar = figure.colorbar(image, ax=axes, shrink=0.85, pad=0.01)
    bar.set_label("$W[b,a]\\ \\cdot\\ c/n$")
    flat = run.attention_matrix.isel(test_step=shown).to_dataframe().reset_index()
    return Picture(figure, flat, caption)


def _numerals(panel: Axes, lists: np.ndarray, share: np.ndarray) -> None:
    for a, listed in enumerate(lists):
        own = int(np.argmax(listed == a))
        for k, b in enumerate(listed[: own + 1]):
            colour = "white" if abs(share[b, a]) > 0.55 else BLACK
            look = {"ha": "center", "va": "center", "fontsize": 5.5, "color": colour}
            panel.text(a, b, str(k + 1), **look)


@styled
def margins(
    runs: dict[str, xr.Dataset], units: list[float], bound: float, caption: str
) -> Picture:
    """Leads between neighbours of every list, and the first perfect moment."""
    figure, axes = canvas(1, 2, 2.6)
    left, right = axes[0]
    one = next(iter(runs.values()))
    _leads(left, one, one.ordering.values / units[0], perfect_time(one))
    looks = ((BLUE, "-"), (ORANGE, "--"))
    for (name, run), unit, look in zip(runs.items(), units, looks, strict=False):
        time = run.time / perfect_time(run)
        right.plot(time, run.margin / unit, color=look[0], ls=look[1], label=name)
    right.axhline(0, color=BLACK, lw=0.6)
    right.axvline(1, color="#999999", lw=0.8, ls="--")
    words = f"bound: $t/t^*$ = {bound / perfect_time(one):.2g}"
    right.text(0.97, 0.05, words, transform=right.transAxes, ha="right", fontsize=8)
    right.set(xscale="log", xlabel="time $t/t^*$")
    right.set_ylabel(r"least lead of a label $\cdot\ c/n$")
    right.legend(loc="upper left")
    frame = pd.concat(
        pd.DataFrame({"run": name, "time": run.time, "margin": run.margin / unit})
        for (name, run), unit in zip(runs.items(), units, strict=True)
    )
    return Picture(figure, frame, caption)


def _leads(panel: Axes, run: xr.Dataset, leads: np.ndarray, perfect: float) -> None:
    time = run.time.values / perfect
    colours = (BLUE, GREEN, PINK, ORANGE)
    for slot, colour in zip(range(leads.shape[2]), colours, strict=False):
        drawn = leads[:, :, slot][:, ~np.isnan(leads[0, :, slot])]
        panel.plot(time, drawn, color=colour, lw=0.5, alpha=0.6)
        panel.plot([], [], color=colour, label=f"$k$ = {slot + 1}")
    panel.axhline(0, color=BLACK, lw=0.6)
    panel.axvline(1, color="#999999", lw=0.8, ls="--")
    panel.set(xscale="log", xlabel="time $t/t^*$")
    panel.set_ylabel(r"$(W[a_k,a]-W[a_{k+1},a])\ c/n$")
    panel.legend(loc="upper left")


def perfect_time(run: xr.Dataset) -> float:
    """The first recorded time at which all labels are right."""
    right = (run.margin > 0).values
    return float(run.time.values[right.argmax()]) if right.any() else np.nan


@styled
def bounds(groups: dict[str, xr.Dataset], caption: str) -> Picture:
    """Measured against predicted time over random instances; below the line it holds."""
    figure, axes = canvas(1, 1, 3.2)
    panel = axes[0, 0]
    looks = ((BLUE, "o"), (GREEN, "^"), (ORANGE, "X"))
    for (name, data), (colour, marker) in zip(groups.items(), looks, strict=False):
        face = colour if marker == "X" else "none"
        look = {"marker": marker, "edgecolors": colour, "lw": 0.7, "c": face}
        size = 14 if face == "none" else 26
        bound, reached = data.bound.values, np.isfinite(data.time.values)
        panel.scatter(bound, data.time, s=size, label=name, **look)
        # What was never perfect stands far above the line, with an arrow.
        for x in bound[~reached]:
            panel.scatter(x, 30 * x, s=size, **look)
            panel.text(x, 80 * x, "↑", ha="center", color=colour, fontsize=9)
    ends = np.concatenate([data.bound.values for data in groups.values()])
    line = np.array([ends.min() / 1.3, ends.max() * 1.3])
    panel.plot(line, line, color=BLACK, lw=0.8, ls=":")
    panel.set(xscale="log", yscale="log", xlim=line)
    ticks = [t for t in (10, 20, 50, 100, 200, 500) if line[0] <= t <= line[1]]
    panel.set_xticks(ticks, [f"{tick}" for tick in ticks])
    panel.set_xticks([], minor=True)
    panel.text(line[0] * 1.05, line[0] * 8, "measured = bound", fontsize=8)
    panel.set(xlabel=r"bound $4M/(\log(L)\,\gamma)$", ylabel="first perfect time $t^*$")
    panel.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
    frame = pd.concat(
        data.drop_vars("solver_steps").to_dataframe().assign(group=name)
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
    first = next(iter(sweeps.values()))
    anchor = first.isel(cell=int(np.abs(first.factor.values - 0.1).argmin()))
    line = np.geomspace(0.01, 1, 2)
    slope = float(anchor.time) * (line / float(anchor.factor)) ** -2.0 * 4
    panel.plot(line, slope, color=BLACK, lw=0.8, ls="--")
    panel.text(0.03, slope[0] / 3, r"$\propto c^{-2}$", fontsize=9)
    panel.set(xscale="log", yscale="log", xlabel=r"$V = f\,cP$: factor $f$")
    panel.set_ylabel("first perfect time $t^*$")
    panel.legend(loc="lower left")
    frame = pd.concat(d.to_dataframe().assign(size=n) for n, d in sweeps.items())
    return Picture(figure, frame, caption)


@styled
def descents(data: xr.Dataset, names: list[str], caption: str) -> Picture:
    """Theorem 2: the least margin and the curvature along every descent."""
    figure, axes = canvas(1, 2, 2.8)
    left, right = axes[0]
    colours = (BLUE, ORANGE, GREEN, PINK, "#56B4E9", "#E69F00", BLACK, "#888888")
    dashes = ("-", "--", "-.", ":")
    for i, name in enumerate(names):
        look = {"color": colours[i % 8], "ls": dashes[i % 4], "lw": 1.2}
        margin, curvature = data.margin.values[i], data.curvature.values[i]
        size = max(abs(margin[0]), 1e-300)
        left.plot(margin / size, label=name, **look)
        right.plot(curvature / curvature[0], **look)
        last = int((~np.isnan(margin)).sum()) - 1
        left.plot(last, margin[last] / size, "o", ms=3.5, color=look["color"])
    left.axhline(0, color=BLACK, lw=0.6)
    left.set(xlabel="step $t$", ylabel="least margin (start: $-1$)")
    left.set_yscale("symlog", linthresh=1)
    right.set(xlabel="step $t$", ylabel=r"$\lambda_{\max}(t)/\lambda_{\max}(0)$")
    figure.legend(loc="outside right center", fontsize=7, title="$(L, n, m)$, sets")
    return Picture(figure, data.to_dataframe().reset_index(), caption)


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
    middle = sorted(
        {size for size, _ in sweeps}, key=lambda s: int(s[1:].split(",")[0])
    )
    size = middle[len(middle) // 2]
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

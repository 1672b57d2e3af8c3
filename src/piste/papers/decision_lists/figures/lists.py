"""Figures of decision lists: the task, the scores, and the leads of labels."""

import numpy as np
import pandas as pd
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from piste.figures import BLACK, BLUE, GREEN, ORANGE, PINK, Picture, canvas, styled


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

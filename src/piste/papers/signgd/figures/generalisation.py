"""Figures of what is learnt: test error and loss against SNR, and what a model sees."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from piste.claims import Boundary, Status
from piste.figures import BLUE, GREEN, ORANGE, PINK, Picture, canvas, styled

_RULES = {
    "signgd": ("SignGD", BLUE, "o", "-"),
    "adam": ("Adam (0.9, 0.999)", PINK, "s", "--"),
    "gd": ("GD", GREEN, "^", "-."),
}


@styled
def against_snr(table: pd.DataFrame, caption: str) -> Picture:
    """Test error and test loss against SNR: mean error, median loss, range over seeds."""
    figure, axes = canvas(1, 2, 2.7)
    ordered = table.sort_values("snr")
    for rule, (name, colour, marker, dash) in _RULES.items():
        part = ordered.loc[ordered["rule"] == rule]
        look = {"color": colour, "marker": marker, "ls": dash, "ms": 4, "label": name}
        _with_range(axes[0, 0], part, "error", "low", "high", look)
        _with_range(axes[0, 1], part, "loss", "loss_low", "loss_high", look)
    axes[0, 0].axhline(0.5, color="#999999", lw=0.6, ls=":")
    axes[0, 0].set(ylabel="test error", ylim=(-0.02, 0.56))
    axes[0, 1].axhline(np.log(2), color="#999999", lw=0.6, ls=":")
    axes[0, 1].set(ylabel="test loss $L_D$", yscale="log")
    ticks = sorted(set(table["snr"]))
    for panel in axes[0]:
        panel.set(xscale="log", xlabel="SNR")
        panel.set_xticks(ticks, [f"{tick:g}" for tick in ticks], rotation=45)
        panel.set_xticks([], minor=True)
    axes[0, 1].legend(loc="lower left")
    return Picture(figure, table, caption)


def _with_range(panel: Axes, part: pd.DataFrame, name, low, high, look) -> None:
    x = part["snr"].to_numpy()
    colour = look["color"]
    panel.fill_between(x, part[low], part[high], color=colour, alpha=0.15, lw=0)
    panel.plot(x, part[name], **look)


@styled
def what_it_sees(
    tokens: np.ndarray, labels: np.ndarray, names: tuple[str, str], caption: str
) -> Picture:
    """The two tokens of a few samples, side by side, as pictures."""
    shown = np.concatenate(
        [np.flatnonzero(labels > 0)[:4], np.flatnonzero(labels < 0)[:4]]
    )
    side = int(np.sqrt(tokens.shape[-1]))
    figure, axes = canvas(2, len(shown), 2.1)
    for column, place in enumerate(shown):
        for row in range(2):
            panel = axes[row, column]
            image = tokens[place, row].reshape(side, side)
            reach = np.abs(image).max()
            panel.imshow(image, cmap="gray", vmin=-reach if row else 0, vmax=reach)
            panel.set(xticks=[], yticks=[])
            for edge in panel.spines.values():
                edge.set_visible(False)
        label = names[0] if labels[place] > 0 else names[1]
        axes[0, column].set_title(f"$y={labels[place]:+.0f}$: {label}", fontsize=8)
    for row, name in enumerate(("$x^{(1)}$", r"$x^{(2)}=\xi$")):
        axes[row, 0].set_ylabel(name, rotation=0, ha="right", va="center")
    frame = pd.DataFrame(tokens[shown].reshape(2 * len(shown), -1))
    return Picture(figure, frame, caption)


_MARKS: dict[Status, tuple[str, str, str]] = {
    Status.FOUND: ("o", BLUE, "found"),
    Status.OUT_OF_ORDER: ("o", "none", "met, but out of order"),
    Status.LOST: ("D", ORANGE, "reached, then lost"),
    Status.NOT_REACHED: ("x", ORANGE, "not reached"),
    Status.NEEDS_EARLIER: ("_", "#999999", "needs one before it"),
    Status.TOO_SHORT: (">", "#999999", "too short to tell"),
    Status.TOO_COARSE: ("<", "#999999", "too coarse to tell"),
    Status.DOES_NOT_APPLY: (".", "#999999", "does not apply"),
    Status.NOT_MEASURED: ("*", "#999999", "not measured"),
}
"""How the seeds of a variant are drawn: marker, face and meaning."""


@styled
def persistence(
    variants: dict[str, dict[str, list[Boundary]]], caption: str
) -> Picture:
    """What becomes of each boundary in every seed of every variant, and when."""
    boundaries = list(next(iter(variants.values())))
    figure, axes = canvas(1, 1, 1.1 + 0.42 * len(variants))
    panel, rows = axes[0, 0], []
    for row, (title, found) in enumerate(reversed(variants.items())):
        for column, name in enumerate(boundaries):
            _seeds(panel, column, row, found[name])
            rows += [
                {"variant": title, "boundary": name, "seed": seed, "met": b.met}
                | {"status": str(b.status), "evidence": b.evidence}
                for seed, b in enumerate(found[name])
            ]
    panel.set_yticks(range(len(variants)), list(reversed(variants)))
    panel.set_xticks(range(len(boundaries)), boundaries)
    panel.set(xlim=(-0.5, len(boundaries) - 0.3), ylim=(-0.6, len(variants) - 0.4))
    panel.tick_params(length=0)
    panel.xaxis.tick_top()
    for edge in panel.spines.values():
        edge.set_visible(False)
    _key_below(panel, {str(row["status"]) for row in rows})
    return Picture(figure, pd.DataFrame(rows), caption)


def _seeds(panel: Axes, column: int, row: int, seeds: list[Boundary]) -> None:
    """A mark for each seed side by side, and the median step where it was met."""
    for seed, boundary in enumerate(seeds):
        marker, face, _ = _MARKS[boundary.status]
        edge = {"none": BLUE}.get(face, face)
        look = {"s": 26, "marker": marker, "lw": 1}
        if marker in "x_":
            panel.scatter(column - 0.2 + 0.13 * seed, row, c=face, **look)
        else:
            panel.scatter(
                column - 0.2 + 0.13 * seed, row, c=face, edgecolors=edge, **look
            )
    met = [b.met for b in seeds if b.met is not None]
    if met:
        place = column - 0.2 + 0.13 * len(seeds)
        panel.text(place, row, f"{np.median(met):.0f}", va="center", fontsize=8)


def _key_below(panel: Axes, seen: set[str]) -> None:
    marks = [mark for status, mark in _MARKS.items() if str(status) in seen]
    for marker, face, meaning in marks:
        edge = {"none": BLUE}.get(face, face)
        look = {"marker": marker, "ls": "", "ms": 5, "label": meaning}
        panel.plot([], [], markerfacecolor=face, markeredgecolor=edge, **look)
    panel.legend(loc="upper center", bbox_to_anchor=(0.45, 0.02), ncols=5, fontsize=7.5)


@styled
def signal_share(s: np.ndarray, ratio: np.ndarray, caption: str) -> Picture:
    """What the value learns of the signal against s, with the line of theory."""
    figure, axes = canvas(1, 1, 2.6)
    panel, levels = axes[0, 0], np.unique(s)
    means = np.array([ratio[s == level].mean() for level in levels])
    panel.plot(s, ratio, "o", color=BLUE, ms=3.5, alpha=0.5)
    panel.plot(levels, means, color=BLUE, label="mean over seeds")
    line = means[0] * np.sqrt(levels[0] / levels)
    panel.plot(levels, line, color="#666666", ls=":", label=r"$\propto 1/\sqrt{s}$")
    panel.set(xscale="log", yscale="log", xlabel="noise coordinates $s$")
    panel.set_ylabel(r"$\langle v,\mu\rangle\,/\,\langle v,y_i\xi_i\rangle$")
    panel.set_xticks(levels, [f"{level:g}" for level in levels])
    panel.set_xticks([], minor=True)
    panel.legend(loc="upper right")
    return Picture(figure, pd.DataFrame({"s": s, "ratio": ratio}), caption)

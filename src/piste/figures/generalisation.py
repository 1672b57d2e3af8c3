"""Figures of what is learnt: test error and loss against SNR, and what a model sees."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from .style import BLUE, GREEN, PINK, Picture, canvas, styled

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


@styled
def persistence(
    table: pd.DataFrame, boundaries: tuple[str, ...], caption: str
) -> Picture:
    """Which boundaries each variant crosses: share of seeds, and the median step."""
    figure, axes = canvas(1, 1, 0.6 + 0.42 * len(table))
    panel = axes[0, 0]
    for row, (_, variant) in enumerate(table[::-1].iterrows()):
        for column, name in enumerate(boundaries):
            share = float(variant[f"{name} share"])
            size = 30 + 220 * share
            face = BLUE if share == 1 else "none"
            panel.scatter(
                column, row, s=size, c=face, edgecolors=BLUE, lw=1, alpha=0.85
            )
            step = float(variant[name])
            words = f"{step:.0f}" if share else "–"
            panel.text(column + 0.18, row, words, va="center", fontsize=8)
    panel.set_yticks(range(len(table)), list(table["variant"][::-1]))
    panel.set_xticks(range(len(boundaries)), boundaries)
    panel.set(xlim=(-0.5, len(boundaries) - 0.3), ylim=(-0.6, len(table) - 0.4))
    panel.tick_params(length=0)
    panel.xaxis.tick_top()
    for edge in panel.spines.values():
        edge.set_visible(False)
    return Picture(figure, table, caption)

"""Figures of what is learnt: test error and loss against SNR, and what a model sees."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from piste.figures import BLUE, GREEN, PINK, Picture, canvas, styled

from ..thresholds import MATCHED_LOSS

CHANCE_ERROR, CHANCE_LOSS = 0.5, np.log(2)
"""Test error and loss of a model that has learnt nothing."""
RULE_STYLES = {
    "signgd": ("SignGD", BLUE, "o", "-"),
    "adam": ("Adam (0.9, 0.999)", PINK, "s", "--"),
    "gd": ("GD", GREEN, "^", "-."),
}
"""How a rule is drawn: name, colour, marker and dashes."""


def synthetic_caption(steps: int) -> str:
    """The caption of errors on signal and noise after some steps."""
    return (
        f"Signal and noise, T = {steps:,}: test error and loss against SNR ‖μ‖/(σ_p√s) "
        "(mean error, median loss, range over seeds)."
    )


def image_caption(data: str) -> str:
    """The caption of errors on noisy images."""
    return (
        f"Noisy {data}, 3 against 7: test error and loss against SNR, taken when the "
        f"training loss is at most {MATCHED_LOSS:g}, or at the last step where it never "
        "is (mean error, median loss, range over seeds)."
    )


@styled
def against_snr(table: pd.DataFrame, caption: str) -> Picture:
    """Test error and test loss against SNR: mean error, median loss, range over seeds."""
    figure, axes = canvas(1, 2, 2.7)
    error, loss = axes[0]
    ordered = table.sort_values("snr")
    for rule, (name, colour, marker, dash) in RULE_STYLES.items():
        rows = ordered.loc[ordered["rule"] == rule]
        look = {"color": colour, "marker": marker, "ls": dash, "ms": 4, "label": name}
        _draw_with_range(error, rows, ("error", "low", "high"), look)
        _draw_with_range(loss, rows, ("loss", "loss_low", "loss_high"), look)
    error.axhline(CHANCE_ERROR, color="#999999", lw=0.6, ls=":")
    error.set(ylabel="test error", ylim=(-0.02, 0.56))
    loss.axhline(CHANCE_LOSS, color="#999999", lw=0.6, ls=":")
    loss.set(ylabel="test loss $L_D$", yscale="log")
    ticks = sorted(set(table["snr"]))
    for panel in axes[0]:
        panel.set(xscale="log", xlabel="SNR")
        panel.set_xticks(ticks, [f"{tick:g}" for tick in ticks], rotation=45)
        panel.set_xticks([], minor=True)
    loss.legend(loc="lower left")
    return Picture(figure, table, caption)


def _draw_with_range(
    panel: Axes, rows: pd.DataFrame, columns: tuple[str, str, str], look: dict
) -> None:
    """A line through one column, and a band between two others."""
    middle, low, high = columns
    snr, colour = rows["snr"].to_numpy(), look["color"]
    panel.fill_between(snr, rows[low], rows[high], color=colour, alpha=0.15, lw=0)
    panel.plot(snr, rows[middle], **look)


@styled
def what_it_sees(
    tokens: np.ndarray, labels: np.ndarray, classes: tuple[str, str], snr: float
) -> Picture:
    """The two tokens of a few samples, side by side, as pictures."""
    shown = np.concatenate(
        [np.flatnonzero(labels > 0)[:4], np.flatnonzero(labels < 0)[:4]]
    )
    side = int(np.sqrt(tokens.shape[-1]))
    figure, axes = canvas(2, len(shown), 2.1)
    for column, sample in enumerate(shown):
        image, noise = tokens[sample].reshape(2, side, side)
        _draw_image(axes[0, column], image, lowest=0)
        _draw_image(axes[1, column], noise, lowest=-np.abs(noise).max())
        label = classes[0] if labels[sample] > 0 else classes[1]
        axes[0, column].set_title(f"$y={labels[sample]:+.0f}$: {label}", fontsize=8)
    for row, name in enumerate(("$x^{(1)}$", r"$x^{(2)}=\xi$")):
        axes[row, 0].set_ylabel(name, rotation=0, ha="right", va="center")
    data = pd.DataFrame(tokens[shown].reshape(2 * len(shown), -1))
    caption = f"What the model sees: an image token and a noise token, SNR {snr:g}."
    return Picture(figure, data, caption)


def _draw_image(panel: Axes, image: np.ndarray, lowest: float) -> None:
    panel.imshow(image, cmap="gray", vmin=lowest, vmax=np.abs(image).max())
    panel.set(xticks=[], yticks=[])
    for edge in panel.spines.values():
        edge.set_visible(False)

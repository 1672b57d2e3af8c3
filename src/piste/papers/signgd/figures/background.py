"""Figures of the background: training curves, and the gap to Adam on either model."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from piste.claims import CONFIDENCE_PERCENT
from piste.figures import (
    BLACK,
    BLUE,
    GREEN,
    ORANGE,
    PINK,
    SKY,
    Picture,
    canvas,
    styled,
)

from ..results.background import SETTINGS, TunedRule
from ..study_names import BACKGROUND_BATCHES, BACKGROUND_MODELS, BACKGROUND_RULES
from ..thresholds import MAX_COMPARABLE_RATIO, SMALLEST_LOSS, TUNING_SEEDS

RULE_LOOKS: dict[str, tuple[str, Any]] = {
    "gd": (GREEN, ":"),
    "momentum": (GREEN, "-"),
    "signgd": (SKY, ":"),
    "sign-momentum": (BLUE, "-"),
    "adam": (PINK, "-"),
    "lion": (ORANGE, "--"),
}
"""Colour and dashes of each rule."""


@styled
def background(tuned: Mapping[tuple[str, int, str], TunedRule]) -> Picture:
    """Training loss of every rule at its best rate: a panel for each setting."""
    figure, axes = canvas(2, 2, 4.9, sharex=True, sharey=True)
    frames = []
    for panel, (model, batch) in zip(axes.ravel(), SETTINGS, strict=True):
        for rule, (colour, dashes) in RULE_LOOKS.items():
            one = tuned[model, batch, rule]
            frames.append(_draw_curves(panel, one, rule, colour, dashes))
            frames[-1]["setting"] = f"{model}, {BACKGROUND_BATCHES[batch]}"
        title = f"{BACKGROUND_MODELS[model]}, {BACKGROUND_BATCHES[batch]}"
        panel.set_title(title, loc="left")
        panel.set(yscale="log")
    for panel in axes[-1]:
        panel.set_xlabel("step $t$")
    for panel in axes[:, 0]:
        panel.set_ylabel("training loss")
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=6, fontsize=7.5)
    seeds = next(iter(tuned.values())).losses.size
    caption = (
        "Six rules on a small transformer and on a small CNN, on 8×8 digits, each at its "
        f"best learning rate of a grid (chosen by {len(TUNING_SEEDS)} seeds): training "
        f"loss of {seeds} other seeds (median and range)."
    )
    return Picture(figure, pd.concat(frames, ignore_index=True), caption)


def _draw_curves(
    panel: Axes, one: TunedRule, rule: str, colour: str, dashes: Any
) -> pd.DataFrame:
    """Median and range over seeds; a loss that is not a number leaves a gap."""
    curves = one.curves.clip(min=SMALLEST_LOSS)
    steps, median = curves.step.values, curves.median("cell").values
    low, high = curves.min("cell").values, curves.max("cell").values
    panel.fill_between(steps, low, high, color=colour, alpha=0.12, lw=0)
    name = BACKGROUND_RULES[rule]
    panel.plot(steps, median, color=colour, ls=dashes, label=name)
    frame = {"rule": name, "rate": one.rate, "step": steps, "median": median}
    return pd.DataFrame(frame | {"low": low, "high": high})


@styled
def background_gaps(table: pd.DataFrame) -> Picture:
    """How many decades each rule's loss is above Adam's, with intervals."""
    figure, axes = canvas(1, 2, 2.6, sharey=True)
    rules = [name for name in BACKGROUND_RULES.values() if name != "Adam"]
    heights = np.arange(len(rules))[::-1]
    looks = zip(
        BACKGROUND_MODELS.values(), (BLUE, ORANGE), "os", (0.13, -0.13), strict=True
    )
    for model, colour, marker, offset in looks:
        for panel, batch in zip(axes[0], BACKGROUND_BATCHES.values(), strict=True):
            rows = table[(table["model"] == model) & (table["batch"] == batch)]
            rows = rows.set_index("rule").loc[rules]
            middle = rows["decades above Adam"].to_numpy()
            reach = np.stack([middle - rows["low"], rows["high"] - middle])
            look = {"fmt": marker, "color": colour, "ms": 4, "lw": 1.2, "label": model}
            panel.errorbar(middle, heights + offset, xerr=reach, **look)
    comparable = np.log10(MAX_COMPARABLE_RATIO)
    for panel, batch in zip(axes[0], BACKGROUND_BATCHES.values(), strict=True):
        panel.axvspan(-comparable, comparable, color="#eeeeee", lw=0, zorder=-2)
        panel.axvline(0, color=BLACK, lw=0.5)
        panel.set_yticks(heights, rules)
        panel.set_title(batch, loc="left")
        panel.set_xlabel("decades of training loss above Adam")
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=2)
    caption = (
        "Training loss at the last step over Adam's, in decades: mean over seeds and its "
        f"{CONFIDENCE_PERCENT} interval. Shaded: within a factor "
        f"{MAX_COMPARABLE_RATIO:g}. Right of it, Adam is better."
    )
    return Picture(figure, table, caption)

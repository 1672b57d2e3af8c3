"""Theorem 1's rate where it is attained, and what depends on width and scale."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from piste.figures import BLACK, Picture, canvas, styled
from piste.reproduction import Evidence, Figure

from ..presets import COMPARED_KERNELS
from ..results.cells import by_shape, final_share, ratios, select
from ..results.theorem_1.runs import floor_share
from ..results.theorem_1.scale import is_resolved, shown_feature
from ..theory import ATTAINED_RATE
from ._looks import (
    GREY,
    KERNEL_LOOKS,
    LIMIT_LOOK,
    TRAINED_LOOKS,
    seeds_words,
    steps_words,
)


@styled
def acceptance(parts: Mapping[str, xr.Dataset], caption: str) -> Picture:
    """Draw the fall of log f in units of ηβt: 2 if the rate is attained, 1 is the bound."""
    figure, axes = canvas(1, 1, 2.4)
    panel, rows = axes[0, 0], []
    for name, data in parts.items():
        colour, _, dashes, _ = KERNEL_LOOKS[name]
        later = data.isel(step=slice(1, None))
        time = (later.eta * later.beta * later.step).transpose("cell", "step")
        rate = -np.log(later.loss / data.loss.isel(step=0, drop=True)) / time
        for x, y in zip(time.values, rate.values, strict=True):
            panel.plot(x, y, color=colour, ls=dashes, lw=0.8, alpha=0.7)
        panel.plot([], [], color=colour, ls=dashes, label=name)
        flat = xr.Dataset({"eta_beta_t": time, "rate": rate}).to_dataframe()
        rows.append(flat[["eta_beta_t", "rate"]].reset_index().assign(kernel=name))
    for height, label in ((ATTAINED_RATE, "attained"), (1, "the bound")):
        panel.axhline(height, color=BLACK, ls=":", lw=1)
        transform = panel.get_yaxis_transform()
        look = {"fontsize": 8, "ha": "right", "va": "bottom", "transform": transform}
        panel.text(0.99, height + 0.02, label, **look)
    panel.set(xscale="log", xlabel=r"$\eta\beta t$", ylim=(0.8, 2.3))
    panel.set_ylabel(r"$-\log(f(M_t)/f(M_0))\,/\,\eta\beta t$")
    panel.legend(loc="center left")
    return Picture(figure, pd.concat(rows), caption)


def _draw_acceptance(evidence: Evidence) -> Picture:
    data = evidence.dataset("acceptance")
    parts = {kernel: select(data, kernel=kernel) for kernel in COMPARED_KERNELS}
    shown = ", ".join(f"{ratio:g}" for ratio in ratios(data))
    caption = (
        f"The case that attains β ({seeds_words(data)}; HD/Nn = {shown}; "
        f"{steps_words(data)}): the fall of log f in units of ηβt, a line for each run. "
        f"The bound asks for 1; here theory says {ATTAINED_RATE:g}."
    )
    return acceptance(parts, caption)


@styled
def transition(frame: Any, caption: str) -> Picture:
    """Draw f_T/f₀ against HD/Nn, with the least that W^V alone can reach."""
    names = list(dict.fromkeys(frame.kernel))
    figure, axes = canvas(1, len(names), 2.9, sharey=True)
    for panel, name in zip(axes[0], names, strict=True):
        runs = frame[frame.kernel == name]
        for train, (label, colour, dashes, _) in TRAINED_LOOKS.items():
            rows = runs[runs.train == train]
            panel.plot(rows.ratio, rows.share, ".", color=colour, ms=3, alpha=0.6)
            middle = rows.groupby("ratio").share.median()
            panel.plot(middle.index, middle, "o", ls=dashes, ms=4, color=colour)
            panel.plot([], [], "o", ls=dashes, ms=4, color=colour, label=label)
        narrow = runs[(runs.train == "V") & (runs.ratio < 1)]
        middle = narrow.groupby("ratio").floor.median()
        label = r"least that $W^V$ can reach ($0$ from $HD = Nn$ on)"
        panel.plot(middle.index, middle, "_", ms=14, mew=2, color=BLACK, label=label)
        panel.axvline(1, color=GREY, lw=0.8, ls="--")
        panel.set(xscale="log", yscale="log", xlabel="$HD/Nn$", title=name)
        panel.set_xticks([0.25, 0.5, 1, 2, 4], ["¼", "½", "1", "2", "4"])
        panel.set_xticks([], minor=True)
    axes[0, 0].set_ylabel("$f(M_T)/f(M_0)$")
    handles = axes[0, 0].get_legend_handles_labels()
    figure.legend(*handles, loc="outside lower center", ncols=3)
    return Picture(figure, frame, caption)


def _draw_transition(evidence: Evidence) -> Picture:
    data = evidence.dataset("transition")
    frame = pd.concat(
        pd.DataFrame(
            {
                "kernel": kernel,
                "ratio": ratio,
                "train": runs.train.values,
                "share": final_share(runs),
                "floor": floor_share(runs),
            }
        )
        for kernel, ratio, runs in by_shape(data)
    )
    caption = (
        f"The loss after {steps_words(data)} against HD/Nn: medians and all seeds "
        f"({seeds_words(data)}). Black: the least that W^V alone can reach where HD < Nn."
    )
    return transition(frame, caption)


@styled
def scale(frame: Any, caption: str) -> Picture:
    """Draw σ_min(B₀) against the scale of Q and K; ``shown`` may be an upper limit."""
    figure, axes = canvas(1, 1, 2.5)
    panel = axes[0, 0]
    for name, (colour, marker, dashes, _) in KERNEL_LOOKS.items():
        rows = frame[frame.kernel == name]
        middle = rows.groupby("key_scale").shown.median()
        limits, known = rows[~rows.resolved], rows[rows.resolved]
        panel.plot(limits.key_scale, limits.shown, "v", **LIMIT_LOOK)
        panel.plot(known.key_scale, known.shown, ".", color=colour, ms=3)
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


def _draw_scale(evidence: Evidence) -> Picture:
    data = evidence.dataset("scale")
    resolved = is_resolved(data)
    numbers = data.assign(shown=shown_feature(data), resolved=resolved)
    caption = (
        f"HD/Nn = {float(data.columns[0] / data.rows[0]):g}: the least singular value of "
        "B₀ against the scale of W^Q and W^K at the start; medians and all seeds "
        f"({seeds_words(data)})."
    )
    if not bool(resolved.all()):
        caption += " Triangles are upper limits: what an SVD resolves."
    return scale(numbers.to_dataframe().reset_index(), caption)


ACCEPTANCE = Figure("acceptance", _draw_acceptance, ("acceptance",))
TRANSITION = Figure("transition", _draw_transition, ("transition",))
SCALE = Figure("scale", _draw_scale, ("scale",))

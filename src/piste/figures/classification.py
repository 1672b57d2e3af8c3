"""Training of classifiers: loss and accuracy over steps, kernels side by side."""

import math

import numpy as np
import pandas as pd
import xarray as xr

from .style import BLUE, ORANGE, Picture, canvas, styled

_LOOKS = {"softmax": (BLUE, "-"), "gaussian": (ORANGE, "--")}


@styled
def classification(groups: dict[str, list[xr.Dataset]], caption: str) -> Picture:
    """Training loss, test loss and test accuracy by kernel: every seed and the mean."""
    figure, axes = canvas(1, 3, 2.5)
    panels = (
        ("train_loss", "step", r"training loss", axes[0, 0]),
        ("test_loss", "test_step", r"test loss", axes[0, 1]),
        ("test_accuracy", "test_step", "test accuracy", axes[0, 2]),
    )
    rows = []
    for name, along, words, panel in panels:
        for kernel, runs in groups.items():
            colour, dash = _LOOKS.get(kernel, (BLUE, "-"))
            # A run that diverged is shorter.
            joined = xr.concat([run[name] for run in runs], "run", join="outer")
            values, steps = joined.values, joined[along].values
            panel.plot(steps, values.T, color=colour, lw=0.5, alpha=0.5)
            panel.plot(
                steps, np.nanmean(values, 0), color=colour, ls=dash, label=kernel
            )
            rows += [
                {"kernel": kernel, "seed": run.attrs["seed"], "quantity": name}
                | {"step": step, "value": float(value)}
                for run in runs
                for step, value in zip(run[along].values, run[name].values, strict=True)
            ]
        guess = 0.5 if name == "test_accuracy" else math.log(2)
        panel.axhline(guess, color="#999999", lw=0.6, ls=":")
        panel.set(xlabel="step $t$", ylabel=words)
        if name == "test_accuracy":
            panel.set_ylim(0.4, 1.0)  # chance looks like chance
    axes[0, 0].legend(loc="best")
    axes[0, 1].text(
        0.98,
        math.log(2),
        "ln 2",
        fontsize=8,
        va="bottom",
        ha="right",
        transform=axes[0, 1].get_yaxis_transform(),
        color="#666666",
    )
    return Picture(figure, pd.DataFrame(rows), caption)

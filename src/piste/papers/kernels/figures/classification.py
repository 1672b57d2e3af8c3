"""Training of classifiers: loss and accuracy over steps, kernels side by side."""

import itertools
import math
from collections.abc import Sequence

import pandas as pd
import xarray as xr

from piste.claims import Group, by_experiment
from piste.figures import BLUE, GREEN, ORANGE, PINK, Picture, canvas, styled

_COLOURS = {"softmax": BLUE, "gaussian": ORANGE}
_OTHERS = (GREEN, PINK)
_DASHES = {"softmax": "-", "gaussian": "--"}


@styled
def classification(runs: Sequence[xr.Dataset], caption: str) -> Picture:
    """Training loss, test loss and test accuracy: every seed, and the mean over seeds.

    Runs that differ in anything but the seed are drawn apart, with what differs named.
    """
    figure, axes = canvas(1, 3, 2.5)
    panels = (
        ("train_loss", "step", r"training loss", axes[0, 0]),
        ("test_loss", "test_step", r"test loss", axes[0, 1]),
        ("test_accuracy", "test_step", "test accuracy", axes[0, 2]),
    )
    groups, rows = by_experiment(runs), []
    looks = _looks(groups)
    for name, along, words, panel in panels:
        for group, (name_of_group, colour, dash) in zip(groups, looks, strict=True):
            # A run that diverged is shorter.
            joined = xr.concat([run[name] for run in group.runs], "run", join="outer")
            values, steps = joined.values, joined[along].values
            panel.plot(steps, values.T, color=colour, lw=0.5, alpha=0.5)
            # No mean where a run has ended: it would jump with those that are left.
            panel.plot(
                steps, values.mean(0), color=colour, ls=dash, label=name_of_group
            )
            rows += [
                {"kernel": name_of_group, "seed": seed, "quantity": name}
                | {"step": step, "value": float(value)}
                for seed, run in zip(group.seeds, group.runs, strict=True)
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


def _looks(groups: Sequence[Group]) -> list[tuple[str, str, str]]:
    """Label, colour and dashes of every group: the kernel, and what else differs."""
    found, used, others = [], set(), itertools.cycle(_OTHERS)
    for group in groups:
        kernel = _kernel(group)
        known = kernel in _COLOURS and kernel not in used
        colour = _COLOURS[kernel] if known else next(others)
        found.append((label(group), colour, _DASHES.get(kernel, "-.")))
        used.add(kernel)
    return found


def label(group: Group) -> str:
    """The kernel of a group of runs, and in what else it differs from the others."""
    rest = {k: v for k, v in group.differs.items() if k != "model.kernel"}
    return ", ".join([_kernel(group), *(f"{k} = {v}" for k, v in rest.items())])


def _kernel(group: Group) -> str:
    return group.runs[0].attrs["experiment"]["model"]["kernel"]

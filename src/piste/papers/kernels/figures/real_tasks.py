"""Training of classifiers on real tasks, kernels side by side."""

import itertools
from collections.abc import Sequence

import pandas as pd
import xarray as xr

from piste.claims import Group, by_experiment
from piste.figures import GREEN, PINK, Picture, canvas, styled
from piste.reproduction import Evidence, Figure

from ..results.cells import kernel_of
from ..results.real_tasks.runs import TASKS, task_words
from ..thresholds import GUESSING_LOSS
from ._looks import GREY, KERNEL_LOOKS

_OTHER_COLOURS = (GREEN, PINK)


@styled
def classification(runs: Sequence[xr.Dataset], caption: str) -> Picture:
    """Draw training loss, test loss and test accuracy: every seed, and their mean.

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
    for name, along, label, panel in panels:
        for group, (group_name, colour, dashes) in zip(groups, looks, strict=True):
            # A run that diverged is shorter.
            joined = xr.concat([run[name] for run in group.runs], "run", join="outer")
            values, steps = joined.values, joined[along].values
            panel.plot(steps, values.T, color=colour, lw=0.5, alpha=0.5)
            # No mean where a run has ended: it would jump with those that are left.
            mean = values.mean(0)
            panel.plot(steps, mean, color=colour, ls=dashes, label=group_name)
            rows += [
                {"kernel": group_name, "seed": seed, "quantity": name}
                | {"step": step, "value": float(value)}
                for seed, run in zip(group.seeds, group.runs, strict=True)
                for step, value in zip(run[along].values, run[name].values, strict=True)
            ]
        guessing = 0.5 if name == "test_accuracy" else GUESSING_LOSS
        panel.axhline(guessing, color=GREY, lw=0.6, ls=":")
        panel.set(xlabel="step $t$", ylabel=label)
        if name == "test_accuracy":
            panel.set_ylim(0.4, 1.0)  # so that chance looks like chance
    axes[0, 0].legend(loc="best")
    axes[0, 1].text(
        0.98,
        GUESSING_LOSS,
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
    looks, used, others = [], set(), itertools.cycle(_OTHER_COLOURS)
    for group in groups:
        kernel = kernel_of(group.runs[0])
        known = kernel in KERNEL_LOOKS and kernel not in used
        colour = KERNEL_LOOKS[kernel][0] if known else next(others)
        dashes = KERNEL_LOOKS[kernel][2] if kernel in KERNEL_LOOKS else "-."
        looks.append((group_label(group), colour, dashes))
        used.add(kernel)
    return looks


def group_label(group: Group) -> str:
    """The kernel of a group of runs, and in what else it differs from the others."""
    rest = {k: v for k, v in group.differs.items() if k != "model.kernel"}
    kernel = kernel_of(group.runs[0])
    return ", ".join([kernel, *(f"{k} = {v}" for k, v in rest.items())])


def classification_caption(runs: Sequence[xr.Dataset]) -> str:
    """Say which task was trained, and on how many seeds."""
    task = task_words(runs[0].attrs["experiment"]["task"])
    counts = "; ".join(
        f"{group_label(group)}, {len(group.seeds)} "
        f"{'seed' if len(group.seeds) == 1 else 'seeds'}"
        for group in by_experiment(runs)
    )
    return (
        f"{task} ({counts}). Training loss on a fixed part of the training set, test loss "
        "and test accuracy: thin lines are seeds, thick ones their mean; dotted is "
        "guessing."
    )


def _curves(task: str) -> Figure:
    """The training of one real task."""

    def draw(evidence: Evidence) -> Picture | None:
        runs = list(evidence.runs(task))
        return classification(runs, classification_caption(runs)) if runs else None

    return Figure(task, draw, needs=(task,))


FIGURES = tuple(_curves(task) for task in TASKS)

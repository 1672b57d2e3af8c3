"""Runs of real tasks: what they are in words, and the numbers that sum one up."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from piste.claims import Group, by_experiment, lasting, stages
from piste.errors import InputError
from piste.reproduction import Evidence

from .real_presets import KERNELS

TASKS = ("imdb", "pathfinder")
"""The studies of real tasks."""
PUBLISHED = {
    "imdb": {"softmax": 0.6195, "gaussian": 0.6022},
    "pathfinder": {"softmax": 0.6526, "gaussian": 0.7073},
}
"""Accuracies of Skyformer's paper at its own scale: bytes, 32×32 hard images."""
AWAY = 0.05
"""How far from ln 2 a loss is no longer that of guessing."""


def task_words(task: Mapping[str, Any]) -> str:
    """A task as an experiment's JSON has it, in words."""
    if "canvas" in task:
        return f"Pathfinder, {task['difficulty']}, {task['canvas']}×{task['canvas']}"
    if "tokeniser" in task:
        return f"IMDb, {task['length']:,} {task['tokeniser']}"
    return "another task"


def kernel_of(run: xr.Dataset) -> str:
    """The kernel that a run trained."""
    return run.attrs["experiment"]["model"]["kernel"]


def by_kernel(runs: Sequence[xr.Dataset]) -> dict[str, Group]:
    """The runs of each kernel, which may differ in the seed alone."""
    groups = by_experiment(runs)
    other = {name for group in groups for name in group.differs} - {"model.kernel"}
    if other:
        rule = "must be equal but for the kernel and the seed"
        raise InputError(f"runs: differ in {', '.join(sorted(other))}; {rule}")
    return {kernel_of(group.runs[0]): group for group in groups}


def chosen_accuracy(run: xr.Dataset) -> float:
    """Test accuracy at the record of the best validation accuracy: never the best test.

    NaN where a record is not a number.
    """
    seen = run.validation_accuracy.values
    if not seen.size or not np.isfinite(seen).all():
        return math.nan
    return float(run.test_accuracy.values[int(seen.argmax())])


def plateau(run: xr.Dataset) -> float:
    """The step at which the training loss leaves ln 2 for good; infinite if never."""
    step = stages(run).boundaries["leaves"].step
    return math.inf if step is None else float(step)


def plateau_words(run: xr.Dataset) -> str:
    """Where the training loss of a run that does not leave ln 2 is instead."""
    loss, steps = run.train_loss.values, run.step.values
    if not np.isfinite(loss).all():
        return f"the loss is no number at step {steps[~np.isfinite(loss)][0]:,}"
    if loss[-1] > math.log(2) + AWAY:
        return f"the loss rises above ln 2: {loss[-1]:.4g} at the end"
    there = lasting(np.abs(loss - math.log(2)) <= AWAY)
    first = int(np.argmax(there))
    # Its first steps may throw a run about before it settles at guessing.
    if there.any() and steps[first] <= steps[-1] / 2:
        low, high = loss[first:].min(), loss[first:].max()
        return f"stays at ln 2 from step {steps[first]:,} on: {low:.4f} to {high:.4f}"
    low, high = loss.min(), loss.max()
    return f"the loss is {low:.4g} to {high:.4g}, and {loss[-1]:.4g} at the end"


def mean_loss(run: xr.Dataset, name: str = "train_loss") -> float:
    """A loss averaged over the records; NaN if the run diverged or one is missing."""
    if run.attrs["diverged"] >= 0 or not run[name].size:
        return math.nan
    return float(run[name].mean(skipna=False))


def real_table(evidence: Evidence) -> pd.DataFrame:
    """Accuracy, plateau and time by task and kernel, next to published accuracies."""
    rows = [
        _row(task, kernel, groups[kernel])
        for task in TASKS
        if evidence.has(task) and (groups := by_kernel(evidence.runs(task)))
        for kernel in KERNELS
        if kernel in groups
    ]
    return pd.DataFrame(rows)


def _row(task: str, kernel: str, group: Group) -> dict[str, Any]:
    runs = group.runs
    accuracy = np.array([chosen_accuracy(run) for run in runs])
    left = np.array([plateau(run) for run in runs])
    return {
        "task": task_words(runs[0].attrs["experiment"]["task"]),
        "kernel": kernel,
        "seeds": len(runs),
        "test accuracy": float(accuracy.mean()),
        "sd": float(accuracy.std(ddof=1)) if len(runs) > 1 else math.nan,
        "leave ln 2": int(np.isfinite(left).sum()),
        "at step (median)": float(np.median(left)),
        "final train loss": float(np.mean([r.train_loss.values[-1] for r in runs])),
        "seconds a run": float(np.mean([run.attrs["seconds"] for run in runs])),
        "published, at its scale": PUBLISHED[task][kernel],
    }

"""Runs of real tasks: their names in words, and the numbers that sum one up."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import jax
import numpy as np
import xarray as xr

from piste.claims import Group, by_experiment, lasting, mean_interval
from piste.errors import InputError
from piste.experiment import Experiment
from piste.reproduction import Evidence
from piste.values import from_json

from ...thresholds import GUESSING_BAND, GUESSING_LOSS
from ..cells import kernel_of

TEXT_TASKS = {
    "imdb": "IMDb",
    "imdb-sgd": "IMDb by SGD",
    "imdb-bytes": "IMDb as bytes",
}
"""Studies of texts with both kernels, in words."""
TASKS = TEXT_TASKS | {"pathfinder": "Pathfinder"}
"""All studies that compare the kernels on a real task."""
MAY_DIFFER = {"model.kernel", "rule.learning-rate"}
"""What may differ between runs of two kernels: each has its own best rate."""


def task_words(task: Mapping[str, Any]) -> str:
    """Describe a task, given as in an experiment's JSON."""
    if "canvas" in task:
        size = f"{task['canvas']}×{task['canvas']}"
        length = f"{task['paddles']} strokes" if task["paddles"] else task["difficulty"]
        return f"Pathfinder, {length}, {size}"
    if "tokeniser" in task:
        return f"IMDb, {task['length']:,} {task['tokeniser']}"
    return "another task"


def by_kernel(runs: Sequence[xr.Dataset]) -> dict[str, Group]:
    """Group runs by kernel; those of one kernel may differ in the seed alone."""
    groups = by_experiment(runs)
    other = {name for group in groups for name in group.differs} - MAY_DIFFER
    if other or len({kernel_of(group.runs[0]) for group in groups}) < len(groups):
        expected = "must be equal but for the kernel, its rate and the seed"
        names = sorted(other) or ["rule.learning-rate"]
        raise InputError(f"runs: differ in {', '.join(names)}; {expected}")
    return {kernel_of(group.runs[0]): group for group in groups}


def weight_count(run: xr.Dataset) -> int:
    """How many weights the model of a run has."""
    experiment = from_json(Experiment, run.attrs["experiment"])
    task, model = experiment.task, experiment.model
    drawn = jax.eval_shape(lambda: model.draw_weights(task, key=jax.random.key(0)))
    return sum(math.prod(leaf.shape) for leaf in jax.tree.leaves(drawn))


# --- numbers of one run ----------------------------------------------------------------


def validated_accuracy(run: xr.Dataset) -> float:
    """Test accuracy at the record of the best validation accuracy: never the best test.

    NaN where a record is not a number.
    """
    validation = run.validation_accuracy.values
    if not validation.size or not np.isfinite(validation).all():
        return math.nan
    return float(run.test_accuracy.values[int(validation.argmax())])


def validated_best(run: xr.Dataset) -> float:
    """The best validation accuracy; NaN where a record is not a number."""
    return float(run.validation_accuracy.max(skipna=False))


def ends_of_plateau(evidence: Evidence, study: str) -> list[float]:
    """For each run the step at which its loss leaves ln 2 for good; infinite if never."""
    found = [t.boundaries.get("leaves") for t in evidence.timelines(study)]
    steps = [None if boundary is None else boundary.step for boundary in found]
    return [math.inf if step is None else float(step) for step in steps]


def accuracy_columns(accuracies: Sequence[float] | np.ndarray) -> dict[str, float]:
    """The mean of some test accuracies and its interval, as columns of a table."""
    low, high = mean_interval(accuracies)
    return {"test accuracy": float(np.mean(accuracies)), "low": low, "high": high}


def plateau_columns(ends: Sequence[float]) -> dict[str, Any]:
    """How many runs leave ln 2, and at which median step, as columns of a table."""
    left = [end for end in ends if np.isfinite(end)]
    return {
        "leave ln 2": f"{len(left)} of {len(ends)}",
        "at step (median)": float(np.median(left)) if left else np.nan,
    }


def plateau_words(run: xr.Dataset) -> str:
    """Say where the training loss is, for a run that does not leave ln 2."""
    loss, steps = run.train_loss.values, run.step.values
    if not np.isfinite(loss).all():
        return f"the loss is no number at step {steps[~np.isfinite(loss)][0]:,}"
    if loss[-1] > GUESSING_LOSS + GUESSING_BAND:
        return f"the loss rises above ln 2: {loss[-1]:.4g} at the end"
    guesses = lasting(np.abs(loss - GUESSING_LOSS) <= GUESSING_BAND)
    first = int(np.argmax(guesses))
    # The loss may jump about in the first steps before it settles at guessing.
    if guesses.any() and steps[first] <= steps[-1] / 2:
        low, high = loss[first:].min(), loss[first:].max()
        return f"stays at ln 2 from step {steps[first]:,} on: {low:.4f} to {high:.4f}"
    low, high = loss.min(), loss.max()
    return f"the loss is {low:.4g} to {high:.4g}, and {loss[-1]:.4g} at the end"


def mean_loss(run: xr.Dataset, name: str = "train_loss") -> float:
    """Average a loss over the records; NaN if the run diverged or one is missing."""
    if run.attrs["diverged"] >= 0 or not run[name].size:
        return math.nan
    return float(run[name].mean(skipna=False))

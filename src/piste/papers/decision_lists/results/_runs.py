"""What a recorded run was a run of."""

import jax
import xarray as xr

from piste.experiment import Experiment
from piste.training import draw
from piste.values import from_json

from ..tasks import DecisionLists, Instance
from ._cells import DISTRIBUTION_NAMES


def experiment_of(run: xr.Dataset) -> Experiment:
    """The experiment of a run."""
    return from_json(Experiment, run.attrs["experiment"])


def instance_of(experiment: Experiment) -> Instance:
    """The lists and the distribution on which an experiment trains."""
    with jax.enable_x64(True):
        return draw(experiment).data


def task_of(experiment: Experiment) -> DecisionLists:
    """The task of an experiment on decision lists."""
    task = experiment.task
    assert isinstance(task, DecisionLists)
    return task


def experiment_size_text(experiment: Experiment) -> str:
    """The sizes of a task, (L, n, M)."""
    task = task_of(experiment)
    return f"({task.vocabulary}, {task.length}, {task.list_bound})"


def distribution_text(experiment: Experiment) -> str:
    """The distribution and the sizes of a task."""
    name = DISTRIBUTION_NAMES[task_of(experiment).distribution]
    return f"{name}, {experiment_size_text(experiment)}"

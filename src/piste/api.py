"""The Python interface: a preset, a run, its stages, its verdicts."""

import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import jax
import numpy as np
import xarray as xr

from piste import claims as _claims
from piste import console
from piste.claims import Judgements, Timeline, judge, labelled
from piste.errors import InputWarning
from piste.experiment import Experiment
from piste.papers import find_paper
from piste.papers import preset as _preset
from piste.reproduction import Evidence
from piste.store import Run, Store, run_in_memory
from piste.store import open_run as _open_run
from piste.training import check_size, draw
from piste.values import change


def preset(name: str, **changes: Any) -> Experiment:
    """The experiment of a preset, with dotted fields changed.

    ``preset("paper/name", seed=3, **{"rule.learning_rate": 0.1})`` changes the seed and a
    field of the rule. Settings that a change of class drops are warned about.
    """
    changed = change(_preset(name), changes)
    for line in changed.dropped:
        warnings.warn(line, InputWarning, stacklevel=2)
    return changed.value


def run(
    experiment: Experiment, out: str | Path | None = None, *, quiet: bool = False
) -> xr.Dataset:
    """Train, and return the trajectory; with ``out`` it is stored there and resumable."""
    store = None if out is None else Store(Path(out) / "runs")
    if store is None or not (store.may_have(experiment) and store.find(experiment)):
        check_size(experiment, store and store.root)
    with console.progress(quiet=quiet) as bars:
        watch = console.watcher(bars, "training", experiment.steps)
        if store is None:
            return run_in_memory(experiment, watch)
        return store.run(experiment, watch=watch).trajectory()


def open_run(folder: str | Path) -> Run:
    """A stored run, if every byte of it is as it was written."""
    return _open_run(Path(folder))


def stages(trajectory: xr.Dataset) -> Timeline:
    """The stages of a run, with their evidence."""
    return _claims.stages(trajectory)


def verify(paper: str, trajectories: xr.Dataset | Sequence[xr.Dataset]) -> Judgements:
    """Judge a paper's claims on the user's own trajectories; prints as a table.

    Runs of different experiments are judged apart, and named by what differs.
    """
    many = (
        [trajectories] if isinstance(trajectories, xr.Dataset) else list(trajectories)
    )
    found = find_paper(paper)
    evidence = Evidence(runs={found.main: labelled(many)})
    return judge(found.bring("claims"), evidence)


def initial_state(experiment: Experiment) -> dict[str, np.ndarray]:
    """The data and the initial weights as NumPy arrays, to check a run with other code.

    Names are those of the task's data and the model's weights; arrays inside others have
    dotted names, such as ``train.tokens``, and test data begin with ``test_``.
    """
    start = draw(experiment)
    with jax.enable_x64(True):
        arrays = _named_arrays(start.data) | _named_arrays(start.weights)
        # A second copy of what the data hold already would say nothing.
        held = (start.data, getattr(start.data, "test", None))
        if start.test is not None and not any(start.test is part for part in held):
            arrays |= _named_arrays(start.test, "test_")
    return {name: np.asarray(array) for name, array in arrays.items()}


def _named_arrays(tree: Any, prefix: str = "") -> dict[str, Any]:
    """All arrays by their dotted names, such as ``blocks.0.query``.

    Data and weights that are stored otherwise than one would read them say so by a
    method ``arrays``.
    """
    if hasattr(tree, "arrays"):
        return {prefix + name: part for name, part in tree.arrays().items()}
    leaves = jax.tree.leaves_with_path(tree)
    return {
        prefix + jax.tree_util.keystr(path, simple=True, separator="."): leaf
        for path, leaf in leaves
    }

"""A second stage on disk: a file for each snapshot, and the state to go on from."""

import shutil
from collections.abc import Callable
from pathlib import Path

import jax
import numpy as np

from piste.dynamics import State, System
from piste.errors import InputError
from piste.experiment import Experiment
from piste.store import CHECKPOINT, alone, check_shares, load_state, save_state
from piste.store.runs import Watch

from .two_stage import Stage, go_on, second_system

SHARES = "shares"
"""The file that says over how many devices the work is shared out."""


def stored_stage(
    folder: Path,
    experiment: Experiment,
    kernel: str,
    times: np.ndarray,
    begin: Callable[[], State],
    watch: Callable[[], Watch],
    fresh: bool = False,
) -> Stage:
    """The stage of a folder: read, or trained to its end from where it was stopped.

    ``begin`` gives the state of the first stage; it is asked for only where nothing of
    the second is there, and ``watch`` only where something is to be trained.
    """
    folder.parent.mkdir(parents=True, exist_ok=True)
    # Surveys of other planes use the same stages.
    with alone(folder.with_suffix(".lock")), jax.enable_x64(True):
        if fresh:
            shutil.rmtree(folder, ignore_errors=True)
        system = second_system(experiment, kernel)
        state, done = _reached(folder, system, begin)
        if done < times.size:
            state = _train(folder, system, times, state, done, watch())
        _check(experiment, kernel, state)
        params = [_snapshot(folder, index, system) for index in range(times.size)]
        return Stage.of(
            kernel, system, int(state.step) - int(times[-1]) + times, params
        )


def _reached(folder: Path, system: System, begin) -> tuple[State, int]:
    """The last state that was written, and how many snapshots it has behind it."""
    path, shares = folder / CHECKPOINT, folder / SHARES
    if not path.exists():
        return begin(), 0
    check_shares(system.form.shares(), int(shares.read_text()))
    return load_state(path, system.start())


def _train(folder, system: System, times, state: State, done: int, watch: Watch):
    """Go on; the snapshot is written before the state that says that it is there."""
    folder.mkdir(exist_ok=True)
    (folder / SHARES).write_text(str(system.form.shares()))
    last = state
    for index, last, loss in go_on(system, state, times, done):
        save_state(_place(folder, index), _bare(last), 1)
        save_state(folder / CHECKPOINT, last, index + 1)
        watch(int(times[index]), loss)
    return last


def _check(experiment: Experiment, kernel: str, state: State) -> None:
    if int(state.diverged) >= 0:
        raise InputError(
            f"second stage with {kernel}, seed {experiment.seed}: the loss is not finite "
            f"at step {int(state.diverged)}; must train to its end, as with a smaller "
            "learning rate"
        )


def _place(folder: Path, index: int) -> Path:
    return folder / f"snapshot-{index:03d}.npz"


def _bare(state: State) -> State:
    """Without the rule's memory, which is twice as large under Adam."""
    return State(state.params, (), state.step, state.diverged, state.still)


def _snapshot(folder: Path, index: int, system: System):
    return load_state(_place(folder, index), _bare(system.start()))[0].params

"""A second stage on disk: a file for each snapshot, and the state to go on from."""

import dataclasses
from collections.abc import Callable
from pathlib import Path

import jax
import numpy as np

from piste.errors import InputError
from piste.experiment import Experiment
from piste.store import (
    CHECKPOINT,
    BuildFolder,
    Fresh,
    Manifest,
    ProgressCallback,
    ResultAddress,
    StoredResult,
    building,
    check_shares,
    load_state,
    read_progress,
    save_state,
    unseal,
)
from piste.training import State, System, shares_of
from piste.values import to_json

from .two_stage import TrainingPhase, continue_training, second_system


def stored_stage(
    place: ResultAddress,
    experiment: Experiment,
    kernel: str,
    times: np.ndarray,
    begin: Callable[[], State],
    watch: Callable[[], ProgressCallback],
    fresh: Fresh = False,
) -> TrainingPhase:
    """The stage of a place: read, or trained to its end from where it was stopped.

    ``begin`` gives the state of the first stage; it is asked for only where nothing of
    the second is there, and ``watch`` only where something is to be trained.
    """
    with jax.enable_x64(True):
        system = second_system(experiment, kernel)
        found = place.find_for(fresh)
        if found is None:
            begun = Manifest(
                name=place.name,
                what=place.what,
                experiment=[to_json(experiment), kernel, times.tolist()],
                inputs=place.inputs,
                kind=place.kind,
                shares=shares_of(system.form),
            )
            found = _build(place, begun, system, times, begin, watch, fresh)
        found.check()
        state, _ = load_state(found.folder / CHECKPOINT, system.start())
        _check_end(experiment, kernel, state)
        params = [_snapshot(found.folder, index, system) for index in range(times.size)]
        return TrainingPhase.of(
            kernel, system, int(state.step) - int(times[-1]) + times, params
        )


def _build(
    place: ResultAddress,
    begun: Manifest,
    system: System,
    times,
    begin,
    watch,
    fresh: Fresh,
) -> StoredResult:
    # Surveys of other planes use the same stages.
    with building(place, fresh, _check_snapshots) as site:
        found = place.find_for(fresh) or site.finish_again()
        return found or _train(site, begun, system, times, begin, watch)


def _train(
    site: BuildFolder, begun: Manifest, system: System, times: np.ndarray, begin, watch
) -> StoredResult:
    """Go on; the snapshot is written before the state that says that it is there."""
    first, done = _reached(site.folder, system, begin)
    manifest, last = site.begin(begun), first
    check_shares(begun.shares, manifest.shares)
    told = watch() if done < times.size else None
    for index, last, loss in continue_training(system, first, times, done):
        save_state(_place(site.folder, index), _bare(last), 1)
        save_state(site.folder / CHECKPOINT, last, index + 1)
        if told is not None:
            told(int(times[index]), loss)
    steps, diverged = int(last.step), int(last.diverged)
    return site.finish(dataclasses.replace(manifest, steps=steps, diverged=diverged))


def _reached(folder: Path, system: System, begin) -> tuple[State, int]:
    """The last state that was written, and how many snapshots it has behind it."""
    path = folder / CHECKPOINT
    return load_state(path, system.start()) if path.exists() else (begin(), 0)


def _check_snapshots(folder: Path, manifest: Manifest) -> None:
    """Refuse to go on where a snapshot before the checkpoint is not whole."""
    for index in range(read_progress(folder / CHECKPOINT).chunks):
        unseal(_place(folder, index))


def _check_end(experiment: Experiment, kernel: str, state: State) -> None:
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
    return dataclasses.replace(state, rule=())


def _snapshot(folder: Path, index: int, system: System):
    return load_state(_place(folder, index), _bare(system.start()))[0].params

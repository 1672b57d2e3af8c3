"""A store: run directories, each complete or absent, found by what they ran."""

import dataclasses
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import filelock
import jax
import numpy as np
import xarray as xr

from piste.dynamics import Chunk, Plan, State, System, build, choose_form, train
from piste.errors import InputError
from piste.experiment import Experiment

from . import checkpoint, trajectory
from .manifest import Manifest, describe, read_manifest

CHECKPOINT = "checkpoint.npz"
FINAL = "final.npz"
Watch = Callable[[int, float], None]
"""Told the step and the training loss after every chunk."""


@dataclass(frozen=True)
class Run:
    """A complete run on disk."""

    folder: Path
    manifest: Manifest

    @property
    def experiment(self) -> Experiment:
        """What was run."""
        return self.manifest.value()

    def trajectory(self) -> xr.Dataset:
        """What was measured."""
        data = trajectory.read(self.folder)
        return data.assign_attrs(**attributes(self.manifest))


def attributes(manifest: Manifest) -> dict:
    """What a trajectory says of the run that made it."""
    return {
        "name": manifest.name,
        "form": manifest.form,
        "diverged": manifest.diverged,
        "seed": manifest.experiment["seed"],
        "digest": manifest.value().digest,
    }


@dataclass(frozen=True)
class Store:
    """A folder of runs."""

    root: Path

    def find(self, experiment: Experiment) -> Run | None:
        """The complete run of an experiment, whatever its name."""
        ending = experiment.digest[:8]
        for folder in sorted(self.root.glob(f"*-{ending}")):
            manifest = read_manifest(folder)
            if manifest.value() == experiment:
                return Run(folder, manifest)
        return None

    def interrupted(self, experiment: Experiment) -> Manifest | None:
        """What is known of a run of this experiment that has not ended."""
        ending = experiment.digest[:8]
        found = sorted(self.root.glob(f"*-{ending}.partial"))
        return read_manifest(found[0]) if found else None

    def check(self, experiment: Experiment) -> None:
        """Refuse what cannot be run or stored, before anything else happens."""
        choose_form(experiment)
        make_folder(self.root)

    def run(
        self,
        experiment: Experiment,
        name: str = "run",
        watch: Watch = lambda step, loss: None,
        fresh: bool = False,
    ) -> Run:
        """Return the stored run, or train: from the last checkpoint if there is one."""
        if not fresh and (found := self.find(experiment)):
            return found
        self.check(experiment)
        folder = self.root / f"{name}-{experiment.digest[:8]}"
        partial = folder.with_name(folder.name + ".partial")
        with _alone(partial.with_suffix(".lock"), folder):
            if fresh:
                shutil.rmtree(partial, ignore_errors=True)
            manifest = _train(experiment, name, partial, watch)
            shutil.rmtree(folder, ignore_errors=True)
            partial.rename(folder)
        return Run(folder, manifest)


@contextmanager
def _alone(path: Path, folder: Path) -> Iterator[None]:
    """Hold a lock that the system releases even when the process is killed."""
    lock = filelock.FileLock(path)
    try:
        lock.acquire(timeout=0)
    except filelock.Timeout:
        raise InputError(
            f"run {folder}: another process is running it; must be one at a time"
        ) from None
    try:
        yield
    finally:
        path.unlink(missing_ok=True)
        lock.release()


def make_folder(path: Path) -> None:
    """Make a folder that can be written, or say in one line why not."""
    try:
        path.mkdir(parents=True, exist_ok=True)
        probe = path / ".piste-can-write"
        probe.touch()
        probe.unlink()
    except OSError as error:
        raise InputError(
            f"out = {path}: must be a folder that can be written ({error.strerror})"
        ) from None


def _train(experiment: Experiment, name: str, folder: Path, watch: Watch) -> Manifest:
    began = time.perf_counter()
    with jax.enable_x64(True):
        system, plan = build(experiment), Plan.of(experiment)
        state, start, manifest = _resume(experiment, name, folder, system)
        before = manifest.seconds
        for chunk in train(system, plan, state, start):
            if chunk.index == 0:
                _begin(folder, system, plan, chunk)
            seconds = before + time.perf_counter() - began
            manifest = _commit(folder, system, plan, chunk, manifest, seconds)
            watch(manifest.steps, float(chunk.records["train_loss"][-1]))
    _finish(folder, manifest)
    return manifest


def _resume(
    experiment: Experiment, name: str, folder: Path, system: System
) -> tuple[State, int, Manifest]:
    """The state to go on from, the chunk that comes next, and the manifest so far."""
    start = system.start()
    path = folder / CHECKPOINT
    if not path.exists():
        return start, 0, describe(experiment, name, choose_form(experiment))
    manifest = read_manifest(folder)
    state, chunks = checkpoint.load(path, start)
    return state, chunks, manifest


def _begin(folder: Path, system: System, plan: Plan, chunk: Chunk) -> None:
    folder.mkdir(exist_ok=True)
    trajectory.create(folder, system, plan, chunk)


def _commit(
    folder: Path,
    system: System,
    plan: Plan,
    chunk: Chunk,
    manifest: Manifest,
    seconds: float,
) -> Manifest:
    """Write the records, then the manifest, and the checkpoint last.

    A crash before the last write repeats the chunk and writes the same again.
    """
    trajectory.write(folder, system.probes(), plan, chunk)
    steps = int(plan.times[plan.block(chunk.index)][-1])
    diverged = int(chunk.state.diverged)
    manifest = dataclasses.replace(
        manifest, steps=steps, seconds=round(seconds, 3), diverged=diverged
    )
    manifest.write(folder)
    checkpoint.save(folder / CHECKPOINT, chunk.state, chunk.index + 1)
    return manifest


def _finish(folder: Path, manifest: Manifest) -> None:
    if manifest.diverged >= 0:
        trajectory.cut(folder, manifest.diverged)
    (folder / CHECKPOINT).replace(folder / FINAL)


def run_in_memory(
    experiment: Experiment, watch: Watch = lambda step, loss: None
) -> xr.Dataset:
    """Train without a store; everything recorded stays in memory."""
    with jax.enable_x64(True):
        system, plan = build(experiment), Plan.of(experiment)
        chunks = []
        for chunk in train(system, plan, system.start()):
            chunks.append(chunk)
            steps = int(plan.times[plan.block(chunk.index)][-1])
            watch(steps, float(np.asarray(chunk.records["train_loss"])[-1]))
    manifest = describe(experiment, "in memory", choose_form(experiment))
    manifest = dataclasses.replace(manifest, diverged=int(chunks[-1].state.diverged))
    data = trajectory.in_memory(system, plan, chunks)
    return data.assign_attrs(**attributes(manifest))

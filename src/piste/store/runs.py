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

from piste.dynamics import Plan, State, System, build, choose_form, load_data, train
from piste.errors import InputError
from piste.experiment import Experiment
from piste.values import to_json

from . import checkpoint, trajectory
from .manifest import FILE, Manifest, read_manifest

CHECKPOINT = "checkpoint.npz"
"""The state after the last chunk; in a complete run, the final one."""
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
        try:
            data = trajectory.read(self.folder)
        except (OSError, ValueError, KeyError) as error:
            raise InputError(f"run {self.folder}: damaged ({error})") from None
        return data.assign_attrs(**attributes(self.manifest))


def attributes(manifest: Manifest) -> dict:
    """What a trajectory says of the run that made it."""
    return {
        "name": manifest.name,
        "form": manifest.form,
        "diverged": manifest.diverged,
        "ended": manifest.ended,
        "seed": manifest.experiment["seed"],
        "experiment": manifest.experiment,
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
        partial = self._partial(experiment)
        if partial is None or not (partial / CHECKPOINT).exists():
            return None
        return read_manifest(partial) if (partial / FILE).exists() else None

    def _partial(self, experiment: Experiment) -> Path | None:
        """The folder of an unfinished run, whatever its name."""
        found = sorted(self.root.glob(f"*-{experiment.digest[:8]}.partial"))
        return found[0] if found else None

    def check(self, experiment: Experiment) -> None:
        """Refuse what cannot be run or stored, before anything else happens."""
        choose_form(experiment)
        load_data(experiment)
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
        ending = experiment.digest[:8]
        with alone(self.root / f".{ending}.lock"):
            partial = (
                self._partial(experiment) or self.root / f"{name}-{ending}.partial"
            )
            if fresh:
                shutil.rmtree(partial, ignore_errors=True)
            manifest = _train(experiment, name, partial, watch)
            folder = partial.with_suffix("")
            shutil.rmtree(folder, ignore_errors=True)
            partial.rename(folder)
        return Run(folder, manifest)


@contextmanager
def alone(path: Path) -> Iterator[None]:
    """Hold a lock that the system releases even when the process is killed."""
    lock = filelock.FileLock(path)
    try:
        lock.acquire(timeout=0)
    except filelock.Timeout:
        raise InputError(
            f"out = {path.parent}: another process is running the same; "
            "must be one at a time"
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
                folder.mkdir(exist_ok=True)
                trajectory.create(folder, system, plan, chunk)
                manifest.write(folder)  # how it was begun, before there is a checkpoint
            trajectory.write(folder, system.probes(), plan, chunk)
            # Last, so that a crash before it repeats the chunk and writes the same.
            checkpoint.save(folder / CHECKPOINT, chunk.state, chunk.index + 1)
            state, seconds = chunk.state, before + time.perf_counter() - began
            manifest = _progress(manifest, system, state, seconds)
            manifest.write(folder)
            watch(manifest.steps, float(chunk.records["train_loss"][-1]))
    manifest = _progress(manifest, system, state, manifest.seconds)
    if manifest.diverged >= 0:
        trajectory.cut(folder, manifest.diverged)
    manifest.write(folder)
    return manifest


def _progress(
    manifest: Manifest, system: System, state: State, seconds: float
) -> Manifest:
    return dataclasses.replace(
        manifest,
        steps=int(state.step),
        diverged=int(state.diverged),
        ended=system.ending(state),
        seconds=round(seconds, 3),
    )


def _resume(
    experiment: Experiment, name: str, folder: Path, system: System
) -> tuple[State, int, Manifest]:
    """The state to go on from, the chunk that comes next, and the manifest so far."""
    start, path = system.start(), folder / CHECKPOINT
    state, chunks = checkpoint.load(path, start) if path.exists() else (start, 0)
    if chunks and (folder / FILE).exists():
        manifest = read_manifest(folder)
        check_shares(system.form.shares(), manifest.shares)
        _check_data(_data(experiment), manifest.data)
        return state, chunks, manifest
    return state, chunks, _describe(experiment, name, system)


def _describe(experiment: Experiment, name: str, system: System) -> Manifest:
    """The manifest of a run that begins now."""
    return Manifest(
        name=name,
        experiment=to_json(experiment),
        form=choose_form(experiment),
        shares=system.form.shares(),
        data=_data(experiment),
    )


def _data(experiment: Experiment) -> str:
    return getattr(load_data(experiment), "digest", "")


def _check_data(now: str, before: str) -> None:
    if now != before:
        raise InputError(
            f"data = {now}: the interrupted run was begun with others, {before}; "
            "must be the same (--fresh runs again from step 0)"
        )


def check_shares(now: int, before: int) -> None:
    """Another number of devices would go on to other bits."""
    if now != before:
        raise InputError(
            f"devices = {now}: the interrupted run was shared over {before}; "
            "must be the same for the same bits (--fresh runs again from step 0)"
        )


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
    manifest = _describe(experiment, "in memory", system)
    manifest = _progress(manifest, system, chunks[-1].state, 0.0)
    data = trajectory.in_memory(system, plan, chunks)
    return data.assign_attrs(**attributes(manifest))

"""A store: runs on disk, each complete or absent, found by what they ran."""

import dataclasses
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jax
import numpy as np
import xarray as xr

from piste.errors import InputError
from piste.experiment import Experiment
from piste.training import (
    Plan,
    State,
    System,
    build,
    choose_form,
    load_data,
    shares_of,
    train,
)
from piste.values import to_json

from . import checkpoint, chunks, trajectory
from .checkpoint import CHECKPOINT
from .files import make_folder, make_synced
from .folders import (
    PARTIAL,
    BuildFolder,
    Fresh,
    ResultAddress,
    StoredResult,
    building,
    read_complete,
    resumable,
)
from .formats import refuse_other_formats
from .inputs import Inputs, inputs_of
from .manifest import BITS, RUN, Manifest, differences, environment
from .progress import ProgressCallback, no_progress


@dataclass(frozen=True)
class Run:
    """A complete run on disk."""

    folder: Path
    manifest: Manifest
    notes: tuple[str, ...] = ()
    """What must be said of it: another environment, data that were not compared."""

    @property
    def experiment(self) -> Experiment:
        """What was run."""
        return self.manifest.value()

    def check(self) -> None:
        """Refuse a run of which a byte is not as it was written."""
        StoredResult(self.folder, self.manifest).check()

    def trajectory(self) -> xr.Dataset:
        """What was measured; all files are compared with their digests first."""
        self.check()
        return trajectory.read(self.folder).assign_attrs(notes=list(self.notes))


def open_run(folder: Path) -> Run:
    """The run of a folder, whole."""
    if folder.suffix == PARTIAL:
        raise InputError(f"run {folder}: not complete; piste run goes on with it")
    manifest = read_complete(folder, RUN)
    run = Run(folder, manifest, manifest.notes())
    run.check()
    return run


def attributes(manifest: Manifest) -> dict[str, Any]:
    """What a trajectory says of the run that made it."""
    return {
        "name": manifest.name,
        "form": manifest.form,
        "diverged": manifest.diverged,
        "ended": manifest.ended,
        "still": manifest.still,
        "seed": manifest.experiment["seed"],
        "experiment": manifest.experiment,
        "digest": manifest.what,
    }


@dataclass(frozen=True)
class PartialRun:
    """A run that has not ended: the steps that it has, and what must be said of it."""

    steps: int
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Store:
    """A folder of runs."""

    root: Path

    def _place(self, experiment: Experiment, name: str = "run") -> ResultAddress:
        inputs = inputs_of(experiment)
        return ResultAddress(self.root, name, experiment.digest, inputs, RUN)

    def may_have(self, experiment: Experiment) -> bool:
        """Whether a run of this experiment was ever begun; draws and reads no data."""
        refuse_other_formats(self.root)
        return any(self.root.glob(f"*-{experiment.digest[:8]}-*"))

    def find(self, experiment: Experiment) -> Run | None:
        """The complete run of an experiment and its inputs, whatever its name."""
        run = _run(self._place(experiment).find())
        if run is not None:
            run.check()
        return run

    def has(self, experiment: Experiment) -> bool:
        """Whether there is such a run; its files are measured, not read."""
        return self._place(experiment).find() is not None

    def interrupted(
        self, experiment: Experiment, fresh: Fresh = False
    ) -> PartialRun | None:
        """What is known of a run of this experiment that has not ended."""
        folder = self._place(experiment).folder()
        partial = folder.with_name(folder.name + PARTIAL)
        manifest = resumable(partial, RUN, chunks.check, fresh)
        if manifest is None or not (partial / CHECKPOINT).exists():
            return None
        changed = differences(manifest.environment, environment())
        notes = (f"it was begun in another environment: {changed}; {BITS}",)
        steps = checkpoint.progress(partial / CHECKPOINT).steps
        return PartialRun(steps, notes if changed else ())

    def check(self, experiment: Experiment) -> None:
        """Refuse what cannot be run or stored, before anything else happens."""
        choose_form(experiment)
        load_data(experiment)
        make_folder(self.root)

    def run(
        self,
        experiment: Experiment,
        name: str = "run",
        watch: ProgressCallback = no_progress,
        fresh: Fresh = False,
    ) -> Run:
        """Return the stored run, or train: from the last checkpoint if there is one."""
        place = self._place(experiment, name)
        if found := _run(place.find_for(fresh)):
            return found
        self.check(experiment)
        with building(place, fresh, chunks.check) as site:
            # Another process may have ended it before the lock was ours.
            found = place.find_for(fresh) or site.finish_again((chunks.FOLDER,))
            found = found or _train(site, experiment, place, watch)
        return Run(found.folder, found.manifest, found.notes)


def _run(found: StoredResult | None) -> Run | None:
    return Run(found.folder, found.manifest, found.notes) if found else None


def _train(
    site: BuildFolder,
    experiment: Experiment,
    place: ResultAddress,
    watch: ProgressCallback,
) -> StoredResult:
    began = time.perf_counter()
    with jax.enable_x64(True):
        system, plan = build(experiment), Plan.of(experiment)
        manifest = _describe(experiment, place.name, place.inputs, system)
        manifest = site.begin(manifest)
        check_shares(shares_of(system.form), manifest.shares)
        state, start, before = _reached(site.folder, system)
        if start:
            check_probes(system, chunks.load(site.folder, 0))
        make_synced(site.folder / chunks.FOLDER)
        for chunk in train(system, plan, state, start):
            seconds = before + time.perf_counter() - began
            chunks.save(site.folder, chunk)
            # Last, so that a crash before it repeats the chunk and writes the same.
            path, start = site.folder / CHECKPOINT, chunk.index + 1
            checkpoint.save(path, chunk.state, start, seconds)
            state = chunk.state
            watch(int(state.step), float(chunk.records["train_loss"][-1]))
    manifest = _ended(manifest, system, state, before + time.perf_counter() - began)
    _write_trajectory(site.folder, system, plan, start, manifest)
    return site.finish(manifest, without=(chunks.FOLDER,))


def _reached(folder: Path, system: System) -> tuple[State, int, float]:
    """The state to go on from, the chunk that comes next, and the seconds so far."""
    state, path = system.start(), folder / CHECKPOINT
    if not path.exists():
        return state, 0, 0.0
    state, start = checkpoint.load(path, state)
    return state, start, checkpoint.progress(path).seconds


def _write_trajectory(
    folder: Path, system: System, plan: Plan, count: int, manifest: Manifest
) -> None:
    records = (chunks.load(folder, index) for index in range(count))
    last = trajectory.last_step(plan, count, manifest.diverged)
    trajectory.write(folder, system, plan, records, last, attributes(manifest))


def _ended(
    manifest: Manifest, system: System, state: State, seconds: float
) -> Manifest:
    return dataclasses.replace(
        manifest,
        steps=int(state.step),
        diverged=int(state.diverged),
        ended=system.ending(state),
        still=int(state.still),
        seconds=round(seconds, 3),
    )


def _describe(
    experiment: Experiment, name: str, inputs: Inputs, system: System
) -> Manifest:
    """The manifest of a run that begins now."""
    return Manifest(
        name=name,
        what=experiment.digest,
        experiment=to_json(experiment),
        inputs=inputs,
        shares=shares_of(system.form),
    )


def check_shares(now: int, before: int) -> None:
    """Another number of devices would go on to other bits."""
    if now != before:
        raise InputError(
            f"this run was started on {before} devices and can only be resumed on "
            f"{before} (found {now}); --fresh runs again from step 0"
        )


def check_probes(system: System, records: Mapping[str, np.ndarray]) -> None:
    """Records of other probes, of another version of piste, cannot be continued."""
    now = {probe.name for probe in system.probes()}
    if other := sorted(now ^ set(records)):
        raise InputError(
            f"this run was started by a piste that measures other things "
            f"({', '.join(other)}) and cannot be resumed; --fresh runs again from step 0"
        )


def run_in_memory(
    experiment: Experiment, watch: ProgressCallback = no_progress
) -> xr.Dataset:
    """Train without a store; everything recorded stays in memory."""
    with jax.enable_x64(True):
        system, plan = build(experiment), Plan.of(experiment)
        kept = []
        for chunk in train(system, plan, system.start()):
            kept.append(chunk)
            steps = int(plan.times[plan.block(chunk.index)][-1])
            watch(steps, float(np.asarray(chunk.records["train_loss"])[-1]))
    inputs = Inputs(form=choose_form(experiment))
    manifest = _describe(experiment, "in memory", inputs, system)
    manifest = _ended(manifest, system, kept[-1].state, 0.0)
    data = trajectory.in_memory(system, plan, kept)
    return data.assign_attrs(**attributes(manifest))

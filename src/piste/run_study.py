"""Run one study of a paper, of whichever kind, or open it where it is stored."""

import math
import shutil
import time
from collections.abc import Callable
from pathlib import Path

import jax
import xarray as xr

from piste.landscape.survey import Survey
from piste.landscape.survey import run as run_survey
from piste.papers import Study
from piste.store import Store, describe_parts, in_parts, make_folder, parts_there
from piste.sweeps import run_sweep
from piste.values import digest, to_json

Watch = Callable[[int, float], None]


def is_stored(study: Study, folder: Path) -> bool:
    """Whether nothing of a study is left to run."""
    if study.experiments and study.landscape is None:
        store = Store(folder / "runs")
        return all(store.find(experiment) for experiment in study.experiments)
    return parts_there(_parts_folder(study, folder), _parts(study))


def _parts(study: Study) -> int:
    if study.landscape is not None:
        return study.landscape.pairs()
    if study.calculation is not None:
        return study.calculation.parts()
    return len(study.sweep.batches(study.batch))


def _parts_folder(study: Study, folder: Path) -> Path:
    """A folder for each way to run a sweep: what is kept of it counts too."""
    if study.landscape is not None:
        return _survey_of(study, folder).folder
    if study.calculation is not None:
        way = [type(study.calculation).__name__, digest(study.calculation)]
        return folder / "calculations" / f"{study.name}-{digest(way)[:8]}"
    way = [study.sweep.digest, list(study.probes), study.batch, study.until]
    return folder / "sweeps" / f"{study.name}-{digest(way)[:8]}"


def run_study(
    study: Study, folder: Path, watch: Watch, fresh: bool = False
) -> list[xr.Dataset] | xr.Dataset:
    """Run a study, or open it; ``watch`` is told the steps of the whole of it."""
    if study.sweep is not None:
        place = _parts_folder(study, folder)
        return run_sweep(
            study.sweep, place, study.probes, study.batch, watch, fresh, study.until
        )
    if study.calculation is not None:
        return _calculate(study, _parts_folder(study, folder), watch, fresh)
    if study.landscape is not None:
        return _survey(_survey_of(study, folder), watch, fresh)
    store, found, done = Store(folder / "runs"), [], 0
    for experiment in study.experiments:
        name = f"{study.name}-seed={experiment.seed}"
        run = store.run(experiment, name, _offset(watch, done), fresh)
        found.append(run.trajectory().load().assign_attrs(seconds=run.manifest.seconds))
        done += experiment.steps
        watch(done, float(found[-1].train_loss[-1]))
    return found


def _calculate(study: Study, folder: Path, watch: Watch, fresh: bool) -> xr.Dataset:
    make_folder(folder)
    describe_parts(folder, 1, to_json(study.calculation))

    def make(index: int) -> xr.Dataset:
        began = time.perf_counter()
        with jax.enable_x64(True):
            part = study.calculation.part(index)
        return part.assign_attrs(seconds=time.perf_counter() - began)

    def after(index: int, part: xr.Dataset) -> None:
        watch(index + 1, math.nan)

    parts = in_parts(folder, study.calculation.parts(), make, after, fresh)
    joined = xr.concat(parts, "cell", join="outer", combine_attrs="drop")
    return joined.assign_attrs(seconds=sum(part.attrs["seconds"] for part in parts))


def _survey_of(study: Study, folder: Path) -> Survey:
    return Survey(study.base, study.landscape, folder, study.name)


def _survey(survey: Survey, watch: Watch, fresh: bool) -> list[xr.Dataset]:
    """Compare loss surfaces; one bar counts the steps of training and the points."""
    settings, steps, done = survey.settings, survey.experiment.steps, 0

    def bars(name: str, total: int) -> Watch:
        nonlocal done
        begun, done = done, done + total
        return _offset(watch, begun)

    def after(index: int, part: xr.Dataset) -> None:
        nonlocal done
        done = settings.work(steps, index + 1)
        watch(done, math.nan)
        model, direction = divmod(index, settings.planes())
        if (
            direction == settings.planes() - 1
        ):  # its stages are large, and needed no more
            for kernel in survey.kernels:
                shutil.rmtree(survey.stage(model, kernel), ignore_errors=True)

    return run_survey(survey, bars, fresh, after)


def _offset(watch: Watch, done: int) -> Watch:
    return lambda step, loss: watch(done + step, loss)

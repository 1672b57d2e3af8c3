"""Run one study of a paper, of whichever kind, or open it where it is stored."""

import math
import time
from collections.abc import Callable
from pathlib import Path

import jax
import xarray as xr

from piste.landscape.survey import Survey
from piste.landscape.survey import run as run_survey
from piste.papers import Study
from piste.store import Parts, Store, discard, inputs_of
from piste.sweeps import run_sweep, sweep_parts
from piste.values import digest, to_json

Watch = Callable[[int, float], None]


def is_stored(study: Study, folder: Path) -> bool:
    """Whether nothing of a study is left to run."""
    if study.experiments and study.landscape is None:
        store = Store(folder / "runs")
        return all(store.has(experiment) for experiment in study.experiments)
    return _parts(study, folder).find() is not None


def _parts(study: Study, folder: Path) -> Parts:
    """The parts of a study that is not made of runs."""
    if study.landscape is not None:
        return _survey_of(study, folder).parts()
    if study.calculation is not None:
        return _calculation_parts(study, folder)
    root, kept = folder / "sweeps", study.probes
    return sweep_parts(study.sweep, root, kept, study.batch, study.until, study.name)


def _calculation_parts(study: Study, folder: Path) -> Parts:
    calculation, root = study.calculation, folder / "calculations"
    what = digest([type(calculation).__name__, digest(calculation)])
    inputs = inputs_of(settings=[calculation])
    count = calculation.parts()
    return Parts(root, study.name, what, to_json(calculation), inputs, count)


def run_study(
    study: Study, folder: Path, watch: Watch, fresh: bool = False
) -> list[xr.Dataset] | xr.Dataset:
    """Run a study, or open it; ``watch`` is told the steps of the whole of it."""
    if study.sweep is not None:
        return run_sweep(
            study.sweep,
            folder / "sweeps",
            study.probes,
            study.batch,
            watch,
            fresh,
            study.until,
            study.name,
        )
    if study.calculation is not None:
        return _calculate(study, folder, watch, fresh)
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
    def make(index: int, attempt: str) -> xr.Dataset:
        began = time.perf_counter()
        with jax.enable_x64(True):
            part = study.calculation.part(index)
        return part.assign_attrs(seconds=time.perf_counter() - began)

    def after(index: int, part: xr.Dataset) -> None:
        watch(index + 1, math.nan)

    parts = _calculation_parts(study, folder).compute(make, after, fresh)
    joined = xr.concat(parts, "cell", join="outer", combine_attrs="drop")
    return joined.assign_attrs(
        seconds=sum(part.attrs["seconds"] for part in parts),
        notes=parts[0].attrs["notes"],
    )


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
                discard(survey.stage(model, kernel).folder())

    return run_survey(survey, bars, fresh, after)


def _offset(watch: Watch, done: int) -> Watch:
    return lambda step, loss: watch(done + step, loss)

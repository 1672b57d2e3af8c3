"""Kernels compared: planes through weights of equal loss, paired by model.

A model is a seed. Its first stage is a run of the store, its second stages are stored
as snapshots, and the surfaces of all kernels on one plane as a part: what is interrupted
goes on with the first of these that is missing.
"""

import functools
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import xarray as xr

from piste.errors import field_error
from piste.experiment import Experiment
from piste.store import (
    STAGE,
    Fresh,
    Inputs,
    Parts,
    ProgressCallback,
    ResultAddress,
    Store,
    inputs_of,
    no_progress,
)
from piste.streams import Stream, stream
from piste.training import State
from piste.values import digest, override, to_json

from . import equal_rise, planes, surface
from .comparison import Comparison
from .matched import match
from .planes import Plane
from .projection import project
from .size import check_size
from .stored import stored_stage
from .two_stage import (
    TrainingPhase,
    first_stage,
    in_full_form,
    second_system,
    snapshot_times,
)

Bars = Callable[[str, int], ProgressCallback]
"""Makes what is told of the progress of one thing, from its name and length."""


def no_bars(name: str, total: int) -> ProgressCallback:
    """Show nothing."""
    return no_progress


@dataclass(frozen=True)
class Survey:
    """A comparison of the kernels of an experiment, and where its results are."""

    experiment: Experiment
    settings: Comparison
    root: Path
    name: str = "landscape"

    def __post_init__(self):
        first = self.experiment.model.attention
        if first in self.settings.kernels:
            expected = f"must not have {first}, the kernel of the first stage"
            raise field_error("kernels", self.settings.kernels, expected)

    @property
    def kernels(self) -> tuple[str, ...]:
        """The kernel of the first stage, then the others."""
        return self.experiment.model.attention, *self.settings.kernels

    @property
    def folder(self) -> Path:
        """Where the results are; the same for equal surveys of equal data."""
        return self.parts().place.folder()

    def parts(self) -> Parts:
        """The surfaces, a part for each plane, and where they are stored."""
        about = [to_json(in_full_form(self.experiment)), to_json(self.settings)]
        root, count = self.root / "landscape", self.settings.parts()
        return Parts(root, self.name, digest(about), about, self.inputs, count)

    @functools.cached_property
    def inputs(self) -> Inputs:
        """Forms, data and code, of all kernels."""
        first = in_full_form(self.experiment)
        others = [override(first, {"model.kernel": k}) for k in self.settings.kernels]
        return inputs_of(first, *others)

    def times(self) -> np.ndarray:
        """The steps of a second stage at which snapshots are kept."""
        steps = self.settings.steps_two or self.experiment.steps
        return snapshot_times(steps, self.settings.snapshots)

    def stage(self, model: int, kernel: str) -> ResultAddress:
        """Where a second stage is stored, for other planes of the same model too."""
        experiment = self.model(model)
        what = digest([to_json(experiment), kernel, self.times().tolist()])
        root, name = self.root / "landscape/stages", f"{kernel}-seed={experiment.seed}"
        return ResultAddress(root, name, what, self.inputs, STAGE)

    def model(self, number: int) -> Experiment:
        """The experiment of one model, whose seed is the first seed plus its number."""
        seed = self.experiment.seed + number
        return in_full_form(override(self.experiment, {"seed": seed}))


def run(
    survey: Survey,
    bars: Bars = no_bars,
    fresh: Fresh = False,
    after: Callable[[int, xr.Dataset], None] = lambda index, part: None,
) -> list[xr.Dataset]:
    """Compute the surfaces on all planes, model by model, or read them from the store.

    ``after`` is told the number of each plane that is done, and its surfaces.
    """
    settings, parts = survey.settings, survey.parts()
    if not parts.place.find_for(fresh):  # else no data are needed
        check(survey)

    @functools.lru_cache(maxsize=1)
    def stages(model: int, attempt: str) -> dict[str, TrainingPhase]:
        return _stages(survey, model, bars, attempt)

    def make(index: int, attempt: str) -> xr.Dataset:
        began, (model, direction) = (
            time.perf_counter(),
            divmod(index, settings.planes()),
        )
        with jax.enable_x64(True):
            part = _part(survey, stages(model, attempt), model, direction, bars)
        return part.assign_attrs(seconds=time.perf_counter() - began)

    return [part.load() for part in parts.compute(make, after, fresh)]


def check(survey: Survey) -> None:
    """Refuse what cannot be drawn or held before anything is trained or written."""
    check_size(survey.experiment, survey.settings, survey.root)
    survey.model(survey.settings.models - 1)  # the largest seed
    experiment = survey.model(0)
    with jax.enable_x64(True):
        for kernel in survey.settings.kernels:
            system = second_system(experiment, kernel)
        if survey.settings.plane == "qk":
            planes.qk(_moved(system.form.initial()), key=jax.random.key(0))


def _moved(params):
    # Some matrices begin at zero, which is no reason to refuse a plane.
    return jax.tree.map(jnp.ones_like, params)


# --- stages -------------------------------------------------------------------------


def _stages(
    survey: Survey, model: int, bars: Bars, fresh: str
) -> dict[str, TrainingPhase]:
    """Get all second stages of a model; train the first if one of them is missing."""
    experiment, times = survey.model(model), survey.times()

    @functools.cache
    def begin() -> State:
        watch = bars(f"model {model}, stage 1", experiment.steps)
        return first_stage(experiment, Store(survey.root / "runs"), watch, fresh)

    def stage(kernel: str) -> TrainingPhase:
        place = survey.stage(model, kernel)
        watch = functools.partial(bars, kernel, int(times[-1]))
        return stored_stage(place, experiment, kernel, times, begin, watch, fresh)

    return {kernel: stage(kernel) for kernel in survey.kernels}


# --- surfaces ------------------------------------------------------------------------


def _part(
    survey: Survey,
    stages: dict[str, TrainingPhase],
    model: int,
    direction: int,
    bars: Bars,
) -> xr.Dataset:
    """Compute the surfaces of all kernels on one plane each, at matched loss."""
    seed = survey.experiment.seed + model
    key = jax.random.fold_in(stream(seed, Stream.PROBE), direction)
    centres = match([stage.losses for stage in stages.values()])
    first = stages[survey.kernels[0]]
    initial_loss = float(first.loss(first.system.form.initial()))
    parts = []
    for (kernel, stage), centre in zip(stages.items(), centres, strict=True):
        watch = bars(
            f"{kernel} {model}.{direction}", survey.settings.points_of_kernel()
        )
        parts.append(_surfaces(survey, stage, centre, initial_loss, key, watch))
    about = {"model": seed, "direction": direction, "initial_loss": initial_loss}
    kernels = xr.DataArray(list(stages), dims="kernel", name="kernel")
    return xr.concat(parts, kernels).assign_attrs(**about)


def _surfaces(
    survey: Survey,
    stage: TrainingPhase,
    centre: int,
    initial_loss: float,
    key,
    watch: ProgressCallback,
) -> xr.Dataset:
    """Compute the surfaces of one kernel, and its trajectory seen from the plane."""
    settings, snapshots = survey.settings, stage.snapshots()
    # The first snapshot of a second stage has the weights that the first stage left.
    centres = {"trained": centre, "swapped": 0}
    centres = {name: centres[name] for name in settings.weights()}
    drawn = {n: _plane(survey, stage, snapshots[i], key) for n, i in centres.items()}
    batch = 1 if survey.experiment.model.shares_batches else surface.BATCH
    losses, reaches = [], []
    for number, (plane, _) in enumerate(drawn.values()):
        reaches.append(_reaches(settings, stage, plane, initial_loss, batch))
        losses.append([_loss(settings, stage, plane, r, batch) for r in reaches[-1]])
        watch((number + 1) * settings.points_of_kernel() // len(drawn), float("nan"))
    plane, axis_info = drawn["trained"]
    seen = project(stage.loss, plane, snapshots)
    grid = surface.grid_axis(settings.points, 1.0)
    along, sizes = ("snapshot",), ("weights", "window")
    arrays = {
        "loss": ((*sizes, "first", "second"), np.array(losses)),
        "reach": (sizes, np.array(reaches)),
        "coordinates": (("snapshot", "axis"), seen.coordinates),
        "true_loss": (along, seen.true_loss),
        "projected_loss": (along, seen.projected_loss),
        "step": (along, stage.steps),
        "explained_share": ((), seen.explained_share),
        "axis_info": (("axis",), axis_info),
        "centre": (("weights",), np.array(list(centres.values()))),
    }
    words = {"weights": list(centres), "window": list(settings.windows())}
    labels = {"labels": list(plane.labels)}
    return xr.Dataset(arrays, words | {"first": grid, "second": grid}, labels)


def _reaches(
    settings: Comparison,
    stage: TrainingPhase,
    plane: Plane,
    initial_loss: float,
    batch: int,
) -> list[float]:
    """How far each window goes; NaN where the loss never rises so far."""
    if not settings.rises:
        return [settings.reach]
    found = equal_rise.rises_at(stage.loss, plane, batch=batch)
    return [equal_rise.reach_for(found, rise * initial_loss) for rise in settings.rises]


def _loss(
    settings: Comparison, stage: TrainingPhase, plane: Plane, reach: float, batch: int
) -> np.ndarray:
    if np.isnan(reach):
        return np.full((settings.points, settings.points), np.nan)
    found = surface.compute(stage.loss, plane, settings.points, reach, batch=batch)
    return found.loss


def _plane(
    survey: Survey, stage: TrainingPhase, centre, key
) -> tuple[Plane, np.ndarray]:
    """Choose the plane; return what is known of its axes too: shares or eigenvalues."""
    kind, unknown = survey.settings.plane, np.full(2, np.nan)
    if kind == "pca":
        return planes.pca(stage.snapshots(), centre)
    if kind == "hessian":
        return planes.hessian(stage.loss, centre)
    choose = planes.qk if kind == "qk" else planes.random
    return choose(centre, key=key, over=survey.experiment.model.neuron_axis), unknown

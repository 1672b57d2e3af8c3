"""Two kernels compared: planes through weights of equal loss, paired by model.

A model is a seed. Its first stage is a run of the store, its second stages are stored
as snapshots, and every pair of surfaces as a part: what is interrupted goes on with the
first of these that is missing.
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
from piste.models import Classifier
from piste.store import STAGE, Fresh, Inputs, Parts, Place, Store, inputs_of
from piste.store.runs import Watch
from piste.streams import Stream, stream
from piste.training import State
from piste.values import digest, override, to_json

from . import planes, surface
from .comparison import Comparison
from .matched import match
from .planes import Plane
from .size import check_size
from .stored import stored_stage
from .trajectory import project
from .two_stage import Stage, first_stage, in_full_form, second_system, snapshot_times

Bars = Callable[[str, int], Watch]
"""Makes what is told of the progress of one thing, from its name and length."""


def silent(name: str, total: int) -> Watch:
    """Tell nobody."""
    return lambda done, loss: None


@dataclass(frozen=True)
class Survey:
    """A comparison of the kernels of an experiment, and where its results are."""

    experiment: Experiment
    settings: Comparison
    root: Path
    name: str = "landscape"

    def __post_init__(self):
        if self.settings.kernel_two == self.experiment.model.attention:
            expected = "must differ from the kernel of the first stage"
            raise field_error("kernel-two", self.settings.kernel_two, expected)

    @property
    def kernels(self) -> tuple[str, str]:
        """That of the first stage, and the other."""
        return self.experiment.model.attention, self.settings.kernel_two

    @property
    def folder(self) -> Path:
        """Equal surveys of equal data have equal folders."""
        return self.parts().place.folder()

    def parts(self) -> Parts:
        """All pairs of surfaces, and where they are stored."""
        about = [to_json(in_full_form(self.experiment)), to_json(self.settings)]
        root, count = self.root / "landscape", self.settings.pairs()
        return Parts(root, self.name, digest(about), about, self.inputs, count)

    @functools.cached_property
    def inputs(self) -> Inputs:
        """Forms, data and code, of both kernels."""
        first = in_full_form(self.experiment)
        second = override(first, {"model.kernel": self.settings.kernel_two})
        return inputs_of(first, second)

    def times(self) -> np.ndarray:
        """The steps of a second stage at which snapshots are kept."""
        steps = self.settings.steps_two or self.experiment.steps
        return snapshot_times(steps, self.settings.snapshots)

    def stage(self, model: int, kernel: str) -> Place:
        """Where a second stage is stored; other planes of the same model use it too."""
        experiment = self.model(model)
        what = digest([to_json(experiment), kernel, self.times().tolist()])
        root, name = self.root / "landscape/stages", f"{kernel}-seed={experiment.seed}"
        return Place(root, name, what, self.inputs, STAGE)

    def model(self, number: int) -> Experiment:
        """The experiment of one model: the next seeds."""
        seed = self.experiment.seed + number
        return in_full_form(override(self.experiment, {"seed": seed}))


def run(
    survey: Survey,
    bars: Bars = silent,
    fresh: Fresh = False,
    after: Callable[[int, xr.Dataset], None] = lambda index, part: None,
) -> list[xr.Dataset]:
    """All pairs of surfaces, model by model: from the store where they are there.

    ``after`` is told the number of each pair that is there, and the pair.
    """
    settings, parts = survey.settings, survey.parts()
    if not parts.place.find_for(fresh):  # else no data are needed
        check(survey)

    @functools.lru_cache(maxsize=1)
    def both(model: int, attempt: str) -> dict[str, Stage]:
        return _stages(survey, model, bars, attempt)

    def make(index: int, attempt: str) -> xr.Dataset:
        began, (model, direction) = (
            time.perf_counter(),
            divmod(index, settings.planes()),
        )
        with jax.enable_x64(True):
            part = _pair(survey, both(model, attempt), model, direction, bars)
        return part.assign_attrs(seconds=time.perf_counter() - began)

    return [part.load() for part in parts.compute(make, after, fresh)]


def check(survey: Survey) -> None:
    """Refuse what cannot be drawn or held before anything is trained or written."""
    check_size(survey.experiment, survey.settings, survey.root)
    survey.model(survey.settings.models - 1)  # the largest seed
    experiment = survey.model(0)
    with jax.enable_x64(True):
        system = second_system(experiment, survey.kernels[1])
        if survey.settings.plane == "qk":
            planes.qk(_moved(system.form.initial()), key=jax.random.key(0))


def _moved(params):
    # Some matrices begin at zero, which is no reason to refuse a plane.
    return jax.tree.map(jnp.ones_like, params)


# --- stages -------------------------------------------------------------------------


def _stages(survey: Survey, model: int, bars: Bars, fresh: str) -> dict[str, Stage]:
    """Both second stages of a model; the first is trained if one of them is missing."""
    experiment, times = survey.model(model), survey.times()

    @functools.cache
    def begin() -> State:
        watch = bars(f"model {model}, stage 1", experiment.steps)
        return first_stage(experiment, Store(survey.root / "runs"), watch, fresh)

    def stage(kernel: str) -> Stage:
        place = survey.stage(model, kernel)
        watch = functools.partial(bars, kernel, int(times[-1]))
        return stored_stage(place, experiment, kernel, times, begin, watch, fresh)

    return {kernel: stage(kernel) for kernel in survey.kernels}


# --- surfaces ------------------------------------------------------------------------


def _pair(
    survey: Survey, stages: dict[str, Stage], model: int, direction: int, bars: Bars
) -> xr.Dataset:
    """The surfaces of both kernels on one plane each, at matched loss."""
    one, other = stages.values()
    found = match(one.losses, other.losses)
    seed = survey.experiment.seed + model
    key = jax.random.fold_in(stream(seed, Stream.PROBE), direction)
    parts = []
    for stage, centre in ((one, found.first), (other, found.second)):
        name = f"{stage.kernel} {model}.{direction}"
        watch = bars(name, survey.settings.points**2)
        parts.append(_surface(survey, stage, centre, key, watch))
    about = {"model": seed, "direction": direction, "kernels": list(survey.kernels)}
    return xr.concat(parts, "kernel").assign_attrs(**about)


def _surface(
    survey: Survey, stage: Stage, centre: int, key, watch: Watch
) -> xr.Dataset:
    settings, snapshots = survey.settings, stage.snapshots()
    plane, said = _plane(survey, stage, snapshots[centre], key)
    seen = project(stage.loss, plane, snapshots)
    drawn = surface.compute(
        stage.loss,
        plane,
        settings.points,
        settings.reach,
        batch=1 if isinstance(survey.experiment.model, Classifier) else surface.BATCH,
        watch=lambda done, total: watch(done, float("nan")),
    )
    along = ("snapshot",)
    arrays = {
        "loss": (("first", "second"), drawn.loss),
        "coordinates": (("snapshot", "axis"), seen.coordinates),
        "true_loss": (along, seen.true_loss),
        "projected_loss": (along, seen.projected_loss),
        "step": (along, stage.steps),
        "explained_share": ((), seen.explained_share),
        "said": (("axis",), said),
        "centre": ((), centre),
    }
    grid = {"first": drawn.axis, "second": drawn.axis}
    return xr.Dataset(arrays, grid, {"labels": list(plane.labels)})


def _plane(survey: Survey, stage: Stage, centre, key) -> tuple[Plane, np.ndarray]:
    """The plane, and what is known of its directions: shares or eigenvalues."""
    kind, nothing = survey.settings.plane, np.full(2, np.nan)
    if kind == "pca":
        return planes.pca(stage.snapshots(), centre)
    if kind == "hessian":
        return planes.hessian(stage.loss, centre)
    drawn = planes.qk if kind == "qk" else planes.random
    return drawn(centre, key=key, over=survey.experiment.model.neuron_axis), nothing

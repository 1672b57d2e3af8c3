"""The figures of the paper, by name: those for which the runs are there."""

from collections.abc import Callable, Iterable

import jax
import jax.numpy as jnp
import numpy as np
import pandas as pd
import xarray as xr

from piste.attention import KERNELS as FUNCTIONS
from piste.experiment import Experiment
from piste.figures import Picture, landscape, pathfinder
from piste.landscape import HEADLINE, comparable, metrics_table
from piste.reproduction import Evidence, Figure
from piste.tasks import Pathfinder
from piste.values import from_json

from .. import captions
from ..calculations import TRAINED
from ..cells import by_shape, chosen, end, ratios
from ..landscape_claims import STUDIES as LANDSCAPES
from ..query_cells import case_of, cases
from ..real_presets import KERNELS
from ..real_runs import TASKS, kernel_of, task_words
from ..region_claims import bend, movement
from ..tables import success_frame
from ..thresholds import A_BIT, NEARLY_CONVEX, PROMISE
from ..width_claims import floor
from . import paths as kernel_paths
from . import theorems as figures
from .classification import classification

SHOWN_RATIOS = (1.0, 1.5, 2.0, 4.0)
"""HD/Nn of which the bound is drawn; below 1 it says nothing."""
SHOWN_KERNELS = ("softmax", "gaussian", "gaussian-rows", "gaussian-mean", "linear")
HEADS = 3
"""Heads whose attention is drawn, if there are as many."""


def _images(evidence: Evidence) -> Picture | None:
    if not evidence.runs("pathfinder"):
        return None
    run = evidence.runs("pathfinder")[0]
    experiment = from_json(Experiment, run.attrs["experiment"])
    task = experiment.task
    assert isinstance(task, Pathfinder)
    size = f"{task.canvas}×{task.canvas} pixels"
    words = f"Pathfinder on {size}: do the two markers (ringed) lie on one contour?"
    said = f"{words} The runs have {task_words(run.attrs['experiment']['task'])}."
    return pathfinder(task.images, said, seed=experiment.seed)


def _curves(task: str) -> Figure:
    """The training of one real task."""

    def draw(evidence: Evidence) -> Picture | None:
        runs = list(evidence.runs(task))
        return classification(runs, captions.real(runs)) if runs else None

    return Figure(task, draw, needs=(task,))


def _landscapes(study: str) -> tuple[Figure, Figure, Figure]:
    """All models in two numbers; and the first pair of surfaces, from above and bent."""

    def models(evidence: Evidence) -> Picture | None:
        kept = comparable(evidence.surfaces(study))
        if not kept:
            return None
        table = metrics_table(kept)
        return landscape.pairs(table, HEADLINE, captions.paired(study, table))

    def first_pair(draw: Callable[[xr.Dataset, str], Picture]):
        def drawn(evidence: Evidence) -> Picture | None:
            kept = comparable(evidence.surfaces(study))
            return draw(kept[0], captions.surfaces(study, kept[0])) if kept else None

        return drawn

    return (
        Figure(study, models, needs=(study,)),
        Figure(f"{study}-contours", first_pair(landscape.contours), needs=(study,)),
        Figure(f"{study}-surfaces", first_pair(landscape.surfaces), needs=(study,)),
    )


def first_runs(runs: Iterable[xr.Dataset]) -> dict[str, xr.Dataset]:
    """The first run of each kernel."""
    found: dict[str, xr.Dataset] = {}
    for run in runs:
        found.setdefault(kernel_of(run), run)
    return found


def _attention(evidence: Evidence) -> Picture | None:
    shown = first_runs(evidence.runs("pair"))
    if not shown:
        return None
    heads = min(HEADS, *(run.sizes["head"] for run in shown.values()))
    caption = captions.attention(shown, heads)
    return kernel_paths.attention_pair(shown, heads, caption)


def _kernels(evidence: Evidence) -> Picture:
    keys, queries = np.array([-2.0, 0.0, 2.0]), np.linspace(-4, 4, 161)
    with jax.enable_x64(True):
        weights = {
            name: np.asarray(
                FUNCTIONS[name](
                    jnp.asarray(queries)[:, None], jnp.asarray(keys)[:, None]
                )
            )
            for name in SHOWN_KERNELS
        }
    return figures.kernel_functions(weights, queries, keys, captions.KERNELS)


def _bounds(evidence: Evidence) -> Picture:
    data = evidence.dataset("transition")
    parts = {}
    every = set(ratios(data))
    shown = [ratio for ratio in SHOWN_RATIOS if ratio in every] or sorted(every)[-2:]
    for kernel, ratio, part in by_shape(data):
        if ratio not in shown:
            continue
        part = part.assign(
            share=part.loss / part.initial_loss,
            bound=part.bound / part.initial_loss,
            stacked_bound=part.stacked_bound / part.initial_loss,
        )
        parts[kernel, ratio] = {
            train: chosen(part, train=place) for place, train in enumerate(TRAINED)
        }
    return figures.bounds(parts, captions.bounds(data))


def _promised(evidence: Evidence) -> Picture:
    data = evidence.dataset("promised")
    frame = _named(chosen(data.assign(wide=data.columns >= data.rows), wide=True))
    frame = frame.assign(trained=[TRAINED[int(place)] for place in frame.train])
    return figures.promised(frame, PROMISE, captions.promised(data))


def _acceptance(evidence: Evidence) -> Picture:
    data = evidence.dataset("acceptance")
    parts = {name: chosen(data, kernel=place) for place, name in enumerate(KERNELS)}
    return figures.acceptance(parts, captions.acceptance(data))


def _transition(evidence: Evidence) -> Picture:
    data = evidence.dataset("transition")
    rows = [
        {
            "kernel": kernel,
            "ratio": ratio,
            "train": TRAINED[int(train)],
            "share": share,
            "floor": least,
        }
        for kernel, ratio, part in by_shape(data)
        for train, share, least in zip(part.train, end(part), floor(part), strict=True)
    ]
    return figures.transition(pd.DataFrame(rows), captions.transition(data))


def _region(evidence: Evidence) -> Picture:
    data = evidence.dataset("region")
    frame = pd.concat(
        pd.DataFrame(
            {
                "kernel": kernel,
                "ratio": ratio,
                "seed": part.seed.values,
                "bend": bend(part).isel(step=0).values,
                "all": movement(part),
                "Q": movement(part, "query"),
                "K": movement(part, "key"),
            }
        )
        for kernel, ratio, part in by_shape(data)
    )
    every = ratios(data)
    middle = every[len(every) // 2]
    paths = {k: bend(part) for k, ratio, part in by_shape(data) if ratio == middle}
    titles = ("at the start", f"on the way, $HD/Nn$ = {middle:g}", "moved at the end")
    limits = NEARLY_CONVEX, A_BIT
    return kernel_paths.region(
        frame, paths, titles, limits, captions.region(data, middle)
    )


def _named(data: xr.Dataset) -> pd.DataFrame:
    frame = data.to_dataframe().reset_index()
    return frame.assign(kernel=[KERNELS[int(k)] for k in frame.kernel])


def _scale(evidence: Evidence) -> Picture:
    data = evidence.dataset("scale")
    return figures.scale(_named(data), captions.scale(data))


def _success(evidence: Evidence) -> Picture:
    data = evidence.dataset("queries")
    return figures.success(success_frame(data), captions.success(data))


def _singular_values(evidence: Evidence) -> Picture | None:
    """The paths of the first case that the study has with both kernels."""
    data = evidence.dataset("queries")
    runs = first_runs(evidence.runs("runs")) if evidence.has("runs") else {}
    for case in cases(data):
        paths = {k: case_of(data, case, place) for place, k in enumerate(KERNELS)}
        if all(part.sizes["cell"] for part in paths.values()):
            caption = captions.singular(paths[KERNELS[0]], case, runs)
            return kernel_paths.singular_values(paths, runs, caption)
    return None


FIGURES = (
    Figure("kernels", _kernels),
    Figure("bounds", _bounds, ("transition",)),
    Figure("transition", _transition, ("transition",)),
    Figure("promised", _promised, ("promised",)),
    Figure("acceptance", _acceptance, ("acceptance",)),
    Figure("region", _region, ("region",)),
    Figure("scale", _scale, ("scale",)),
    Figure("attention", _attention, ("pair",)),
    Figure("success", _success, ("queries",)),
    Figure("singular-values", _singular_values, ("queries",)),
    *(_curves(task) for task in TASKS),
    Figure("images", _images, ("pathfinder",)),
    *(figure for study in LANDSCAPES for figure in _landscapes(study)),
)

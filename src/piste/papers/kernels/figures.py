"""The figures of the paper, by name: those for which the runs are there."""

import jax
import jax.numpy as jnp
import numpy as np
import pandas as pd
import xarray as xr

from piste.figures import Picture, landscape, pathfinder
from piste.figures import kernels as figures
from piste.figures.classification import classification
from piste.landscape.tables import HEADLINE, comparable, metrics_table
from piste.models.attention import KERNELS as FUNCTIONS
from piste.tasks import Pathfinder

from .calculations import TRAINED
from .landscape_claims import TASKS as LANDSCAPES
from .presets import KERNELS
from .real_claims import TASKS, kernel_of
from .real_presets import pathfinder_desk
from .tables import success_frame
from .theorem_1_claims import bound, chosen, end, floor, shapes
from .theorem_2_claims import CONSTRUCTION, case_of

SHOWN_RATIOS = (1.0, 1.5, 2.0, 4.0)
"""HD/Nn of which the bound is drawn; below 1 it says nothing."""
SHOWN_KERNELS = ("softmax", "gaussian", "gaussian-rows", "gaussian-mean", "linear")
HEADS = 3
"""Heads whose attention is drawn."""


def pictures(evidence) -> dict[str, Picture]:
    """Draw all figures from the runs of the studies."""
    found = {"kernels": _kernels()}
    if "transition" in evidence:
        found["bounds"] = _bounds(evidence["transition"])
        found["transition"] = _transition(evidence["transition"])
    if "scale" in evidence:
        found["scale"] = figures.scale(_named(evidence["scale"]), _SCALE)
    if "queries" in evidence:
        found["success"] = figures.success(success_frame(evidence["queries"]), _SUCCESS)
    if "pair" in evidence:
        runs = by_kernel(evidence["pair"])
        found["attention"] = figures.attention_pair(runs, HEADS, _ATTENTION)
    if "queries" in evidence:
        found["singular-values"] = _singular_values(evidence)
    for task, words in TASKS.items():
        if task in evidence:
            groups = _grouped(evidence[task])
            found[task] = classification(groups, f"{words}. {_REAL}")
    if "pathfinder" in evidence:
        task = pathfinder_desk().task
        assert isinstance(task, Pathfinder)
        found["images"] = pathfinder(task.images, _IMAGES, seed=0)
    for study, words in LANDSCAPES.items():
        if study in evidence:
            found |= _landscapes(study, words, evidence[study])
    return found


def _landscapes(study: str, words: str, parts: list[xr.Dataset]) -> dict[str, Picture]:
    """All models in two numbers; and the first pair of surfaces, from above and bent."""
    kept = comparable(parts)
    if not kept:
        return {}
    caption = f"{words}. {_SURFACES} {landscape.describe(kept[0])}"
    return {
        study: landscape.pairs(metrics_table(kept), HEADLINE, f"{words}. {_PAIRS}"),
        f"{study}-contours": landscape.contours(kept[0], caption),
        f"{study}-surfaces": landscape.surfaces(kept[0], caption),
    }


def _grouped(runs: list[xr.Dataset]) -> dict[str, list[xr.Dataset]]:
    groups: dict[str, list[xr.Dataset]] = {}
    for run in runs:
        groups.setdefault(kernel_of(run), []).append(run)
    return groups


def by_kernel(runs: list[xr.Dataset]) -> dict[str, xr.Dataset]:
    """The first run of each kernel."""
    found: dict[str, xr.Dataset] = {}
    for run in runs:
        found.setdefault(kernel_of(run), run)
    return found


def _kernels() -> Picture:
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
    return figures.kernel_functions(weights, queries, keys, _KERNELS)


def _bounds(data: xr.Dataset) -> Picture:
    parts = {}
    every = {ratio for _, ratio, _ in shapes(data)}
    shown = [ratio for ratio in SHOWN_RATIOS if ratio in every] or sorted(every)[-2:]
    for kernel, ratio, part in shapes(data):
        if ratio not in shown:
            continue
        part = part.assign(
            share=part.loss / part.initial_loss,
            bound=bound(part, "beta") / part.initial_loss,
            stacked_bound=bound(part, "stacked_beta") / part.initial_loss,
        )
        parts[kernel, ratio] = {
            train: chosen(part, train=place) for place, train in enumerate(TRAINED)
        }
    return figures.bounds(parts, _BOUNDS)


def _transition(data: xr.Dataset) -> Picture:
    rows = [
        {
            "kernel": kernel,
            "ratio": ratio,
            "train": TRAINED[int(train)],
            "share": share,
            "floor": least,
        }
        for kernel, ratio, part in shapes(data)
        for train, share, least in zip(part.train, end(part), floor(part), strict=True)
    ]
    return figures.transition(pd.DataFrame(rows), _TRANSITION)


def _named(data: xr.Dataset) -> pd.DataFrame:
    frame = data.to_dataframe().reset_index()
    return frame.assign(kernel=[KERNELS[int(k)] for k in frame.kernel])


def _singular_values(evidence) -> Picture:
    case = CONSTRUCTION[0]
    paths = {
        name: case_of(evidence["queries"], case, place)
        for place, name in enumerate(KERNELS)
    }
    runs = by_kernel(evidence["runs"]) if "runs" in evidence else {}
    return figures.singular_values(paths, runs, _SINGULAR)


_REAL = (
    "Training loss on 512 training sequences, test loss and accuracy: thin lines are "
    "seeds, thick ones their mean; dotted is guessing."
)
_PAIRS = (
    "How rough the loss is around the weights after both stages: each line is a model "
    "(the median over its planes), solid where the Gaussian kernel is the smoother; "
    "thick is the median of the models."
)
_SURFACES = (
    "Loss on 64 training sequences along a random direction in W^Q and one in W^K, "
    "filter-normalised, centred at matched loss."
)
_IMAGES = "Pathfinder on 16×16 pixels: do the two markers (ringed) lie on one contour?"
_KERNELS = (
    "The family of kernels in one dimension: weights of the keys −2, 0 and 2 (thin lines) "
    "against the place of the query. The Gaussian kernel, not normalised, forgets keys "
    "that are far; softmax always hands out a total of 1; with its rows normalised the "
    "Gaussian kernel is softmax with a bias for every key."
)
_BOUNDS = (
    "Theorem 1: the loss (median and range over the seeds), the bound with β per head "
    "(dashed), and with stacked W^O (dotted), medians. A loss above the dotted line "
    "violates the stacked reading."
)
_TRANSITION = (
    "The loss after training against HD/Nn: medians and all seeds. W^V alone cannot pass "
    "what B₀ can say (black) below HD = Nn; with W^Q and W^K trained the boundary is gone."
)
_SCALE = (
    "HD/Nn = 2: the least singular value of B₀ against the scale of W^Q and W^K at the "
    "start; medians and all seeds. HD ≥ Nn alone does not keep it away from zero."
)
_SUCCESS = (
    "Theorem 2: W^Q alone, the better of η = 0.05 and 0.5. Left of the dashed line the "
    "matched start at which softmax is saturated; right of it the controls."
)
_ATTENTION = (
    "Attention of the first sequence in the pair of Theorem 2, heads 1 to 3, before and "
    "after training of W^Q. Softmax stays one-hot; the Gaussian kernel moves."
)
_SINGULAR = (
    "Along the paths (median and range over the seeds): gradient and least singular value "
    "of J_Q from the matched start, H = 8; right, of B_t in one run of Theorem 1 with "
    "HD/Nn = 2."
)

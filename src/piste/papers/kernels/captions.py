"""Captions, composed of what was run: sizes, seeds, steps and step sizes of the data."""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import pandas as pd
import xarray as xr

from piste.claims import by_experiment
from piste.figures import landscape

from .figures.classification import label
from .query_cells import Case, cases, name_of
from .real_runs import task_words
from .real_studies import surveyed_task
from .thresholds import A_BIT, NEARLY_CONVEX, PROMISE, ZERO_LOSS

KERNELS = (
    "The family of kernels in one dimension: weights of the keys −2, 0 and 2 (thin lines) "
    "against the place of the query. The Gaussian kernel, not normalised, forgets keys "
    "that are far; softmax always hands out a total of 1; with its rows normalised the "
    "Gaussian kernel is softmax with a bias for every key."
)


def _seeds(data: xr.Dataset) -> str:
    """How many seeds, and which: ``8 seeds, 100 to 107``."""
    found = np.unique(data.seed.values)
    if found.size == 1:
        return f"seed {found[0]}"
    return f"{found.size} seeds, {found[0]} to {found[-1]}"


def _steps(data: xr.Dataset) -> str:
    return f"{int(data.step[-1]):,} steps"


def bounds(data: xr.Dataset) -> str:
    """Loss and both readings of the bound."""
    return (
        f"Theorem 1 ({_seeds(data)}; {_steps(data)}): the loss (median and range over the "
        "seeds), the bound with β per head (dashed), and with stacked W^O (dotted), "
        "medians. A loss above the dotted line violates the stacked reading."
    )


def acceptance(data: xr.Dataset) -> str:
    """The case in which the rate is attained."""
    heads = ", ".join(f"{r:g}" for r in np.unique((data.columns / data.rows).values))
    return (
        f"The case that attains β ({_seeds(data)}; HD/Nn = {heads}; {_steps(data)}): the "
        "fall of log f in units of ηβt, a line for each run. The bound asks for 1; here "
        "theory says 2."
    )


def promised(data: xr.Dataset) -> str:
    """What the bound promises against what is left."""
    return (
        f"Theorem 1's runs with HD ≥ Nn ({_seeds(data)}), continued for up to "
        f"{int(data.steps.max()):,} steps: what is left of the loss against what the bound "
        f"leaves. On the left of the dotted line ({PROMISE:g}) a run is a test of the "
        "bound; above the dashed one it would violate it."
    )


def transition(data: xr.Dataset) -> str:
    """Losses over HD/Nn."""
    return (
        f"The loss after {_steps(data)} against HD/Nn: medians and all seeds "
        f"({_seeds(data)}). Black: the least that W^V alone can reach where HD < Nn."
    )


def region(data: xr.Dataset, ratio: float) -> str:
    """Curvature and movement of Theorem 1's runs."""
    return (
        f"Theorem 1's runs of W^Q, W^K, W^V ({_seeds(data)}): the most negative curvature "
        f"over the largest, at the start and (HD/Nn = {ratio:g}, median and range) on the "
        f"way; and how far the weights are from their start after {_steps(data)}, all "
        "together (medians and all seeds) and W^Q and W^K alone (thin). Dotted: what is "
        f"called nearly convex here, {NEARLY_CONVEX:g}, and a bit, {A_BIT:g}."
    )


def scale(data: xr.Dataset) -> str:
    """σ_min(B₀) over the scale of Q and K."""
    ratio = float(data.columns[0] / data.rows[0])
    words = (
        f"HD/Nn = {ratio:g}: the least singular value of B₀ against the scale of W^Q and "
        f"W^K at the start; medians and all seeds ({_seeds(data)})."
    )
    if bool((data.feature_least > data.feature_resolution).all()):
        return words
    return f"{words} Triangles are upper limits: what an SVD resolves."


def success(data: xr.Dataset) -> str:
    """Success rates by case."""
    rates = " and ".join(f"{eta:g}" for eta in np.unique(data.eta.values))
    better = f"the better of η = {rates}" if " " in rates else f"η = {rates}"
    words = (
        f"Theorem 2: W^Q alone, {better}, {_steps(data)}, {_seeds(data)}; success is "
        f"f_T/f₀ < {ZERO_LOSS:g}."
    )
    matched = ["matched, scale 6" in name_of(case) for case in cases(data)]
    if all(matched) or not any(matched):
        return words
    return f"{words} Left of the dashed line the matched start of scale 6; right, controls."


def attention(runs: Mapping[str, xr.Dataset], heads: int) -> str:
    """Attention before and after training."""
    first = next(iter(runs.values()))
    seeds = sorted({int(run.attrs["experiment"]["seed"]) for run in runs.values()})
    which = "head 1" if heads == 1 else f"heads 1 to {heads}"
    steps = " and ".join(
        f"{n:,}" for n in sorted({int(run.step[-1]) for run in runs.values()})
    )
    trained = ", ".join(f"W^{x}" for x in first.attrs["experiment"]["model"]["train"])
    return (
        f"Attention of the first sequence, {which}, before and after {steps} steps of "
        f"{trained} ({_listed('seed', seeds)})."
    )


def _listed(word: str, numbers: Sequence[int]) -> str:
    return f"{word} {numbers[0]}" if len(numbers) == 1 else f"{word}s {list(numbers)}"


def singular(data: xr.Dataset, case: Case, runs: Mapping[str, xr.Dataset]) -> str:
    """Gradients and singular values along the paths."""
    words = (
        f"Along the paths (median and range over {_seeds(data)}): gradient and least "
        f"singular value of J_Q, {name_of(case)}. Below the dotted line a singular value "
        "is rounding: there only this limit is drawn."
    )
    if not runs:
        return words
    said = {_shape(run) for run in runs.values()}
    return f"{words} Right, σ_min of B_t in one run of Theorem 1, {' and '.join(said)}."


def _shape(run: xr.Dataset) -> str:
    task, model = run.attrs["experiment"]["task"], run.attrs["experiment"]["model"]
    ratio = model["heads"] * task["dimension"] / (task["sequences"] * task["length"])
    return f"HD/Nn = {ratio:g}, seed {run.attrs['experiment']['seed']}"


# --- real tasks and landscapes ---------------------------------------------------------


def real(runs: list[xr.Dataset]) -> str:
    """Curves of a real task."""
    task = task_words(runs[0].attrs["experiment"]["task"])
    groups = by_experiment(runs)
    counts = "; ".join(f"{label(g)}, {_count(g.seeds, 'seed')}" for g in groups)
    return (
        f"{task} ({counts}). Training loss on a fixed part of the training set, test loss "
        "and test accuracy: thin lines are seeds, thick ones their mean; dotted is "
        "guessing."
    )


def _count(things: Iterable, word: str) -> str:
    number = len(list(things))
    return f"{number} {word}" + ("s" if number != 1 else "")


def paired(study: str, table: pd.DataFrame) -> str:
    """All models in two numbers."""
    planes = table.groupby("model").direction.nunique()
    each = f"{planes.min()}" if planes.min() == planes.max() else "some"
    return (
        f"{surveyed_task(study)}. How rough the loss is around the weights after both "
        f"stages: each line is one of {_count(planes, 'model')} (the median over {each} "
        f"{'plane' if each == '1' else 'planes'}), solid where the Gaussian kernel is the "
        "smoother; thick is the median of the models."
    )


def surfaces(study: str, part: xr.Dataset) -> str:
    """One pair of surfaces."""
    first, second = (name.replace("$", "") for name in part.attrs["labels"])
    return (
        f"{surveyed_task(study)}. Loss on fixed training data along a direction in {first} "
        f"and one in {second}, centred at matched loss; model of seed "
        f"{part.attrs['model']}, plane {part.attrs['direction']}. "
        f"{landscape.describe(part)}"
    )

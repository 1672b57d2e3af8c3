"""Captions, made of what was run: studies may be missing, and sizes may differ."""

import numpy as np
import xarray as xr

from piste.experiment import Experiment

from . import presets
from .reading import NAMES, numbers
from .tasks import DecisionLists


def sizes_of(experiment: Experiment) -> str:
    """The sizes of a run, (L, n, M)."""
    task = experiment.task
    assert isinstance(task, DecisionLists)
    return f"({task.vocabulary}, {task.length}, {task.list_bound})"


def flow_in_words(experiment: Experiment) -> str:
    """The distribution and the sizes of a run."""
    task = experiment.task
    assert isinstance(task, DecisionLists)
    return f"{NAMES[task.distribution]}, {sizes_of(experiment)}"


def task(sizes: tuple[int, int, int]) -> str:
    """Of the picture of one sequence."""
    return (
        "The task: every token of a sequence has a list; the first of it that occurs in "
        "the sequence (shaded) determines the label through the permutation π. Tokens "
        f"that do not occur are grey. (L, n, M) = {sizes}."
    )


def scores(experiment: Experiment) -> str:
    """Of W at four moments."""
    return (
        f"Gradient flow on W, {flow_in_words(experiment)}: attention scores in units of "
        "n/c. A numeral k marks the key that stands at place k of the query's list: the "
        "order of the scores becomes the order of the list."
    )


def margins(first: str, count: int) -> str:
    """Of the leads along one or two flows."""
    right = "of both" if count > 1 else "of the same flow"
    return (
        "Gradient flow on W; t* is the first recorded perfect moment (dashed). Left: "
        f"{first}: the lead of every token of a list on the next one, by place k (of the "
        f"last on all tokens outside). Right, {right}: the smallest lead of a label, "
        "perfect where positive."
    )


def bounds(groups: dict[str, xr.Dataset]) -> str:
    """Of measured times against the bound: how many keep it, by group."""
    parts, arrows = [], 0
    for name, data in groups.items():
        times, limits = numbers(data, "time"), numbers(data, "bound")
        parts.append(f"{name}, {(times <= limits).sum()} of {times.size}")
        arrows += int((~np.isfinite(times)).sum())
    words = (
        "First perfect time against the bound of Theorem 1. Points below the dotted line "
        f"keep it: {'; '.join(parts)}."
    )
    if arrows:
        words += f" An arrow: not perfect as long as the flow was followed ({arrows})."
    return words


def scale(sweeps: dict[str, xr.Dataset]) -> str:
    """Of times over the scale c."""
    words = (
        "Time to perfection when V = fcP, for factors f of the stated scale c (dotted: "
        "the bound)."
    )
    left = sum(int((~np.isfinite(numbers(d, "time"))).sum()) for d in sweeps.values())
    patience = max(float(numbers(d, "patience").max()) for d in sweeps.values())
    if left:
        words += (
            f" Left out: {left} flows that are not perfect within {patience:g} bounds."
        )
    return words


def descents() -> str:
    """Of the paths of Theorem 2."""
    return (
        "Theorem 2: gradient descent on W and V with η = 1/max λ_max of the path. Left: "
        "the smallest margin of a label over the sequences of positive probability; a dot "
        "is the first step at which all of these are right, a circle the first at which "
        "all sets of distinct tokens are. Right: the growth of the largest curvature."
    )


def persistence(lost: int, chosen: int, follow: float, resolution: float) -> str:
    """Of flows that lose perfection."""
    words = f"Flows of Theorem 1 followed to {follow:g} t*. Left: the smallest lead of "
    words += "a label, perfect where positive, of the "
    words += (
        f"{lost} instances that lose perfection" if lost else "instances that lose it"
    )
    if chosen:
        words += " and of one that was chosen because it does (dashed)"
    return words + (
        "; drawn from 1.01 t* on. Right: how many of each family lose it, with 95 % "
        f"intervals. A loss shorter than {resolution:.2%} of the time could be missed."
    )


def values(alone: xr.Dataset, joint: Experiment) -> str:
    """Of V alone, and of V trained with W."""
    return (
        f"V alone under uniform attention, {sizes_of(presets.value_alone())}, "
        f"{alone.sizes['cell']} seeds (median and range): cosine of V with P, and the "
        "share of labels that are right. Right: V after training together with W by "
        f"{type(joint.rule).__name__}, {flow_in_words(joint)}, tokens sorted by their "
        "largest label."
    )


def success(seeds: int, size: str) -> str:
    """Of training from small random weights."""
    return (
        f"W and V from small random weights: median and range over {seeds} seeds at "
        f"{size}, and the first perfect step and success rate at every size (GD green, "
        "SignGD blue, Adam pink)."
    )

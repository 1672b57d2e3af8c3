"""Which kernel trains faster on real tasks: mean losses, paired by seed."""

import math
from collections.abc import Sequence

import numpy as np
import xarray as xr

from piste.claims import Claim, Condition, Verdict, compare_pairs, undecided
from piste.reproduction import Evidence

from ...presets import COMPARED_KERNELS
from .runs import by_kernel, end_of_plateau, mean_loss

CURVES = {"train_loss": "training loss", "test_loss": "test loss"}
"""The losses by which two kernels are compared: the poster draws test curves."""
Pair = tuple[xr.Dataset, xr.Dataset]
"""A run of softmax and one of the Gaussian kernel with the same seed."""


def pairs_by_seed(runs: Sequence[xr.Dataset]) -> list[Pair]:
    """Pair the runs of both kernels by seed, where both are there."""
    groups = by_kernel(runs)
    if not all(kernel in groups for kernel in COMPARED_KERNELS):
        return []
    softmax, gaussian = (
        dict(zip(groups[kernel].seeds, groups[kernel].runs, strict=True))
        for kernel in COMPARED_KERNELS
    )
    return [(softmax[seed], gaussian[seed]) for seed in softmax if seed in gaussian]


def _judge(task: str):
    def judge(evidence: Evidence) -> list[Verdict]:
        pairs = pairs_by_seed(evidence.runs(task))
        if not pairs:
            return [
                undecided("no pairs", "a run of each kernel", "none with equal seed")
            ]
        return [_is_lower(pairs, name, words) for name, words in CURVES.items()]

    return judge


def _is_lower(pairs: list[Pair], name: str, words: str) -> Verdict:
    """One sign test over the seeds; where nothing is learnt, nothing is learnt faster."""
    predicted = f"mean {words} of the Gaussian kernel lower than that of softmax"
    needed = {name, "train_loss", "train_accuracy"}
    if not all(needed <= set(run.variables) for pair in pairs for run in pair):
        return undecided(words, predicted, f"a run lacks {', '.join(sorted(needed))}")
    learnt = [pair for pair in pairs if _learns(pair)]
    count = f"{len(learnt)} of {len(pairs)} pairs"
    softmax, gaussian = np.array([_means(pair, name) for pair in learnt or pairs]).T
    return compare_pairs(
        f"{words}, {count}",
        gaussian,
        softmax,
        predicted=predicted,
        side="lower",
        conditions=(Condition("a run that leaves ln 2", bool(learnt), count),),
        numbers={
            "Gaussian kernel (median)": float(np.median(gaussian)),
            "softmax (median)": float(np.median(softmax)),
        },
        runs=tuple(run.attrs["name"] for pair in learnt for run in pair),
    )


def _learns(pair: Pair) -> bool:
    """Whether one of the two runs leaves the plateau."""
    return any(math.isfinite(end_of_plateau(run)) for run in pair)


def _means(pair: Pair, name: str) -> tuple[float, float]:
    """Mean losses of both; NaN where the runs do not have the same records."""
    softmax, gaussian = (run[name] for run in pair)
    same = softmax.dims == gaussian.dims and np.array_equal(
        softmax[softmax.dims[0]], gaussian[gaussian.dims[0]]
    )
    if not same:
        return math.nan, math.nan
    return mean_loss(pair[0], name), mean_loss(pair[1], name)


CLAIMS = tuple(
    Claim(
        f"Gaussian trains at least as fast, {words}",
        "The Gaussian kernel's loss during training is at most that of softmax, paired "
        "by seed.",
        _judge(task),
        (task,),
        task,
        "Measured by the mean of a loss over all records, in one test over the seeds.",
    )
    for task, words in (("imdb", "IMDb"), ("pathfinder", "Pathfinder"))
)

"""Which kernel trains faster on real tasks: paired by seed."""

import math
from collections.abc import Callable, Sequence

import numpy as np
import xarray as xr

from piste.claims import Claim, Condition, Verdict, compare_pairs, undecided
from piste.reproduction import Evidence

from ...presets import COMPARED_KERNELS
from .rates import best_rates
from .runs import (
    TASKS,
    by_kernel,
    ends_of_plateau,
    mean_loss,
    validated_accuracy,
)

CURVES = {"train_loss": "training loss", "test_loss": "test loss"}
"""The losses by which two kernels are compared: the poster draws test curves."""
Pair = tuple[int, int]
"""The places of a run of softmax and of one of the Gaussian kernel with the same seed."""


def pairs_by_seed(runs: Sequence[xr.Dataset]) -> list[Pair]:
    """Pair the runs of both kernels by seed, where both are there."""
    groups = by_kernel(runs)
    if not all(kernel in groups for kernel in COMPARED_KERNELS):
        return []
    places = {_name(run): place for place, run in enumerate(runs)}
    softmax, gaussian = (
        {run.attrs["seed"]: places[_name(run)] for run in groups[kernel].runs}
        for kernel in COMPARED_KERNELS
    )
    return [(softmax[seed], gaussian[seed]) for seed in softmax if seed in gaussian]


def _name(run: xr.Dataset) -> tuple[str, str]:
    return run.attrs["experiment"]["model"]["kernel"], run.attrs["name"]


def _judge(task: str):
    def judge(evidence: Evidence) -> list[Verdict]:
        pairs = pairs_by_seed(evidence.runs(task))
        if not pairs:
            return [
                undecided("no pairs", "a run of each kernel", "none with equal seed")
            ]
        found = [_is_lower(evidence, task, pairs, *curve) for curve in CURVES.items()]
        if task == "pathfinder":
            found += _judge_learning(evidence, task, pairs)
        return found

    return judge


def _is_lower(
    evidence: Evidence, task: str, pairs: list[Pair], name: str, words: str
) -> Verdict:
    """One sign test over the seeds; where nothing is learnt, nothing is learnt faster."""
    predicted = f"mean {words} of the Gaussian kernel lower than that of softmax"
    runs = evidence.runs(task)
    needed = {name, "train_loss", "train_accuracy"}
    if not all(needed <= set(runs[at].variables) for pair in pairs for at in pair):
        return undecided(words, predicted, f"a run lacks {', '.join(sorted(needed))}")
    learnt = _learnt(evidence, task, pairs)
    means = np.array([_means(runs, pair, name) for pair in learnt or pairs]).T
    return _compare(evidence, task, pairs, learnt, words, predicted, means)


def _judge_learning(evidence: Evidence, task: str, pairs: list[Pair]) -> list[Verdict]:
    """Compare when runs leave ln 2 and how well they end, on images."""
    runs, learnt = evidence.runs(task), _learnt(evidence, task, pairs)
    ends = ends_of_plateau(evidence, task)
    measures: dict[str, tuple[str, Callable[[int], float]]] = {
        "end of the plateau": (
            "the Gaussian kernel leaves ln 2 earlier than softmax",
            lambda at: ends[at],
        ),
        "test error": (
            "test error of the Gaussian kernel lower than that of softmax",
            lambda at: 1 - validated_accuracy(runs[at]),
        ),
    }
    probes = {"validation_accuracy", "test_accuracy"}
    if not all(probes <= set(runs[at].variables) for pair in pairs for at in pair):
        return [
            undecided(words, text, f"a run lacks {', '.join(sorted(probes))}")
            for words, (text, _) in measures.items()
        ]
    found = []
    for words, (predicted, measure) in measures.items():
        numbers = np.array([[measure(at) for at in pair] for pair in learnt or pairs]).T
        found.append(_compare(evidence, task, pairs, learnt, words, predicted, numbers))
    return found


def _compare(
    evidence: Evidence,
    task: str,
    pairs: list[Pair],
    learnt: list[Pair],
    words: str,
    predicted: str,
    numbers: np.ndarray,
) -> Verdict:
    softmax, gaussian = numbers
    runs, count = evidence.runs(task), f"{len(learnt)} of {len(pairs)} pairs"
    return compare_pairs(
        f"{words}, {count}",
        gaussian,
        softmax,
        predicted=predicted,
        side="lower",
        conditions=(
            Condition("a run that leaves ln 2", bool(learnt), count),
            *best_rates(evidence, task),
        ),
        numbers={
            "Gaussian kernel (median)": float(np.median(gaussian)),
            "softmax (median)": float(np.median(softmax)),
        },
        runs=tuple(runs[at].attrs["name"] for pair in learnt for at in pair),
    )


def _learnt(evidence: Evidence, task: str, pairs: list[Pair]) -> list[Pair]:
    """The pairs of which one of the two runs leaves the plateau."""
    runs = evidence.runs(task)
    if not all("train_accuracy" in runs[at] for pair in pairs for at in pair):
        return []
    ends = ends_of_plateau(evidence, task)
    return [pair for pair in pairs if any(math.isfinite(ends[at]) for at in pair)]


def _means(runs: Sequence[xr.Dataset], pair: Pair, name: str) -> tuple[float, float]:
    """Mean losses of both; NaN where the runs do not have the same records."""
    softmax, gaussian = (runs[at] for at in pair)
    along = softmax[name].dims[0]
    if not np.array_equal(softmax[along], gaussian[along]):
        return math.nan, math.nan
    return mean_loss(softmax, name), mean_loss(gaussian, name)


CLAIMS = tuple(
    Claim(
        f"Gaussian trains at least as fast, {words}",
        "Training a transformer with the Gaussian kernel is easier than with softmax: its "
        "loss is lower, paired by seed.",
        _judge(task),
        needs=(task,),
        figure=task,
        remark="Measured by the mean of a loss over all records"
        + (
            ", the end of the plateau and the test error"
            if task == "pathfinder"
            else ""
        )
        + ", each in one test over the seeds.",
    )
    for task, words in TASKS.items()
)

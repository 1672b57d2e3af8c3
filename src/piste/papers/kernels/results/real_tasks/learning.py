"""Softmax against Gaussian attention on text and images: what the runs say."""

import math
from collections.abc import Sequence

import numpy as np
import xarray as xr

from piste.claims import (
    Claim,
    Condition,
    Status,
    Verdict,
    compare,
    compare_pairs,
    decide,
    stages,
    undecided,
)
from piste.reproduction import Evidence

from .real_presets import KERNELS
from .real_runs import (
    AWAY,
    by_kernel,
    chosen_accuracy,
    kernel_of,
    mean_loss,
    plateau,
    plateau_words,
)

ABOVE_CHANCE = 0.75
"""Test accuracy that counts as well above chance."""
PROBES = ("train_loss", "train_accuracy", "validation_accuracy", "test_accuracy")
CURVES = {"train_loss": "training loss", "test_loss": "test loss"}
"""What two kernels are compared by: the poster draws test curves."""
Pair = tuple[xr.Dataset, xr.Dataset]
"""A run of softmax and one of the Gaussian kernel with the same seed."""


def _about(run: xr.Dataset) -> dict:
    words = f"{kernel_of(run)}, seed {run.attrs['seed']}"
    return {"instance": words, "runs": (run.attrs["name"],)}


def _whole(run: xr.Dataset) -> Condition:
    """A run that stopped early was never asked what the claim asks."""
    step = run.attrs["diverged"]
    detail = "" if step < 0 else f"diverged at step {step:,}"
    return Condition("a run to its end", step < 0, detail)


def _each_run(study: str, predicted: str, judge_run):
    """Judge every run; a kernel without one is not judged, and said to be missing."""

    def judge(evidence: Evidence) -> list[Verdict]:
        found = []
        for run in evidence.runs(study):
            lacking = [probe for probe in PROBES if probe not in run]
            if lacking:
                why = f"the run lacks {', '.join(lacking)}"
                found.append(undecided(predicted=predicted, why=why, **_about(run)))
            else:
                found.append(judge_run(run))
        seen = {kernel_of(run) for run in evidence.runs(study)}
        missing = [kernel for kernel in KERNELS if kernel not in seen]
        return found + [undecided(k, predicted, "no run") for k in missing]

    return judge


def _learnt(run: xr.Dataset) -> Verdict:
    first = float(run.test_accuracy[0]) if run.test_accuracy.size else math.nan
    ignorant = Condition("a start near chance", first < ABOVE_CHANCE, f"{first:.3g}")
    return compare(
        measured=chosen_accuracy(run),
        least=ABOVE_CHANCE,
        predicted=f"test accuracy ≥ {ABOVE_CHANCE} at the best validation accuracy",
        bounded=True,
        needs=(_whole(run), ignorant),
        **_about(run),
    )


def _leaves(run: xr.Dataset) -> Verdict:
    step, last = plateau(run), int(run.step[-1])
    left = math.isfinite(step)
    loss = run.train_loss.values
    finite = Condition("a loss at every record", bool(np.isfinite(loss).all()))
    begun = Condition(
        "a loss of guessing at first",
        bool(loss[0] >= math.log(2) - AWAY),
        f"{loss[0]:.3g}",
    )
    return decide(
        holds=left,
        predicted=f"training loss leaves ln 2 within {last:,} steps",
        measured=f"at step {step:,.0f}" if left else plateau_words(run),
        needs=(_whole(run), finite, begun, _tells(run)),
        numbers={"test accuracy": chosen_accuracy(run)},
        **_about(run),
    )


def _tells(run: xr.Dataset) -> Condition:
    """Whether a run that has just left ln 2 goes on for long enough to see it stay so."""
    found = stages(run).boundaries["leaves"]
    short = found.status == Status.TOO_SHORT
    return Condition("a longer run", not short, found.evidence if short else "")


# --- which kernel is faster ---------------------------------------------------------------


def pairs(runs: Sequence[xr.Dataset]) -> list[Pair]:
    """The runs of both kernels, seed by seed, where both are there."""
    groups = by_kernel(runs)
    if not all(kernel in groups for kernel in KERNELS):
        return []
    softmax, gaussian = (
        dict(zip(groups[kernel].seeds, groups[kernel].runs, strict=True))
        for kernel in KERNELS
    )
    return [(softmax[seed], gaussian[seed]) for seed in softmax if seed in gaussian]


def _learns(pair: Pair) -> bool:
    return any(math.isfinite(plateau(run)) for run in pair)


def _faster(task: str):
    def judge(evidence: Evidence) -> list[Verdict]:
        found = pairs(evidence.runs(task))
        if not found:
            return [
                undecided("no pairs", "a run of each kernel", "none with equal seed")
            ]
        return [_lower(found, name, words) for name, words in CURVES.items()]

    return judge


def _lower(found: list[Pair], name: str, words: str) -> Verdict:
    """One sign test over the seeds; where nothing is learnt, nothing is learnt faster."""
    predicted = f"mean {words} of the Gaussian kernel lower than that of softmax"
    needed = {name, "train_loss", "train_accuracy"}
    if not all(needed <= set(run.variables) for pair in found for run in pair):
        return undecided(words, predicted, f"a run lacks {', '.join(sorted(needed))}")
    learnt = [pair for pair in found if _learns(pair)]
    count = f"{len(learnt)} of {len(found)} pairs"
    softmax, gaussian = np.array([_means(pair, name) for pair in learnt or found]).T
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


def _means(pair: Pair, name: str) -> tuple[float, float]:
    """Both means; NaN where the runs have not the same records."""
    softmax, gaussian = (run[name] for run in pair)
    same = softmax.dims == gaussian.dims and np.array_equal(
        softmax[softmax.dims[0]], gaussian[gaussian.dims[0]]
    )
    if not same:
        return math.nan, math.nan
    return mean_loss(pair[0], name), mean_loss(pair[1], name)


CLAIMS = (
    Claim(
        "IMDb is learnt",
        "Both kernels classify real reviews well above chance.",
        _each_run("imdb", "test accuracy well above chance", _learnt),
        ("imdb",),
        "imdb",
        "The test accuracy is the one at the best validation accuracy; the validation set "
        "is carved from the training part.",
    ),
    Claim(
        "Pathfinder leaves ln 2",
        "Training on Pathfinder gets below the loss of guessing within the steps of the "
        "study.",
        _each_run("pathfinder", "training loss leaves ln 2", _leaves),
        ("pathfinder",),
        "pathfinder",
    ),
    *(
        Claim(
            f"Gaussian trains at least as fast, {words}",
            "The Gaussian kernel's loss during training is at most that of softmax, paired "
            "by seed.",
            _faster(task),
            (task,),
            task,
            "Measured by the mean of a loss over all records, in one test over the seeds.",
        )
        for task, words in (("imdb", "IMDb"), ("pathfinder", "Pathfinder"))
    ),
)

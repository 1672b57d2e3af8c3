"""Whether real tasks are learnt: IMDb above chance, Pathfinder below ln 2."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from piste.claims import (
    Boundary,
    Claim,
    Condition,
    Group,
    Status,
    Timeline,
    Verdict,
    compare,
    decide,
    undecided,
)
from piste.reproduction import Evidence, Table

from ...presets import COMPARED_KERNELS
from ...thresholds import GUESSING_BAND, GUESSING_LOSS, MIN_LEARNT_ACCURACY
from ..cells import kernel_of
from .runs import (
    TASKS,
    by_kernel,
    ends_of_plateau,
    plateau_words,
    task_words,
    validated_accuracy,
)

NEEDED = ("train_loss", "train_accuracy", "validation_accuracy", "test_accuracy")
"""Probes that a run must have."""
PUBLISHED = {
    "imdb-bytes": {"softmax": 0.6195, "gaussian": 0.6022},
    "pathfinder": {"softmax": 0.6526, "gaussian": 0.7073},
}
"""Accuracies of Skyformer's paper at its own scale: 4,000 bytes, 32×32 hard images."""


def _instance(run: xr.Dataset) -> dict:
    """Name of a run, and the run itself, as a verdict takes them."""
    text = f"{kernel_of(run)}, seed {run.attrs['seed']}"
    return {"instance": text, "runs": (run.attrs["name"],)}


def _complete(run: xr.Dataset) -> Condition:
    """Require a run to its end: one that stopped early was not asked what a claim asks."""
    step = run.attrs["diverged"]
    detail = "" if step < 0 else f"diverged at step {step:,}"
    return Condition("a run to its end", step < 0, detail)


JudgeRun = Callable[[xr.Dataset, Timeline], Verdict]
"""Judges a run and its stages."""


def _judge_each_run(study: str, predicted: str, judge_run: JudgeRun):
    """Judge every run; a kernel without one is not judged, and said to be missing."""

    def judge(evidence: Evidence) -> list[Verdict]:
        verdicts = []
        for index, run in enumerate(evidence.runs(study)):
            lacking = [probe for probe in NEEDED if probe not in run]
            if lacking:
                why = f"the run lacks {', '.join(lacking)}"
                verdicts.append(
                    undecided(predicted=predicted, why=why, **_instance(run))
                )
            else:
                verdicts.append(judge_run(run, evidence.timeline(study, index)))
        trained = {kernel_of(run) for run in evidence.runs(study)}
        missing = [kernel for kernel in COMPARED_KERNELS if kernel not in trained]
        return verdicts + [undecided(k, predicted, "no run") for k in missing]

    return judge


def _is_learnt(run: xr.Dataset, timeline: Timeline) -> Verdict:
    first = float(run.test_accuracy[0]) if run.test_accuracy.size else math.nan
    starts_ignorant = Condition(
        "a start near chance",
        first < MIN_LEARNT_ACCURACY,
        f"{first:.3g}",
        first,
        MIN_LEARNT_ACCURACY,
    )
    return compare(
        measured=validated_accuracy(run),
        minimum=MIN_LEARNT_ACCURACY,
        predicted=f"test accuracy ≥ {MIN_LEARNT_ACCURACY} at the best validation accuracy",
        bounded=True,
        needs=(_complete(run), starts_ignorant),
        **_instance(run),
    )


def _leaves_plateau(run: xr.Dataset, timeline: Timeline) -> Verdict:
    boundary, last = timeline.boundaries.get("leaves"), int(run.step[-1])
    predicted = f"training loss leaves ln 2 within {last:,} steps"
    if boundary is None:
        return undecided(predicted=predicted, why=timeline.note, **_instance(run))
    loss = run.train_loss.values
    finite = Condition("a loss at every record", bool(np.isfinite(loss).all()))
    starts_guessing = Condition(
        "a loss of guessing at first",
        bool(loss[0] >= GUESSING_LOSS - GUESSING_BAND),
        f"{loss[0]:.3g}",
        float(loss[0]),
        GUESSING_LOSS - GUESSING_BAND,
    )
    leaves = boundary.step is not None
    return decide(
        holds=leaves,
        predicted=predicted,
        measured=f"at step {boundary.step:,}" if leaves else plateau_words(run),
        needs=(_complete(run), finite, starts_guessing, _long_enough(boundary)),
        numbers={"test accuracy": validated_accuracy(run)},
        **_instance(run),
    )


def _long_enough(boundary: Boundary) -> Condition:
    """Require that a run which has just left ln 2 goes on long enough to show it."""
    short = boundary.status == Status.TOO_SHORT
    return Condition("a longer run", not short, boundary.evidence if short else "")


CLAIMS = (
    *(
        Claim(
            f"{TASKS[study]} is learnt",
            "Both kernels classify real reviews well above chance.",
            _judge_each_run(study, "test accuracy well above chance", _is_learnt),
            needs=(study,),
            figure=study,
            remark=(
                "The test accuracy is the one at the best validation accuracy; the "
                "validation set is carved from the training part."
            ),
        )
        for study in ("imdb", "imdb-sgd")
    ),
    Claim(
        "IMDb as bytes is learnt",
        "Both kernels learn something about reviews from their first 256 bytes.",
        _judge_each_run("imdb-bytes", "training loss leaves ln 2", _leaves_plateau),
        needs=("imdb-bytes",),
        figure="imdb-bytes",
        remark=(
            "The poster's axis ends at 0.625; a desk's budget is 1,500 steps of 32 "
            "reviews."
        ),
    ),
    Claim(
        "Pathfinder leaves ln 2",
        "Training on Pathfinder gets below the loss of guessing within the steps of the "
        "study.",
        _judge_each_run("pathfinder", "training loss leaves ln 2", _leaves_plateau),
        needs=("pathfinder",),
        figure="pathfinder",
    ),
)


# --- the table -------------------------------------------------------------------------


def accuracy_table(evidence: Evidence) -> pd.DataFrame:
    """Accuracy, plateau and time by task and kernel, next to published accuracies."""
    rows = [
        _row(task, kernel, groups[kernel], _plateaus(evidence, task, kernel))
        for task in TASKS
        if evidence.has(task) and (groups := by_kernel(evidence.runs(task)))
        for kernel in COMPARED_KERNELS
        if kernel in groups
    ]
    return pd.DataFrame(rows)


def _plateaus(evidence: Evidence, task: str, kernel: str) -> np.ndarray:
    ends = zip(evidence.runs(task), ends_of_plateau(evidence, task), strict=True)
    return np.array([end for run, end in ends if kernel_of(run) == kernel])


def _row(task: str, kernel: str, group: Group, plateaus: np.ndarray) -> dict[str, Any]:
    runs = group.runs
    accuracy = np.array([validated_accuracy(run) for run in runs])
    return {
        "task": task_words(runs[0].attrs["experiment"]["task"]),
        "kernel": kernel,
        "seeds": len(runs),
        "test accuracy": float(accuracy.mean()),
        "sd": float(accuracy.std(ddof=1)) if len(runs) > 1 else math.nan,
        "leave ln 2": int(np.isfinite(plateaus).sum()),
        "at step (median)": float(np.median(plateaus)),
        "final train loss": float(np.mean([r.train_loss.values[-1] for r in runs])),
        "seconds per run": float(np.mean([run.attrs["seconds"] for run in runs])),
        "published, at its scale": PUBLISHED.get(task, {}).get(kernel, math.nan),
    }


TABLES = (
    Table(
        "real",
        "Real tasks: test accuracy at the best validation accuracy, over seeds.",
        accuracy_table,
        any_of=tuple(TASKS),
    ),
)

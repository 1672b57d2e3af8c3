"""Softmax against Gaussian attention on text and images: what the runs say."""

import math

import numpy as np
import pandas as pd
import xarray as xr

from piste.claims import Claim, Condition, Outcome, Verdict, compare, stages

from .real_presets import KERNELS

TASKS = {"imdb": "IMDb, 128 words", "pathfinder": "Pathfinder, easy, 16×16"}
ABOVE_CHANCE = 0.75
"""Test accuracy that counts as well above chance."""
PUBLISHED = {
    "imdb": {"softmax": 0.6195, "gaussian": 0.6022},
    "pathfinder": {"softmax": 0.6526, "gaussian": 0.7073},
}
"""Accuracies of Skyformer's paper at its own scale: bytes, 32×32 hard images."""


def kernel_of(run: xr.Dataset) -> str:
    """The kernel that a run trained."""
    return run.attrs["experiment"]["model"]["kernel"]


def chosen_accuracy(run: xr.Dataset) -> float:
    """Test accuracy at the record of the best validation accuracy: never the best test."""
    place = int(run.validation_accuracy.values.argmax())
    return float(run.test_accuracy.values[place])


def plateau(run: xr.Dataset) -> float:
    """The step at which the training loss leaves ln 2 for good; infinite if never."""
    step = stages(run).boundaries["leaves"].step
    return math.inf if step is None else float(step)


def mean_loss(run: xr.Dataset) -> float:
    """The training loss averaged over the records; infinite if the run diverged."""
    return math.inf if run.attrs["diverged"] >= 0 else float(run.train_loss.mean())


def real_table(evidence) -> pd.DataFrame:
    """Accuracy, plateau and time by task and kernel, next to published accuracies."""
    rows = []
    for task, words in TASKS.items():
        for kernel in KERNELS:
            runs = [r for r in evidence.get(task, []) if kernel_of(r) == kernel]
            if not runs:
                continue
            accuracy = np.array([chosen_accuracy(run) for run in runs])
            left = np.array([plateau(run) for run in runs])
            rows.append(
                {
                    "task": words,
                    "kernel": kernel,
                    "seeds": len(runs),
                    "test accuracy": float(accuracy.mean()),
                    "sd": float(accuracy.std(ddof=1)) if len(runs) > 1 else math.nan,
                    "leave ln 2": int(np.isfinite(left).sum()),
                    "at step (median)": float(np.median(left)),
                    "final train loss": float(
                        np.mean([r.train_loss.values[-1] for r in runs])
                    ),
                    "seconds a run": float(
                        np.mean([run.attrs["seconds"] for run in runs])
                    ),
                    "published, at its scale": PUBLISHED[task][kernel],
                }
            )
    return pd.DataFrame(rows)


def _about(run: xr.Dataset) -> dict:
    words = f"{kernel_of(run)}, seed {run.attrs['seed']}"
    return {"instance": words, "runs": (run.attrs["name"],)}


def _learnt(evidence) -> list[Verdict]:
    return [
        compare(
            measured=chosen_accuracy(run),
            least=ABOVE_CHANCE,
            predicted=f"test accuracy ≥ {ABOVE_CHANCE} at the best validation accuracy",
            **_about(run),
        )
        for run in evidence["imdb"]
    ]


def _leaves(evidence) -> list[Verdict]:
    found = []
    for run in evidence["pathfinder"]:
        step, last = plateau(run), int(run.step[-1])
        left = math.isfinite(step)
        found.append(
            Verdict(
                **_about(run),
                outcome=Outcome.HOLDS if left else Outcome.VIOLATED,
                predicted=f"training loss leaves ln 2 within {last:,} steps",
                measured=f"at step {step:.0f}" if left else "stays at ln 2",
                numbers={"test accuracy": chosen_accuracy(run)},
            )
        )
    return found


def _pairs(runs) -> list[tuple[xr.Dataset, xr.Dataset]]:
    by = {(kernel_of(run), run.attrs["seed"]): run for run in runs}
    seeds = sorted({seed for _, seed in by})
    names = [tuple((kernel, seed) for kernel in KERNELS) for seed in seeds]
    return [(by[one], by[two]) for one, two in names if one in by and two in by]


def _leaves_either(*runs: xr.Dataset) -> Condition:
    """Where nothing is learnt, nothing is learnt faster."""
    steps = [plateau(run) for run in runs]
    words = ", ".join(f"{s:.0f}" if math.isfinite(s) else "never" for s in steps)
    met = any(math.isfinite(step) for step in steps)
    return Condition("a run leaves ln 2", met, f"at step {words}")


def _faster(task: str):
    def judge(evidence) -> list[Verdict]:
        return [
            compare(
                f"seed {softmax.attrs['seed']}",
                mean_loss(gaussian),
                most=mean_loss(softmax),
                predicted="mean training loss at most that of softmax, "
                f"{mean_loss(softmax):.4f}",
                conditions=(_leaves_either(softmax, gaussian),),
                numbers={
                    "test accuracy, Gaussian": chosen_accuracy(gaussian),
                    "test accuracy, softmax": chosen_accuracy(softmax),
                },
            )
            for softmax, gaussian in _pairs(evidence[task])
        ]

    return judge


CLAIMS = (
    Claim(
        "IMDb is learnt",
        "Both kernels classify real reviews well above chance.",
        _learnt,
        ("imdb",),
        "imdb",
        "The test accuracy is the one at the best validation accuracy; the validation set "
        "is carved from the training part.",
    ),
    Claim(
        "Pathfinder leaves ln 2",
        "Training on Pathfinder gets below the loss of guessing.",
        _leaves,
        ("pathfinder",),
        "pathfinder",
    ),
    Claim(
        "Gaussian trains at least as fast, IMDb",
        "The Gaussian kernel's training loss is at most that of softmax, paired by seed.",
        _faster("imdb"),
        ("imdb",),
        "imdb",
        "Measured by the mean of the training loss over all records.",
    ),
    Claim(
        "Gaussian trains at least as fast, Pathfinder",
        "The same on Pathfinder.",
        _faster("pathfinder"),
        ("pathfinder",),
        "pathfinder",
        "Measured by the mean of the training loss over all records.",
    ),
)

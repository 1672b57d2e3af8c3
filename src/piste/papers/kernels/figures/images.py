"""Pathfinder: examples of its images, controls, distractors and long runs."""

import dataclasses

import numpy as np
import pandas as pd

from piste.datasets.pathfinder import PathfinderImages
from piste.experiment import Experiment
from piste.figures import BLACK, Picture, canvas, pathfinder, styled
from piste.reproduction import Evidence, Figure
from piste.tasks import Pathfinder
from piste.values import from_json

from ..presets import COMPARED_KERNELS
from ..results.real_tasks.harder_images import (
    DISTRACTORS,
    LONG,
    distractor_table,
    distractors_of,
)
from ..results.real_tasks.image_controls import (
    CONTROLS,
    LARGE,
    Accuracies,
    accuracies,
)
from ..results.real_tasks.rates import model_of
from ..results.real_tasks.runs import task_words, validated_accuracy
from ._looks import GREY, KERNEL_LOOKS
from .real_tasks import classification

SHORT_NAMES = {
    "markers": "markers\nalone",
    "none": "no\nattention",
    "pixel-mlp": "pixels,\nsame size",
    LARGE: "pixels,\n4 × size",
}


# --- examples --------------------------------------------------------------------------


def _draw_examples(evidence: Evidence) -> Picture | None:
    if not evidence.runs("pathfinder"):
        return None
    about = evidence.runs("pathfinder")[0].attrs["experiment"]
    experiment = from_json(Experiment, about)
    task = experiment.task
    assert isinstance(task, Pathfinder)
    caption = (
        f"{task_words(about['task'])} pixels: do the two markers (ringed) lie on one "
        "contour? Images come in pairs whose markers lie alike, one of either label."
    )
    return pathfinder(_kinds(task.images), caption, seed=experiment.seed)


def _kinds(images: PathfinderImages) -> dict[str, PathfinderImages]:
    three = dataclasses.replace(images, paddles=3)
    distracted = dataclasses.replace(images, distractors=8)
    return {
        f"{images.contour_paddles} strokes": images,
        "3 strokes": three,
        "2 distractors": distracted,
    }


# --- controls --------------------------------------------------------------------------


@styled
def controls(found: Accuracies) -> Picture:
    """Draw the test accuracy of every seed, by model, with the mean of each."""
    names = [*COMPARED_KERNELS, *CONTROLS, LARGE]
    shown = [name for name in names if found.get(name)]
    figure, axes = canvas(1, 1, 2.6)
    panel, rows = axes[0, 0], []
    for place, name in enumerate(shown):
        values = np.array(list(found[name].values()))
        colour = KERNEL_LOOKS[name][0] if name in KERNEL_LOOKS else GREY
        across = place + np.linspace(-0.15, 0.15, values.size)
        panel.plot(across, values, "o", color=colour, ms=3.5, alpha=0.7)
        panel.plot([place - 0.3, place + 0.3], [values.mean()] * 2, color=BLACK, lw=1.6)
        text = f"{values.mean():.3f}"
        panel.text(place + 0.34, values.mean(), text, va="center", fontsize=7.5)
        rows += [
            {"model": name, "seed": seed, "test accuracy": value}
            for seed, value in found[name].items()
        ]
    panel.axhline(0.5, color=GREY, lw=0.6, ls=":")
    panel.set_xticks(range(len(shown)), [SHORT_NAMES.get(name, name) for name in shown])
    panel.set(ylabel="test accuracy", xlim=(-0.6, len(shown) - 0.2))
    caption = (
        "Pathfinder at the best validation accuracy: dots are seeds, lines their means. "
        "Left both kernels, right what tells the label without attention."
    )
    return Picture(figure, pd.DataFrame(rows), caption)


def _draw_controls(evidence: Evidence) -> Picture:
    return controls(evidence.once(accuracies))


# --- distractors and long runs ---------------------------------------------------------


@styled
def distractors(table: pd.DataFrame, runs: pd.DataFrame) -> Picture:
    """Draw the test accuracy over the number of distractors, with every seed."""
    figure, axes = canvas(1, 1, 2.6)
    panel = axes[0, 0]
    for kernel in COMPARED_KERNELS:
        colour, marker, dashes, _ = KERNEL_LOOKS[kernel]
        means, own = table.loc[table.kernel == kernel], runs.loc[runs.kernel == kernel]
        panel.plot(own.distractors, own.accuracy, marker, color=colour, ms=3, alpha=0.5)
        look = {"color": colour, "ls": dashes, "label": kernel}
        panel.plot(means.distractors, means["test accuracy"], **look)
    panel.axhline(0.5, color=GREY, lw=0.6, ls=":")
    panel.set(xlabel="distractors attempted", ylabel="test accuracy", ylim=(0.45, 1.0))
    panel.set_xticks(sorted(set(table.distractors)))
    panel.legend(loc="best")
    caption = "Pathfinder with distractors: dots are seeds, lines their means."
    return Picture(figure, runs, caption)


def _draw_distractors(evidence: Evidence) -> Picture:
    rows = [
        {"distractors": distractors_of(run) // 4, "kernel": model_of(run)}
        | {"seed": run.attrs["seed"], "accuracy": validated_accuracy(run)}
        for run in evidence.runs(DISTRACTORS)
    ]
    return distractors(distractor_table(evidence), pd.DataFrame(rows))


def _curves(study: str, strokes: int) -> Figure:
    def draw(evidence: Evidence) -> Picture | None:
        runs = list(evidence.runs(study))
        caption = (
            f"Pathfinder with contours of {strokes} strokes for 20,000 steps: thin lines "
            "are seeds, thick ones their mean; dotted is guessing."
        )
        return classification(runs, caption) if runs else None

    return Figure(study.replace("-", "_"), draw, (study,))


FIGURES = (
    Figure("images", _draw_examples, ("pathfinder",)),
    Figure(
        "pathfinder_controls",
        _draw_controls,
        ("pathfinder", "pathfinder-controls", "pathfinder-markers"),
    ),
    *(_curves(study, strokes) for study, strokes in LONG.items()),
    Figure("pathfinder_distractors", _draw_distractors, (DISTRACTORS,)),
)

"""Pathfinder beside what tells a label without tracing: markers, windows, all pixels.

The controls are a forest on the places of the two markers, the same classifier without
attention, and a network on all pixels with as many weights. A larger one of these is
shown too, and not asked to be beaten.
"""

from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from piste.claims import (
    CONFIDENCE_PERCENT,
    Claim,
    Verdict,
    compare_range,
    mean_interval,
    undecided,
)
from piste.reproduction import Evidence, Table

from ...presets import COMPARED_KERNELS, PIXEL_NEURONS
from ...thresholds import MIN_LEAD
from .rates import best_rates, model_of
from .runs import (
    accuracy_columns,
    ends_of_plateau,
    plateau_columns,
    task_words,
    validated_accuracy,
    weight_count,
)

CONTROLS = {
    "markers": "the places of the markers alone (a forest)",
    "none": "no attention",
    "pixel-mlp": "all pixels, as many weights",
}
"""What a kernel must be better than, in words."""
LARGE = "large pixel-mlp"
LARGE_WORDS = "all pixels, four times as many weights"

Accuracies = dict[str, dict[int, float]]
"""Test accuracies by model and seed."""


def accuracies(evidence: Evidence) -> Accuracies:
    """The test accuracy of every run at its best validation accuracy, and the forests'."""
    found: Accuracies = {}
    for study in ("pathfinder", "pathfinder-controls"):
        for run in evidence.runs(study):
            seeds = found.setdefault(control_name(run), {})
            seeds[int(run.attrs["seed"])] = validated_accuracy(run)
    forests = evidence.dataset("pathfinder-markers")
    desk = forests.isel(cell=np.flatnonzero(forests.images.values == "desk"))
    pairs = zip(desk.seed.values.tolist(), desk.accuracy.values.tolist(), strict=True)
    return found | {"markers": dict(pairs)}


def control_name(run: xr.Dataset) -> str:
    """The kernel of a run, or which of the networks on pixels it is."""
    name, model = model_of(run), run.attrs["experiment"]["model"]
    return LARGE if name == "pixel-mlp" and model["hidden"] > PIXEL_NEURONS[0] else name


def leads(found: Accuracies, kernel: str, control: str) -> np.ndarray:
    """By how much a kernel is better than a control, for every seed that both have."""
    one, two = found.get(kernel, {}), found.get(control, {})
    return np.array([one[seed] - two[seed] for seed in sorted(one) if seed in two])


# --- the claim -------------------------------------------------------------------------

NEEDED = ("validation_accuracy", "test_accuracy")


def _judge(evidence: Evidence) -> list[Verdict]:
    predicted = f"mean lead in test accuracy ≥ {MIN_LEAD}"
    studies = ("pathfinder", "pathfinder-controls")
    lacking = [
        probe
        for study in studies
        for run in evidence.runs(study)
        for probe in NEEDED
        if probe not in run
    ]
    if lacking or "accuracy" not in evidence.dataset("pathfinder-markers"):
        why = f"a run lacks {lacking[0]}" if lacking else "the forests lack accuracy"
        return [undecided("no accuracies", predicted, why)]
    found = evidence.once(accuracies)
    return [
        _verdict(evidence, found, kernel, control, predicted)
        for kernel in COMPARED_KERNELS
        for control in CONTROLS
    ]


def _verdict(
    evidence: Evidence, found: Accuracies, kernel: str, control: str, predicted: str
) -> Verdict:
    lead = leads(found, kernel, control)
    low, high = mean_interval(lead) if lead.size else (np.nan, np.nan)
    return compare_range(
        f"{kernel} against {CONTROLS[control]}, {lead.size} seeds",
        low,
        high,
        minimum=MIN_LEAD,
        predicted=predicted,
        conditions=best_rates(evidence, "pathfinder"),
        numbers={
            name: float(np.mean(list(found[name].values())))
            for name in (kernel, control)
            if found.get(name)
        },
        unclear=f"the {CONFIDENCE_PERCENT} interval of the mean has both sides of it",
    )


CLAIMS = (
    Claim(
        "Pathfinder is more than its cues",
        "Both kernels classify images better than whatever can be told without tracing.",
        _judge,
        needs=("pathfinder", "pathfinder-controls", "pathfinder-markers"),
        figure="pathfinder_controls",
        remark=(
            "Images are balanced so that the places of the markers tell nothing. A "
            "network on all pixels with four times as many weights is shown beside, "
            "and not judged: on 16×16 pixels it can learn every contour by heart."
        ),
    ),
)


# --- the table -------------------------------------------------------------------------


def _rows(evidence: Evidence) -> pd.DataFrame:
    rows = []
    for study in ("pathfinder", "pathfinder-controls"):
        if not evidence.has(study):
            continue
        runs, ends = evidence.runs(study), ends_of_plateau(evidence, study)
        for name in dict.fromkeys(control_name(run) for run in runs):
            own = [at for at, run in enumerate(runs) if control_name(run) == name]
            rows.append(_row(name, [runs[at] for at in own], [ends[at] for at in own]))
    return pd.DataFrame([*rows, *_forest_rows(evidence)])


def _row(name: str, runs: list[xr.Dataset], ends: list[float]) -> dict[str, Any]:
    return {
        "images": task_words(runs[0].attrs["experiment"]["task"]),
        "model": LARGE_WORDS if name == LARGE else CONTROLS.get(name, name),
        "weights": weight_count(runs[0]),
        "seeds": len(runs),
        **accuracy_columns([validated_accuracy(run) for run in runs]),
        **plateau_columns(ends),
        "seconds per run": float(np.mean([run.attrs["seconds"] for run in runs])),
    }


def _forest_rows(evidence: Evidence) -> list[dict[str, Any]]:
    if not evidence.has("pathfinder-markers"):
        return []
    forests = evidence.dataset("pathfinder-markers")
    rows = []
    for images, cells in forests.groupby("images"):
        values = cells.accuracy.values
        rows.append(
            {
                "images": str(images),
                "model": CONTROLS["markers"],
                "seeds": values.size,
                **accuracy_columns(values),
            }
        )
    return rows


TABLES = (
    Table(
        "pathfinder_controls",
        "Pathfinder: test accuracy at the best validation accuracy with the "
        f"{CONFIDENCE_PERCENT} interval "
        "of the mean over seeds, and what tells the label without tracing.",
        _rows,
        any_of=("pathfinder", "pathfinder-controls", "pathfinder-markers"),
    ),
)

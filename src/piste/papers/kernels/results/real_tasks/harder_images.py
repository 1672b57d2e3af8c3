"""How far learning goes: longer training, longer contours, and distractors."""

from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from piste.reproduction import Evidence, Table

from ...presets import COMPARED_KERNELS
from .rates import model_of
from .runs import accuracy_columns, ends_of_plateau, plateau_columns, validated_accuracy

LONG = {"pathfinder-long": 2, "pathfinder-three": 3}
"""Studies of 20,000 steps, with the strokes of their contours."""
DISTRACTORS = "pathfinder-distractors"
AREA_RATIO = (32 // 16) ** 2
"""Area of 32×32 pixels over that of 16×16, where fewer distractors are attempted."""


def distractors_of(run: xr.Dataset) -> int:
    """Distractors that were attempted on 32×32 pixels."""
    return int(run.attrs["experiment"]["task"]["distractors"])


def _row(runs: list[xr.Dataset], ends: list[float]) -> dict[str, Any]:
    left = [end for end in ends if np.isfinite(end)]
    return {
        "steps": int(runs[0].attrs["experiment"]["steps"]),
        "seeds": len(runs),
        **plateau_columns(ends),
        "earliest": min(left, default=np.nan),
        "latest": max(left, default=np.nan),
        **accuracy_columns([validated_accuracy(run) for run in runs]),
    }


def long_table(evidence: Evidence) -> pd.DataFrame:
    """Tabulate the runs of 20,000 steps by the strokes of a contour and the kernel."""
    rows = []
    for study, strokes in LONG.items():
        if not evidence.has(study):
            continue
        runs, ends = evidence.runs(study), ends_of_plateau(evidence, study)
        for kernel in COMPARED_KERNELS:
            own = [at for at, run in enumerate(runs) if model_of(run) == kernel]
            if own:
                numbers = _row([runs[at] for at in own], [ends[at] for at in own])
                rows.append({"strokes": strokes, "kernel": kernel} | numbers)
    return pd.DataFrame(rows)


def distractor_table(evidence: Evidence) -> pd.DataFrame:
    """Tabulate the runs with distractors by their number and the kernel."""
    runs, ends = evidence.runs(DISTRACTORS), ends_of_plateau(evidence, DISTRACTORS)
    keys = dict.fromkeys((distractors_of(run), model_of(run)) for run in runs)
    rows = []
    for count, kernel in sorted(keys, key=lambda key: (key[0], key[1] != "softmax")):
        own = [
            at
            for at, run in enumerate(runs)
            if (distractors_of(run), model_of(run)) == (count, kernel)
        ]
        numbers = _row([runs[at] for at in own], [ends[at] for at in own])
        rows.append({"distractors": count // AREA_RATIO, "kernel": kernel} | numbers)
    return pd.DataFrame(rows)


TABLES = (
    Table(
        "pathfinder_long",
        "Pathfinder for 20,000 steps, contours of two and of three strokes.",
        long_table,
        any_of=tuple(LONG),
    ),
    Table(
        "pathfinder_distractors",
        "Pathfinder with distractors: how many were attempted on 16×16 pixels.",
        distractor_table,
        (DISTRACTORS,),
    ),
)

"""Which kernel has the smoother loss surface: paired by model, at matched loss."""

import dataclasses

import numpy as np
import pandas as pd

from piste.claims import Claim, Outcome, Verdict, compare_pairs, undecided
from piste.experiment import Experiment
from piste.landscape import (
    ENOUGH as MAX_LOSS_MISMATCH,
)
from piste.landscape import (
    HEADLINE,
    by_model,
    comparable,
    metrics_table,
    paired_table,
)
from piste.reproduction import Evidence, Table
from piste.values import to_json

from .. import presets
from ..presets import COMPARED_KERNELS
from .real_tasks.runs import task_words

STUDIES = {"landscape-text": "IMDb", "landscape-images": "Pathfinder"}
"""The studies of loss surfaces, and the data sets of their models."""
PREDICTED = "lower with the Gaussian kernel"


def first_stage(study: str) -> Experiment:
    """The experiment that trains the models of a study before their kernels differ."""
    if study == "landscape-text":
        return presets.landscape_desk()
    return presets.pathfinder_desk()


def surveyed_task(study: str) -> str:
    """The task of a study's models in words."""
    return task_words(to_json(first_stage(study).task))


# --- the claims ------------------------------------------------------------------------


def _judge(study: str):
    def judge(evidence: Evidence) -> list[Verdict]:
        pairs = evidence.surfaces(study)
        matched = comparable(pairs)
        if not matched:
            why = (
                f"no pair of {len(pairs)} has centres whose losses match to "
                f"{MAX_LOSS_MISMATCH:.0%}"
            )
            return [undecided("no models", PREDICTED, why)]
        table = metrics_table(matched)
        kernels = set(table.kernel)
        missing = [kernel for kernel in COMPARED_KERNELS if kernel not in kernels]
        if missing:
            return [undecided("no pairs", PREDICTED, f"no surface with {missing[0]}")]
        return [_verdict(table, name, words) for name, words in HEADLINE.items()]

    return judge


def _verdict(table: pd.DataFrame, name: str, words: str) -> Verdict:
    """Judge one metric: each model gives the median over its planes."""
    models = by_model(table, name)
    softmax, gaussian = (models[kernel].to_numpy() for kernel in COMPARED_KERNELS)
    verdict = compare_pairs(
        f"{words}, {len(models)} models", gaussian, softmax, predicted=PREDICTED
    )
    all_known = np.isfinite(models.to_numpy()).all()
    if verdict.outcome == Outcome.INCONCLUSIVE and not all_known:
        return verdict
    medians = f"medians {np.median(gaussian):.3g} against {np.median(softmax):.3g}"
    measured = f"{verdict.measured}; {medians} with softmax"
    return dataclasses.replace(verdict, measured=measured)


CLAIMS = tuple(
    Claim(
        f"Gaussian landscape smoother, {words}",
        "After two-stage training the loss around the weights is smoother with the "
        "Gaussian kernel than with softmax.",
        _judge(study),
        (study,),
        study,
        "Smoother: fewer non-convex cells, and a smaller 1 − R² of a quadratic fit, on "
        "planes of a random direction in W^Q and one in W^K, around centres whose "
        f"losses match to {MAX_LOSS_MISMATCH:.0%}. Both numbers were fixed beforehand.",
    )
    for study, words in STUDIES.items()
)


# --- the tables ------------------------------------------------------------------------


def _table(study: str) -> Table:
    """The surfaces of one study, where some pairs match."""

    def make(evidence: Evidence) -> pd.DataFrame | None:
        matched = comparable(evidence.surfaces(study))
        return paired_table(metrics_table(matched)) if matched else None

    def caption(evidence: Evidence, rows: pd.DataFrame) -> str:
        matched = len(comparable(evidence.surfaces(study)))
        text = f"{matched} of {evidence.count(study)} pairs at matched loss"
        return f"Loss surfaces, {surveyed_task(study)}: {text}."

    return Table(study, caption, make, needs=(study,))


TABLES = tuple(_table(study) for study in STUDIES)

"""Which kernel has the smoother loss surface, and why: paired by model, at equal rise."""

import dataclasses
import functools
from collections.abc import Callable

import numpy as np
import pandas as pd

from piste.claims import Claim, Outcome, Verdict, compare_pairs, undecided
from piste.experiment import Experiment
from piste.landscape import (
    EFFECTS,
    HEADLINE,
    MAX_LOSS_MISMATCH,
    Effect,
    comparable,
    differences,
    effects_table,
    metrics_table,
)
from piste.landscape.effects import signed_ranks
from piste.reproduction import Evidence, Table
from piste.values import to_json

from .. import presets
from .real_tasks.runs import task_words

STUDIES = {"landscape-text": "IMDb", "landscape-images": "Pathfinder"}
"""The studies of loss surfaces, and the data sets of their models."""
KERNELS = ("softmax", "gaussian", "gaussian-rows", "gaussian-mean")
"""The kernels that are compared; models are trained with the first of them first."""
WEIGHTS = {
    "trained": "both stages trained, centres at matched loss",
    "swapped": "the kernel swapped in trained weights, no step made",
}
"""The weights around which surfaces are drawn, in words."""
STATEMENTS = {
    "both": "The loss around the weights is smoother with the Gaussian kernel than with "
    "softmax.",
    "kernel": "The kernel makes it smoother: Gaussian weights divided by their sum, "
    "against softmax.",
    "normalisation": "Leaving out the normalisation makes it smoother: Gaussian weights "
    "as they are, against the same divided by their sum.",
}
"""What is claimed of the Gaussian kernel, and of either of its two differences."""


def first_stage(study: str) -> Experiment:
    """The experiment that trains the models of a study before their kernels differ."""
    if study == "landscape-text":
        return presets.landscape_desk()
    return presets.pathfinder_desk()


def surveyed_task(study: str) -> str:
    """The task of a study's models in words."""
    return task_words(to_json(first_stage(study).task))


def measured_surfaces(evidence: Evidence, study: str) -> pd.DataFrame:
    """Measure the surfaces that are compared, once for all who ask."""
    return evidence.once(_MEASURES[study])


def _measure(evidence: Evidence, study: str) -> pd.DataFrame:
    """Make a row for each surface, of trained weights only at matched loss.

    Swapped kernels in the same weights have the losses that they have.
    """
    parts = evidence.surfaces(study)
    table = metrics_table(parts)
    kept = (table.weights == "swapped") | (table.mismatch <= MAX_LOSS_MISMATCH)
    return table.loc[kept].reset_index(drop=True)


_MEASURES = {study: functools.partial(_measure, study=study) for study in STUDIES}


# --- the claims ------------------------------------------------------------------------


def _judge(study: str, effect: Effect) -> Callable[[Evidence], list[Verdict]]:
    predicted = f"lower with {effect.changed} than with {effect.reference}"

    def judge(evidence: Evidence) -> list[Verdict]:
        table = measured_surfaces(evidence, study)
        if "trained" not in set(table.weights):
            why = (
                f"no plane of {len(evidence.surfaces(study))} has centres whose losses "
                f"match to {MAX_LOSS_MISMATCH:.0%}"
            )
            return [undecided("no models", predicted, why)]
        missing = {effect.changed, effect.reference} - {*table.kernel}
        if missing:
            return [undecided("no surfaces", predicted, f"none with {min(missing)}")]
        return [
            _verdict(table, metric, effect, weights, predicted)
            for weights in table.weights.unique()
            for metric in HEADLINE
        ]

    return judge


def _verdict(
    table: pd.DataFrame, metric: str, effect: Effect, weights: str, predicted: str
) -> Verdict:
    """Judge one metric: each model gives its difference, the mean over the windows."""
    change = differences(table, metric, effect, weights).iloc[:, -1].to_numpy()
    verdict = compare_pairs(
        f"{HEADLINE[metric]}, {weights}, {len(change)} models",
        change,
        np.zeros_like(change),
        predicted=predicted,
    )
    known = change[np.isfinite(change)]
    if verdict.outcome == Outcome.INCONCLUSIVE and not known.size:
        return verdict
    middle, p = float(np.median(known)), signed_ranks(change)
    measured = (
        f"{verdict.measured}; median difference {middle:+.3g}, signed ranks p = {p:.3g}"
    )
    numbers = verdict.numbers | {"median difference": middle, "signed ranks p": p}
    return dataclasses.replace(verdict, measured=measured, numbers=numbers)


_NAMES = {
    "both": "Gaussian landscape smoother",
    "kernel": "… of which by the kernel",
    "normalisation": "… of which by leaving out the normalisation",
}

CLAIMS = tuple(
    Claim(
        f"{_NAMES[name]}, {words}",
        statement,
        _judge(study, Effect(name, *EFFECTS[name])),
        needs=(study,),
        figure=study,
        remark=(
            "Smoother: fewer points at which the loss bends down along a line, less "
            "negative curvature in units of the rise, and a smaller 1 − R² of a "
            "quadratic fit, on planes of a random direction in W^Q and one in W^K, "
            "each as large as the loss needs to rise by the same amounts. Around "
            "weights after two stages of training (centres at equal loss to "
            f"{MAX_LOSS_MISMATCH:.0%}), and around one and the same weights with the "
            "kernel swapped. Numbers and rises were fixed beforehand."
        ),
    )
    for study, words in STUDIES.items()
    for name, statement in STATEMENTS.items()
)


# --- the tables ------------------------------------------------------------------------


def _table(study: str) -> Table:
    """The effects that a study shows, for the numbers by which surfaces are judged."""

    def make(evidence: Evidence) -> pd.DataFrame | None:
        table = effects_table(measured_surfaces(evidence, study))
        if table.empty:
            return None
        return table.loc[table.metric.isin(list(HEADLINE.values()))]

    def caption(evidence: Evidence, rows: pd.DataFrame) -> str:
        parts = evidence.surfaces(study)
        text = f"{len(comparable(parts))} of {len(parts)} planes at matched loss"
        return f"Loss surfaces, {surveyed_task(study)}: {text}."

    return Table(study, caption, make, needs=(study,))


TABLES = tuple(_table(study) for study in STUDIES)

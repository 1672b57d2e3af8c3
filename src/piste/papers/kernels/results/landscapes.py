"""Which kernel has the smoother loss surface: paired over models, at matched loss."""

import dataclasses

import numpy as np
import pandas as pd

from piste.claims import Claim, Outcome, Verdict, compare_pairs, undecided
from piste.landscape import ENOUGH, HEADLINE, by_model, comparable, metrics_table
from piste.reproduction import Evidence

from .real_presets import KERNELS

STUDIES = {"landscape-text": "IMDb", "landscape-images": "Pathfinder"}
"""The studies of loss surfaces, and what they are about."""
PREDICTED = "lower with the Gaussian kernel"


def _smoother(study: str):
    def judge(evidence: Evidence) -> list[Verdict]:
        parts = evidence.surfaces(study)
        kept = comparable(parts)
        if not kept:
            why = f"no pair of {len(parts)} has centres whose losses match to {ENOUGH:.0%}"
            return [undecided("no models", PREDICTED, why)]
        table = metrics_table(kept)
        missing = [kernel for kernel in KERNELS if kernel not in set(table.kernel)]
        if missing:
            return [undecided("no pairs", PREDICTED, f"no surface with {missing[0]}")]
        return [_verdict(table, name, words) for name, words in HEADLINE.items()]

    return judge


def _verdict(table: pd.DataFrame, name: str, words: str) -> Verdict:
    """One metric: each model gives the median over its planes."""
    models = by_model(table, name)
    softmax, gaussian = (models[kernel].to_numpy() for kernel in KERNELS)
    found = compare_pairs(
        f"{words}, {len(models)} models", gaussian, softmax, predicted=PREDICTED
    )
    middle = f"medians {np.median(gaussian):.3g} against {np.median(softmax):.3g}"
    if (
        found.outcome == Outcome.INCONCLUSIVE
        and not np.isfinite(models.to_numpy()).all()
    ):
        return found
    said = f"{found.measured}; {middle} with softmax"
    return dataclasses.replace(found, measured=said)


CLAIMS = tuple(
    Claim(
        f"Gaussian landscape smoother, {words}",
        "After two-stage training the loss around the weights is smoother with the "
        "Gaussian kernel than with softmax.",
        _smoother(study),
        (study,),
        study,
        "Smoother: fewer non-convex cells, and a smaller 1 − R² of a quadratic fit, on "
        "planes of a random direction in W^Q and one in W^K, around centres whose "
        f"losses match to {ENOUGH:.0%}. Both numbers were fixed beforehand.",
    )
    for study, words in STUDIES.items()
)

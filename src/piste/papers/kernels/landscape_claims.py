"""Which kernel has the smoother loss surface: paired over models, at matched loss."""

import numpy as np
import pandas as pd

from piste.claims import Claim, Outcome, Verdict
from piste.landscape.matched import ENOUGH
from piste.landscape.metrics import paired, sign_test
from piste.landscape.tables import HEADLINE, by_model, comparable, metrics_table

from .real_presets import KERNELS
from .thresholds import TELLING

TASKS = {
    "landscape-text": "IMDb, 128 words",
    "landscape-images": "Pathfinder, easy, 16×16",
}


def _smoother(study: str):
    def judge(evidence) -> list[Verdict]:
        table = metrics_table(comparable(evidence[study]))
        models = table.model.nunique() if len(table) else 0
        if sign_test(models, 0) >= TELLING:
            return [_too_few(models, len(evidence[study]))]
        return [_verdict(table, name, words) for name, words in HEADLINE.items()]

    return judge


def _too_few(models: int, pairs: int) -> Verdict:
    least = next(n for n in range(1, 100) if sign_test(n, 0) < TELLING)
    return Verdict(
        instance=f"{models} models, {pairs} pairs of surfaces",
        outcome=Outcome.UNMET,
        predicted=f"lower with the Gaussian kernel, sign test p < {TELLING}",
        measured=f"too few models at matched loss for a test, which needs {least}",
    )


def _verdict(table: pd.DataFrame, name: str, words: str) -> Verdict:
    """One metric: each model gives the median over its planes."""
    models = by_model(table, name)
    softmax, gaussian = (models[kernel].to_numpy() for kernel in KERNELS)
    found = paired(gaussian, softmax)
    told = found.p_value < TELLING
    lower = Outcome.HOLDS if found.wins > found.losses else Outcome.VIOLATED
    return Verdict(
        instance=f"{words}, {len(models)} models",
        outcome=lower if told else Outcome.INCONCLUSIVE,
        predicted=f"lower with the Gaussian kernel, sign test p < {TELLING}",
        measured=f"lower in {found.wins}, higher in {found.losses} of {len(models)} "
        f"(p = {found.p_value:.2g}); medians {np.median(gaussian):.3g} against "
        f"{np.median(softmax):.3g} with softmax",
        numbers={"lower": found.wins, "higher": found.losses, "p": found.p_value},
    )


CLAIMS = tuple(
    Claim(
        f"Gaussian landscape smoother, {words.split(',')[0]}",
        "After two-stage training the loss around the weights is smoother with the "
        "Gaussian kernel than with softmax.",
        _smoother(study),
        (study,),
        study,
        "Smoother: fewer non-convex cells, and a smaller 1 − R² of a quadratic fit, on "
        "planes of a random direction in W^Q and one in W^K, around centres whose "
        f"losses match to {ENOUGH:.0%}. Both numbers were fixed beforehand.",
    )
    for study, words in TASKS.items()
)

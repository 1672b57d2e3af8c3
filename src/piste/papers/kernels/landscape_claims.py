"""Which kernel has the smoother loss surface: paired over models, at matched loss."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
import xarray as xr

from piste.claims import Claim, Outcome, Verdict
from piste.landscape.metrics import paired
from piste.landscape.tables import HEADLINE, metrics_table, paired_table

from .real_presets import KERNELS
from .thresholds import MATCHED, TELLING

TASKS = {
    "landscape-text": "IMDb, 128 words",
    "landscape-images": "Pathfinder, easy, 16×16",
}


def matched(parts: Sequence[xr.Dataset]) -> list[xr.Dataset]:
    """The pairs of surfaces whose centres have the same loss, near enough."""
    return [part for part in parts if mismatch(part) <= MATCHED]


def mismatch(part: xr.Dataset) -> float:
    """How far the losses at both centres differ, as a share of the larger."""
    places = zip(part.true_loss.values, part.centre.values, strict=True)
    centres = np.array([losses[int(place)] for losses, place in places])
    return float(np.ptp(centres) / centres.max())


def landscape_table(parts: Sequence[xr.Dataset]) -> pd.DataFrame:
    """The paired table of the pairs that match."""
    return paired_table(metrics_table(matched(parts), KERNELS), KERNELS)


def _smoother(study: str):
    def judge(evidence) -> list[Verdict]:
        kept = matched(evidence[study])
        if not kept:
            return [_none(len(evidence[study]))]
        table = metrics_table(kept, KERNELS)
        return [_verdict(table, name, words) for name, words in HEADLINE.items()]

    return judge


def _none(pairs: int) -> Verdict:
    return Verdict(
        instance=f"{pairs} pairs of surfaces",
        outcome=Outcome.UNMET,
        predicted="Gaussian smoother at matched loss",
        measured=f"no pair whose losses match to {MATCHED:.0%}",
    )


def _verdict(table: pd.DataFrame, name: str, words: str) -> Verdict:
    """One metric: each model gives the median over its planes."""
    models = table.groupby(["kernel", "model"])[name].median().unstack("kernel")
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
        f"losses match to {MATCHED:.0%}. Both numbers were fixed beforehand.",
    )
    for study, words in TASKS.items()
)

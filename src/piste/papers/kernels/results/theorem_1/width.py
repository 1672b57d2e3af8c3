"""Which width is needed: HD = Nn is the boundary for W^V alone, and not with W^Q, W^K."""

import numpy as np
import xarray as xr

from piste.claims import Claim, Verdict, compare
from piste.reproduction import Evidence

from ...thresholds import MIN_FLOOR, REACHED_SHARE, ZERO_FLOOR, ZERO_LOSS
from ..cells import (
    by_shape,
    enough_seeds,
    final_share,
    missing_data_verdicts,
    select,
    share_of,
)
from ._constants import CONSTANTS
from .runs import floor_share


def _judge_boundary(evidence: Evidence) -> list[Verdict]:
    data, predicted = evidence.dataset("transition"), "f = 0 for some W^V where HD ≥ Nn"
    needed = [*CONSTANTS, "train", "floor", "initial_loss", "loss"]
    if missing := missing_data_verdicts(data, needed, predicted):
        return missing
    return [
        _reachable(shape.words, select(shape.cells, train="V"), shape.ratio < 1)
        for shape in by_shape(data)
    ]


def _reachable(name: str, runs: xr.Dataset, narrow: bool) -> Verdict:
    """Judge what W^V alone can reach: not zero in a narrow layer, zero in others."""
    limits = (
        {"minimum": MIN_FLOOR, "predicted": f"f/f₀ ≥ {MIN_FLOOR:g} for every W^V"}
        if narrow
        else {"maximum": ZERO_FLOOR, "predicted": "f = 0 for some W^V"}
    )
    numbers = {"f_T/f₀ (median)": float(np.median(final_share(runs)))}
    return compare(name, floor_share(runs), bounded=True, numbers=numbers, **limits)


def _judge_narrow(evidence: Evidence) -> list[Verdict]:
    data = evidence.dataset("transition")
    predicted = f"half of the seeds reach f_T/f₀ < {ZERO_LOSS:g} with HD < Nn"
    needed = [*CONSTANTS, "train", "loss"]
    if missing := missing_data_verdicts(data, needed, predicted):
        return missing
    predicted += f" within {int(data.step[-1]):,} steps"
    return [
        _reached(shape.words, select(shape.cells, train="QKV"), predicted)
        for shape in by_shape(data)
        if shape.ratio < 1
    ]


def _reached(name: str, runs: xr.Dataset, predicted: str) -> Verdict:
    last = final_share(runs)
    return compare(
        name,
        share_of(last < ZERO_LOSS, np.isfinite(last)),
        minimum=REACHED_SHARE,
        predicted=predicted,
        bounded=True,
        needs=(enough_seeds(runs),),
        numbers={"seeds": last.size, "median f_T/f₀": float(np.median(last))},
    )


CLAIMS = (
    Claim(
        "HD = Nn is the boundary for W^V alone",
        "If W^V alone is trained, zero loss can be reached if and only if HD ≥ Nn.",
        _judge_boundary,
        needs=("transition",),
        figure="transition",
        remark=(
            "Judged by the least squares that B₀ leaves: descent comes near it, "
            "slowly where HD is close to Nn."
        ),
    ),
    Claim(
        "Q and K reach zero loss below HD = Nn",
        "With W^Q and W^K trained too, zero loss is reached where HD < Nn, within the "
        "steps of the study.",
        _judge_narrow,
        needs=("transition",),
        figure="transition",
        remark="HD ≥ Nn is sufficient for Theorem 1, not necessary for convergence.",
    ),
)

"""Where HD ≥ Nn matters: the boundary for W^V alone, and when it is not enough."""

import math

import numpy as np
import xarray as xr

from piste.claims import Claim, Verdict, compare, decide
from piste.reproduction import Evidence

from .calculations import TRAINED
from .cells import by_shape, chosen, end, enough_seeds, missing_records, share_of
from .real_presets import KERNELS
from .theorem_1_claims import CONSTANTS, least_feature, wide_enough
from .thresholds import HALF, LEAST_FLOOR, MOST_STEPS, NO_FLOOR, ZERO_LOSS


def floor(part: xr.Dataset) -> np.ndarray:
    """The least f/f₀ that W^V alone can reach."""
    return (part.floor / part.initial_loss).values


def _boundary(evidence: Evidence) -> list[Verdict]:
    data, predicted = evidence.dataset("transition"), "f = 0 for some W^V where HD ≥ Nn"
    needed = [*CONSTANTS, "train", "floor", "initial_loss", "loss"]
    if lacking := missing_records(data, needed, predicted):
        return lacking
    found = []
    for kernel, ratio, part in by_shape(data):
        cells = chosen(part, train=TRAINED.index("V"))
        limits = (
            {"least": LEAST_FLOOR, "predicted": f"f/f₀ ≥ {LEAST_FLOOR:g} for every W^V"}
            if ratio < 1
            else {"most": NO_FLOOR, "predicted": "f = 0 for some W^V"}
        )
        numbers = {"f_T/f₀ (median)": float(np.median(end(cells)))}
        found.append(
            compare(
                f"{kernel}, HD/Nn = {ratio:g}",
                floor(cells),
                bounded=True,
                numbers=numbers,
                **limits,
            )
        )
    return found


def _below(evidence: Evidence) -> list[Verdict]:
    data = evidence.dataset("transition")
    predicted = f"half of the seeds reach f_T/f₀ < {ZERO_LOSS:g} with HD < Nn"
    if lacking := missing_records(data, [*CONSTANTS, "train", "loss"], predicted):
        return lacking
    predicted += f" within {int(data.step[-1]):,} steps"
    found = []
    for kernel, ratio, part in by_shape(data):
        cells = chosen(part, train=TRAINED.index("QKV"))
        last = end(cells)
        if ratio < 1:
            found.append(
                compare(
                    f"{kernel}, HD/Nn = {ratio:g}",
                    share_of(last < ZERO_LOSS, np.isfinite(last)),
                    least=HALF,
                    predicted=predicted,
                    bounded=True,
                    needs=(enough_seeds(cells),),
                    numbers={
                        "seeds": last.size,
                        "median f_T/f₀": float(np.median(last)),
                    },
                )
            )
    return found


def _suffices(evidence: Evidence) -> list[Verdict]:
    data = evidence.dataset("scale")
    predicted = f"f/f₀ ≤ 0.01 promised in at most {MOST_STEPS:g} steps (median seed)"
    if lacking := missing_records(
        data, [*CONSTANTS, "key_scale", "hundredth_steps"], predicted
    ):
        return lacking
    return [
        _useful(f"{kernel}, scale {scale:g}", part, predicted)
        for place, kernel in enumerate(KERNELS)
        for scale in sorted(set(data.key_scale.values.tolist()))
        if (part := chosen(data, kernel=place, key_scale=scale)).sizes["cell"]
    ]


def _useful(name: str, part: xr.Dataset, predicted: str) -> Verdict:
    known = part.feature_least > part.feature_resolution
    steps = float(np.median(part.hundredth_steps.where(known, np.inf)))
    middle = float(part.feature_least.median())
    about = {
        "predicted": predicted,
        "conditions": (wide_enough(part),),
        "numbers": {"σ_min(B₀) (median)": middle},
    }
    if math.isinf(steps):  # β is zero: the bound promises nothing, ever
        return decide(name, False, measured=f"never: {least_feature(part)}", **about)
    return compare(name, steps, most=MOST_STEPS, **about)


CLAIMS = (
    Claim(
        "HD = Nn is the boundary for W^V alone",
        "If W^V alone is trained, zero loss can be reached if and only if HD ≥ Nn.",
        _boundary,
        ("transition",),
        "transition",
        "Judged by the least squares that B₀ leaves: descent comes near it, slowly where "
        "HD is close to Nn.",
    ),
    Claim(
        "Q and K reach zero loss below HD = Nn",
        "With W^Q and W^K trained too, zero loss is reached where HD < Nn, within the "
        "steps of the study.",
        _below,
        ("transition",),
        "transition",
        "HD ≥ Nn is sufficient for Theorem 1, not necessary for convergence.",
    ),
    Claim(
        "HD ≥ Nn suffices",
        "HD ≥ Nn alone makes the bound useful, whatever the scale of W^Q and W^K.",
        _suffices,
        ("scale",),
        "scale",
        "σ_min(B₀) can collapse where attention is uniform (small scales) and, for the "
        "Gaussian kernel, where it is nearly nothing (large ones).",
    ),
)

"""What a run must show before a claim can be judged on it."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import xarray as xr

from piste.attention import KERNELS
from piste.claims import Boundary, Condition, Status, Timeline, inequality

from ..stages import EVEN_ATTENTION, MAX_INITIAL_DEVIATION
from ..thresholds import SLIDES_TRAINING_TIME, TRAINED_LOSS

CONTRADICTING = (Status.NOT_REACHED, Status.OUT_OF_ORDER, Status.LOST)
"""What counts against a statement that a boundary comes."""
UNDECIDED = (Status.TOO_SHORT, Status.TOO_COARSE, Status.NOT_MEASURED)
"""What leaves open whether a boundary comes."""


def is_trained(run: xr.Dataset) -> Condition:
    """The run has trained: a statement about the end needs an end."""
    loss = float(run.train_loss[-1])
    detail = f"{loss:.2g} at t = {int(run.step[-1]):,}"
    name, met = f"a training loss ≤ {TRAINED_LOSS:g}", loss <= TRAINED_LOSS
    return inequality(name, loss, TRAINED_LOSS, met, detail)


def all_trained(sweep: xr.Dataset) -> Condition:
    """Every cell of a sweep has trained."""
    loss = float(sweep.train_loss.isel(step=-1).max(skipna=False))
    detail = f"at most {loss:.2g} at t = {int(sweep.step[-1]):,}"
    name, met = f"training losses ≤ {TRAINED_LOSS:g}", loss <= TRAINED_LOSS
    return inequality(name, loss, TRAINED_LOSS, met, detail)


def is_long_enough(run: xr.Dataset) -> Condition:
    """The run lasts as long as those of the slides: a shorter one may miss a stage."""
    rate = run.attrs["experiment"]["rule"].get("learning_rate", np.nan)
    time = rate * int(run.step[-1])
    name = f"η·T ≥ {SLIDES_TRAINING_TIME:g}, as in the slides"
    met = time >= SLIDES_TRAINING_TIME
    return inequality(name, time, SLIDES_TRAINING_TIME, met, f"{time:.3g}")


def is_normalised(run: xr.Dataset) -> Condition:
    """The attention weights of a token add up to 1, as the statement assumes."""
    kernel = run.attrs["experiment"]["model"]["kernel"]
    met = kernel in KERNELS and KERNELS[kernel].normalised
    return Condition("attention weights that add up to 1", met, f"kernel {kernel}")


def starts_at_half(run: xr.Dataset) -> Condition:
    """Attention begins at ½, from where the statement has it go."""
    weights = run[["attention_signal_signal", "attention_noise_signal"]].isel(step=0)
    distance = max(
        float(abs(weight - EVEN_ATTENTION).max())
        for weight in weights.data_vars.values()
    )
    name, limit = "attention weights that start at ½", MAX_INITIAL_DEVIATION
    detail = f"up to {distance:.3g} away"
    return inequality(name, distance, limit, distance <= limit, detail)


def are_found(timeline: Timeline, *names: str) -> Condition:
    """The boundaries between which something is measured were found."""
    for name in names:
        boundary = timeline.boundaries[name]
        if boundary.status != Status.FOUND:
            return Condition(f"the boundary {name}", False, boundary.evidence)
        if boundary.since is None:
            # Nothing happens before it, so nothing can be said of what does.
            return Condition(f"{name} to take time", False, boundary.evidence)
    return Condition("the boundaries of the stage", True)


def conditions_if_missing(
    run: xr.Dataset, boundaries: Sequence[Boundary]
) -> dict[str, Any]:
    """When boundaries that were not found count against a claim that they come.

    A boundary that a short run misses may still come; one out of order or lost does not.
    Returns the ``needs`` and the ``conditions`` of a verdict.
    """
    missing = [b for b in boundaries if b.status != Status.FOUND]
    foreign = [b for b in missing if b.status == Status.DOES_NOT_APPLY]
    conditions = [
        Condition("stages that apply", False, b.evidence) for b in foreign[:1]
    ]
    needs = []
    contradicting = {b.status for b in missing} & set(CONTRADICTING)
    if missing and not contradicting:
        undecided = (b.evidence for b in missing if b.status in UNDECIDED)
        needs = [Condition("a run that tells", False, next(undecided, ""))]
    elif contradicting == {Status.NOT_REACHED}:
        needs = [is_long_enough(run)]
    return {"needs": needs, "conditions": conditions}

"""What the claims of this paper share: judging each seed, what a run must show, fits."""

from collections.abc import Callable, Sequence

import numpy as np
import xarray as xr

from piste.attention import KERNELS
from piste.claims import Boundary, Condition, Status, Timeline, Verdict, undecided
from piste.reproduction import Evidence

from .stages import HALF, NEAR_HALF, detect
from .thresholds import SLIDES_TIME, TRAINED

JudgeOne = Callable[[xr.Dataset, Timeline], Verdict | Sequence[Verdict]]


def each(judge_one: JudgeOne):
    """Judge every seed of the study ``stages`` by itself."""

    def judge(evidence: Evidence) -> list[Verdict]:
        found: list[Verdict] = []
        for index, gap in enumerate(evidence.of_each("stages", not_finite)):
            run = evidence.runs("stages")[index]
            if gap:
                found.append(undecided(predicted="–", why=gap, **about(run)))
                continue
            verdicts = judge_one(run, evidence.timeline("stages", index, detect))
            found += [verdicts] if isinstance(verdicts, Verdict) else verdicts
        return found

    return judge


def not_finite(run: xr.Dataset) -> str:
    """Which probe of a run is not a finite number somewhere, and when; else nothing."""
    for name, part in run.data_vars.items():
        along = str(part.dims[0])
        others = [d for d in part.dims if d != along]
        bad = ~(abs(part).max(others, skipna=False) < np.inf).values
        if bad.any():
            first = run[along].values[np.argmax(bad)]
            return f"{name} is not a finite number at t = {first:,}"
    return ""


def about(run: xr.Dataset, part: str = "") -> dict:
    """The instance and the run of a verdict on one seed, or on a part of it."""
    label = run.attrs.get("label", f"seed {run.attrs['seed']}")
    return {
        "instance": f"{label}, {part}" if part else label,
        "runs": (run.attrs["name"],),
    }


def trained(run: xr.Dataset) -> Condition:
    """Whether the run has trained: a statement about the end needs an end."""
    loss = float(run.train_loss[-1])
    words = f"{loss:.2g} at t = {int(run.step[-1]):,}"
    return Condition(f"a training loss ≤ {TRAINED:g}", loss <= TRAINED, words)


def long_enough(run: xr.Dataset) -> Condition:
    """Whether the run lasts as long as the slides': else a late stage may be missed."""
    rate = run.attrs["experiment"]["rule"].get("learning_rate", np.nan)
    time, name = rate * int(run.step[-1]), f"η·T ≥ {SLIDES_TIME:g}, as in the slides"
    return Condition(name, bool(time >= SLIDES_TIME), f"{time:.3g}")


def normalised(run: xr.Dataset) -> Condition:
    """Whether the attention weights of a token add up to 1, as the statement assumes."""
    kernel = run.attrs["experiment"]["model"]["kernel"]
    met = kernel in KERNELS and KERNELS[kernel].normalised
    return Condition("attention weights that add up to 1", met, f"kernel {kernel}")


def starts_at_half(run: xr.Dataset) -> Condition:
    """Whether attention begins at ½, from where the statement has it go."""
    weights = run[["attention_signal_signal", "attention_noise_signal"]].isel(step=0)
    off = max(float(abs(part - HALF).max()) for part in weights.data_vars.values())
    words = f"up to {off:.3g} away"
    return Condition("attention weights that start at ½", off <= NEAR_HALF, words)


def reached(timeline: Timeline, *names: str) -> Condition:
    """Whether the boundaries between which something is measured were found."""
    for name in names:
        boundary = timeline.boundaries[name]
        if boundary.status != Status.FOUND:
            return Condition(f"the boundary {name}", False, boundary.evidence)
        if boundary.since is None:
            # Nothing happens before it, so nothing can be said of what does.
            return Condition(f"{name} to take time", False, boundary.evidence)
    return Condition("the boundaries of the stage", True)


AGAINST = (Status.NOT_REACHED, Status.OUT_OF_ORDER, Status.LOST)
"""What counts against a statement that a boundary comes."""


def lacking(run: xr.Dataset, boundaries: Sequence[Boundary]) -> dict:
    """What must be so for boundaries that were not found to count against a claim.

    A stage that a short run misses may still come; one out of order or lost does not.
    """
    found = [b for b in boundaries if b.status != Status.FOUND]
    foreign = [b for b in found if b.status == Status.DOES_NOT_APPLY]
    asked = [Condition("stages that apply", False, b.evidence) for b in foreign[:1]]
    needs = []
    statuses = {b.status for b in found}
    if found and not statuses & set(AGAINST):
        words = next((b.evidence for b in found if b.status in UNTOLD), "")
        needs = [Condition("a run that tells", False, words)]
    elif statuses & set(AGAINST) == {Status.NOT_REACHED}:
        needs = [long_enough(run)]
    return {"needs": needs, "conditions": asked}


UNTOLD = (Status.TOO_SHORT, Status.TOO_COARSE, Status.NOT_MEASURED)
"""What leaves open whether a boundary comes."""


def at(run: xr.Dataset, timeline: Timeline, name: str) -> xr.Dataset:
    """The record at a boundary; the first one where it was not found (never judged)."""
    step = timeline.boundaries[name].step
    return run.isel(step=0) if step is None else run.sel(step=step)


def during(run: xr.Dataset, timeline: Timeline, start: str, end: str) -> xr.Dataset:
    """The records between two boundaries, both included."""
    first, last = (timeline.boundaries[name].step for name in (start, end))
    return run.sel(step=slice(first or 0, last))


def change(run: xr.Dataset, now: xr.Dataset, name: str) -> float:
    """The RMS of a quantity's change since the start, in units of its RMS there."""
    start = run[name].isel(step=0).values
    scale = float(np.sqrt((start**2).mean()))
    moved = float(np.sqrt(((now[name].values - start) ** 2).mean()))
    return moved / scale if scale > 0 else np.nan


def pace(part: xr.Dataset, name: str) -> float:
    """The growth of the mean size of a quantity, per step, by a straight line."""
    size = abs(part[name])
    size = size.mean([d for d in size.dims if d != "step"])
    return fit(size.step.values, size.values)["slope"]


def fit(x: np.ndarray, y: np.ndarray) -> dict[str, float]:
    """Slope and R² of a straight line; not numbers where there is no line to fit."""
    known = np.isfinite(x) & np.isfinite(y)
    if known.sum() < 3 or not known.all():
        return {"slope": np.nan, "r2": np.nan}
    slope, intercept = np.polyfit(x, y, 1)
    rest, total = y - slope * x - intercept, y.var()
    r2 = 1 - rest.var() / total if total > 0 else np.nan
    return {"slope": float(slope), "r2": float(r2)}


def reaches(loss: xr.DataArray, level: float) -> tuple[float, float]:
    """Between which recorded steps a loss first falls to ``level``; NaN if it does not."""
    below = np.flatnonzero(loss.values <= level)
    if not below.size:
        return np.nan, np.nan
    place = int(below[0])
    steps = loss.step.values
    return float(steps[max(place - 1, 0)]), float(steps[place])

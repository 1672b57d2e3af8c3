"""W and V from small random weights: whether training becomes perfect.

The paper proves a local result and leaves this open.
"""

import numpy as np
import pandas as pd
import xarray as xr

from piste.claims import Claim, Condition, Verdict, decide, spread, undecided
from piste.reproduction import Evidence, Table

from .. import presets
from ..thresholds import MIN_LOSS_DECREASE

PROBES = (
    "train_loss",
    "margin",
    "accuracy",
    "decider_attention",
    "value_cosine_centred",
)
"""What is recorded of every run."""
Size = tuple[int, int, int]
"""L, n and M."""


def study_name(size: Size, rule: str) -> str:
    """The name of the study of one size and one rule."""
    return f"joint-{rule}-{size[0]}"


def sizes_and_rules() -> list[tuple[Size, str]]:
    """All sizes with all rules, in the order of the studies."""
    return [(size, rule) for size in presets.JOINT_SIZES for rule in presets.RULES]


def study_names() -> tuple[str, ...]:
    """The names of all studies of training from small random weights."""
    return tuple(study_name(*pair) for pair in sizes_and_rules())


def first_perfect_steps(data: xr.Dataset) -> np.ndarray:
    """The first recorded perfect step of every run; not a number where there is none."""
    perfect = (data.margin > 0).values
    if not perfect.shape[1]:
        return np.full(perfect.shape[0], np.nan)
    first = data.step.values[perfect.argmax(1)].astype(float)
    return np.where(perfect.any(1), first, np.nan)


def joint_verdict(instance: str, data: xr.Dataset) -> Verdict:
    """Judge whether every run became perfect; one that still learns decides nothing."""
    count, records = data.sizes["cell"], data.sizes["step"]
    if not count or records < 2:
        return undecided(instance, "perfect in every run", "nothing was recorded")
    margins, losses = (np.asarray(data[n], float) for n in ("margin", "train_loss"))
    reached = np.any(margins > 0, axis=1)
    unknown = ~np.isfinite(np.where(reached[:, None], 0.0, margins)).all(1)
    early = margins[:, 0] > 0
    learning = ~reached & ~unknown & ~_has_stalled(losses)
    steps, last = first_perfect_steps(data), int(data.step[-1])
    return decide(
        instance,
        bool(reached.all()),
        predicted=f"perfect in every run, at some step up to {last}",
        measured=f"{reached.sum()} of {count} runs",
        needs=(
            Condition(
                "margins that are numbers", not unknown.any(), f"{unknown.sum()} not"
            ),
            Condition(
                "wrong labels at the start", not early.any(), f"{early.sum()} not"
            ),
            Condition(
                "longer runs", not learning.any(), f"{learning.sum()} still learn"
            ),
        ),
        numbers={
            "runs": count,
            "median step": spread(steps)["median"],
            "perfect at the end": int((margins[:, -1] > 0).sum()),
        },
    )


def _has_stalled(losses: np.ndarray) -> np.ndarray:
    """Which runs have a loss that stopped falling: for them the claim is false."""
    middle = losses[:, losses.shape[1] // 2]
    return losses[:, -1] > (1 - MIN_LOSS_DECREASE) * middle


def _judge(evidence: Evidence) -> list[Verdict]:
    return [
        joint_verdict(f"{size} {rule}", evidence.dataset(study_name(size, rule)))
        for size, rule in sizes_and_rules()
    ]


def _table(evidence: Evidence) -> pd.DataFrame:
    return pd.DataFrame(
        {"(L, n, M)": str(size), "rule": rule}
        | _summary(evidence.dataset(study_name(size, rule)))
        for size, rule in sizes_and_rules()
    )


def _summary(data: xr.Dataset) -> dict[str, float]:
    """Success and the last state of the runs of one size and one rule."""
    steps, last = first_perfect_steps(data), data.isel(step=-1)
    return {
        "runs": data.sizes["cell"],
        "perfect": int((~np.isnan(steps)).sum()),
        "first perfect (median)": spread(steps)["median"],
        "least margin at the end": float(last.margin.min()),
        "attention on LD token": float(last.decider_attention.mean()),
        "accuracy": float(last.accuracy.mean()),
        "loss": float(last.train_loss.mean()),
        "cosine of V and P": float(last.value_cosine_centred.mean()),
    }


def _caption(evidence: Evidence, rows: pd.DataFrame) -> str:
    seeds = evidence.count(study_name(*sizes_and_rules()[0]))
    return f"W and V from small random weights, at the last step ({seeds} seeds)."


CLAIMS = (
    Claim(
        "Small random weights suffice",
        "Training W and V together from small random weights reaches perfect "
        "classification: the paper leaves this open.",
        _judge,
        needs=study_names(),
        figure="success",
    ),
)
TABLES = (Table("joint", _caption, _table, study_names()),)

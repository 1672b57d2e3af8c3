"""Stage II: query and key noise align their signs, while the signals stay."""

import numpy as np
import xarray as xr

from piste.claims import (
    Claim,
    Condition,
    Timeline,
    Verdict,
    compare,
    decide,
    inequality,
)

from ..stages import MIN_ALIGNED_SHARE
from ..thresholds import MAX_SPLIT_IMBALANCE, SMALLEST_POSITIVE
from ._conditions import are_found, conditions_if_missing
from ._near_start import SIGNALS, judge_near_start
from ._per_seed import each_seed, of_seed
from ._series import record_at, records_between


def _judge_alignment(run: xr.Dataset, timeline: Timeline) -> list[Verdict]:
    """Items 1 and 2: the signs align, and are evenly split."""
    boundary = timeline.boundaries["II"]
    asked = conditions_if_missing(run, [timeline.boundaries["I"], boundary])
    asked["needs"] = [*asked["needs"], _is_not_aligned_at_start(run)]
    positive = float((record_at(run, timeline, "II").query_noise > 0).mean())
    return [
        decide(
            **of_seed(run, "alignment"),
            holds=boundary.step is not None,
            predicted=f"query and key noise have one sign in a share ≥ "
            f"{MIN_ALIGNED_SHARE} of the pairs, and this lasts as long again",
            measured=boundary.evidence,
            **asked,
        ),
        compare(
            **of_seed(run, "split"),
            measured=abs(positive - 0.5),
            maximum=MAX_SPLIT_IMBALANCE,
            predicted=f"positive and negative pairs nearly equal: |share − ½| ≤ "
            f"{MAX_SPLIT_IMBALANCE}",
            needs=[are_found(timeline, "II")],
            numbers={"positive": positive},
        ),
    ]


def _is_not_aligned_at_start(run: xr.Dataset) -> Condition:
    """Signs that agree from the start have not become aligned."""
    start, limit = run.isel(step=0), MIN_ALIGNED_SHARE
    share = float((start.query_noise * start.key_noise > 0).mean())
    name = f"a share of aligned pairs < {limit} at t = 0"
    return inequality(name, share, limit, share < limit, f"{share:.3g}")


def _judge_value_growth(run: xr.Dataset, timeline: Timeline) -> Verdict:
    """Item 3: the mean value noise continues to grow."""
    noise = records_between(run, timeline, "I", "II").value_noise.mean("sample")
    return compare(
        **of_seed(run, "value noise"),
        measured=np.diff(noise.values),
        minimum=SMALLEST_POSITIVE,
        bounded=True,
        predicted="mean ⟨v, y_iξ_i⟩ rises at every record of stage II",
        needs=[are_found(timeline, "I", "II")],
    )


def _judge_other_quantities(run: xr.Dataset, timeline: Timeline) -> list[Verdict]:
    near_start = judge_near_start(run, timeline, SIGNALS, end="II")
    return [_judge_value_growth(run, timeline), *near_start]


CLAIMS = (
    Claim(
        "II: signs align, evenly split",
        "Query and key noise align their signs; positive and negative neurons are nearly "
        "equal in number.",
        each_seed(_judge_alignment),
        needs=("stages",),
        figure="snapshots",
    ),
    Claim(
        "II: value noise grows, signals stay",
        "In stage II the mean value noise continues to grow, and query and key signals "
        "stay close to initialisation.",
        each_seed(_judge_other_quantities),
        needs=("stages",),
        figure="query_key",
    ),
)

"""Which quantities are still near their start at the end of a stage: stages I and II."""

import xarray as xr

from piste.claims import Timeline, Verdict, compare

from ..thresholds import MAX_RELATIVE_CHANGE
from ._conditions import are_found
from ._per_seed import of_seed
from ._series import record_at, relative_change

SIGNALS = {"query_signal": "query signal", "key_signal": "key signal"}
NOISES = {"query_noise": "query noise", "key_noise": "key noise"}
"""The probes of query and key, and what they are called in verdicts."""


def judge_near_start(
    run: xr.Dataset, timeline: Timeline, probes: dict[str, str], end: str
) -> list[Verdict]:
    """Judge the RMS change of some quantities up to the end of a stage."""
    record = record_at(run, timeline, end)
    return [
        compare(
            **of_seed(run, quantity),
            measured=relative_change(run, record, probe),
            maximum=MAX_RELATIVE_CHANGE,
            predicted=f"RMS change up to the end of {end} ≤ {MAX_RELATIVE_CHANGE} of "
            "the RMS at the start",
            needs=[are_found(timeline, end)],
        )
        for probe, quantity in probes.items()
    ]

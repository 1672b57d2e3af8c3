r"""The four stages of sign descent on signal and noise: how their boundaries are found.

Every rule is free of scale: it compares signs, shares or attention weights. The *vote* of
a neuron $s$ is the final sign of its query signal $\langle w_{Q,s},\mu\rangle$, which
majority voting decides in stage III.
"""

from collections.abc import Callable

import numpy as np
import xarray as xr

from piste.claims import (
    Boundary,
    Crossing,
    Span,
    Timeline,
    Turning,
    find_boundaries,
    stage_detector,
    timeline_of,
)
from piste.errors import InputError

REQUIRED_PROBES = (
    "value_noise",
    "query_noise",
    "key_noise",
    "query_signal",
    "key_signal",
    "attention_noise_signal",
)

# --- thresholds: the slides state none, so these are readings of ours -----------------

MIN_ALIGNED_SHARE = 0.98
"""Share of pairs (s, i) with one sign of query and key noise that ends stage II.

The slides' Table 1 has 0.984 at the step where they let stage II end."""
MIN_SETTLED_SHARE = 0.95
"""Share of neurons or pairs that ends stage III and each alignment of stage IV.

Below 1, because votes that are almost tied settle late."""
EVEN_ATTENTION = 0.5
"""The attention weight that a run of the paper starts with."""
MAX_INITIAL_DEVIATION = 0.05
"""How far from ½ attention may start: as far as it must move to have left ½."""
ATTENTION_BELOW_HALF = 0.45
"""Mean s₂₁ that has left ½."""
VANISHING_ATTENTION = 0.01
"""Attention weight that counts as o(1)."""


# --- rules ----------------------------------------------------------------------------


def _why_not_at_half(series: xr.Dataset) -> str:
    """Say why the attention of a run cannot leave ½: it does not start there."""
    initial = series.attention_range.isel(step=0).values
    if not np.abs(initial - EVEN_ATTENTION).max() > MAX_INITIAL_DEVIATION:
        return ""
    shown = " to ".join(dict.fromkeys(f"{weight:.3g}" for weight in initial))
    return f"attention weights s₂₁ do not start at ½ but at {shown}"


def _why_no_turn(name: str) -> Callable[[xr.Dataset], str]:
    """Say why a noise cannot turn: no pair is against the vote when it is settled."""
    matrix = name.removeprefix("losing_").removesuffix("_noise")
    reason = f"no {matrix} noise is against the vote when it is settled"
    return lambda series: reason if bool(series[name].isnull().all()) else ""


BEFORE_STAGE_IV = ("I", "II", "III")


def _turning(name: str, meaning: str, series: str) -> Turning:
    reason = _why_no_turn(series)
    return Turning(name, meaning, series, "III", BEFORE_STAGE_IV, reason)


RULES_UP_TO_VOTE = (
    Crossing("I", "mean value noise turns", "lowest_value_noise", 0.0, strict=True),
    Crossing(
        "II",
        "query and key noise aligned",
        "noise_alignment",
        MIN_ALIGNED_SHARE,
        # In stage IV the key turns before the query, so it cannot last to the end.
        to_end=False,
        lasts=1.0,
        after=("I",),
    ),
    Crossing(
        "III",
        "majority vote fixes the signs",
        "voted",
        MIN_SETTLED_SHARE,
        after=("I", "II"),
    ),
)
RULES_AFTER_VOTE = (
    Crossing(
        "IVa leaves ½",
        "attention s₂₁ leaves ½",
        "attention",
        ATTENTION_BELOW_HALF,
        rising=False,
        # With these thresholds it may come a few steps before the end of stage III.
        after=("I", "II"),
        not_long_before=("III",),
        does_not_apply=_why_not_at_half,
    ),
    Crossing(
        "IVa is o(1)",
        "attention s₂₁ is o(1)",
        "attention",
        VANISHING_ATTENTION,
        rising=False,
        after=(*BEFORE_STAGE_IV, "IVa leaves ½"),
        does_not_apply=_why_not_at_half,
    ),
    _turning("IVb starts", "key noise turns", "losing_key_noise"),
    Crossing(
        "IVb ends",
        "key noise aligned with the vote",
        "key_aligned",
        MIN_SETTLED_SHARE,
        after=(*BEFORE_STAGE_IV, "IVb starts"),
    ),
    _turning("IVc starts", "query noise turns", "losing_query_noise"),
    Crossing(
        "IVc ends",
        "query noise aligned with the vote",
        "query_aligned",
        MIN_SETTLED_SHARE,
        after=(*BEFORE_STAGE_IV, "IVc starts"),
    ),
)
BOUNDARY_RULES = {rule.name: rule for rule in (*RULES_UP_TO_VOTE, *RULES_AFTER_VOTE)}
"""All boundaries by name, in the order of the paper."""
STAGE_ENDS = ("I", "II", "III", "IVa is o(1)", "IVb ends", "IVc ends")
"""The boundaries that end a stage or a part of one, in the order of the slides."""

STAGE_SPANS = (
    Span("I", "the mean value noise turns positive", end="I"),
    Span("II", "query and key noise align their signs", "I", "II"),
    Span("III", "query and key signals take opposite, final signs", "II", "III"),
    Span(
        "IV",
        "attention s₂₁ decays; noise may align with the vote",
        "III",
        needs=("II", "IVa leaves ½"),
    ),
)


# --- detection ------------------------------------------------------------------------


@stage_detector("four stages of sign descent", needs=REQUIRED_PROBES)
def detect(trajectory: xr.Dataset) -> Timeline:
    """Find the four stages of a run, as many of them as there are."""
    missing = [name for name in REQUIRED_PROBES if name not in trajectory]
    if missing:
        expected = f"must have {', '.join(REQUIRED_PROBES)}"
        raise InputError(f"stages: the run has no probe {missing[0]}; {expected}")
    series = stage_series(trajectory)
    boundaries = find_boundaries(RULES_UP_TO_VOTE, series)
    series = series.merge(losing_side(trajectory, boundaries["III"]))
    boundaries = find_boundaries(RULES_AFTER_VOTE, series, boundaries)
    return timeline_of(STAGE_SPANS, boundaries, int(trajectory.step.values[-1]))


def stage_series(trajectory: xr.Dataset) -> xr.Dataset:
    """Compute the series that the rules read; a sign of zero agrees with nothing."""
    pairs = ("neuron", "sample")
    query, key = np.sign(trajectory.query_noise), np.sign(trajectory.key_noise)
    query_signal = np.sign(trajectory.query_signal)
    key_signal = np.sign(trajectory.key_signal)
    vote = query_signal.isel(step=-1)
    voted = (query_signal * vote > 0) & (key_signal * vote < 0)
    s21 = trajectory.attention_noise_signal
    series = xr.Dataset(
        {
            "lowest_value_noise": trajectory.value_noise.min("sample"),
            "noise_alignment": (query * key > 0).mean(pairs),
            "voted": voted.mean("neuron"),
            "key_aligned": (key * vote > 0).mean(pairs),
            "query_aligned": (query * vote > 0).mean(pairs),
            "attention": s21.mean("sample"),
            "attention_range": xr.concat([s21.min("sample"), s21.max("sample")], "end"),
        }
    )
    return series.where(_all_finite(trajectory))


def _all_finite(trajectory: xr.Dataset) -> xr.DataArray:
    """Mark the records at which everything is finite: a share of NaNs is no share."""
    finite = xr.ones_like(trajectory.step, bool)
    for name in REQUIRED_PROBES:
        # A maximum over everything but the steps; NaN if anything there is NaN.
        others = [d for d in trajectory[name].dims if d != "step"]
        finite = finite & (abs(trajectory[name]).max(others, skipna=False) < np.inf)
    return finite


def losing_side(trajectory: xr.Dataset, vote: Boundary) -> xr.Dataset:
    """Average the noise, in the direction of the vote, of the pairs that are against it.

    A pair is against the vote when its noise disagrees with the vote of its neuron once
    that is settled, by which time the noise has long taken a side of its own. Without a
    vote there is no losing side, and no series.
    """
    if vote.met is None:
        return xr.Dataset()
    final = np.sign(trajectory.query_signal.isel(step=-1))
    noise = trajectory[["key_noise", "query_noise"]] * final
    losers = noise.where(noise.sel(step=vote.met) < 0)
    mean = losers.mean(("neuron", "sample"))
    return mean.rename({name: f"losing_{name}" for name in mean.data_vars})


def attention_at_vanishing(trajectory: xr.Dataset, timeline: Timeline) -> float:
    r"""Mean $s_{11}$ when $s_{21}$ has become o(1): the paper says it is still near ½."""
    step = timeline.boundaries["IVa is o(1)"].step
    if step is None:
        return np.nan
    return float(trajectory.attention_signal_signal.sel(step=step).mean())

r"""The four stages of sign descent on signal and noise, by scale-free crossings.

In what follows $f_s$ is the final sign of the query signal $\langle w_{Q,s},\mu\rangle$
of neuron $s$: what majority voting decided.
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

NEEDED = (
    "value_noise",
    "query_noise",
    "key_noise",
    "query_signal",
    "key_signal",
    "attention_noise_signal",
)

ALIGNED = 0.98
"""Share of pairs (s, i) with one sign of query and key noise that ends stage II."""
MOST = 0.95
"""Share of neurons or pairs that ends stage III and each alignment of stage IV."""
HALF, NEAR_HALF = 0.5, 0.05
"""The attention that a run of the paper starts with, and how far off it may be."""
LEAVES_HALF, VANISHES = 0.45, 0.01
"""Mean s₂₁ that has left ½, and that counts as o(1)."""
POSITIVE = float(np.finfo(float).tiny)
"""Strictly above zero: at least the smallest positive number."""
BEFORE_IV = ("I", "II", "III")


def _starts_off_half(series: xr.Dataset) -> str:
    """Why the attention of a run cannot leave ½: it was never there."""
    first = series.attention_range.isel(step=0).values
    if not np.abs(first - HALF).max() > NEAR_HALF:
        return ""
    shown = " to ".join(dict.fromkeys(f"{x:.3g}" for x in first))
    return f"attention weights s₂₁ do not start at ½ but at {shown}"


def _nobody_loses(name: str) -> Callable[[xr.Dataset], str]:
    """Why a noise cannot turn: it is on the side of the vote everywhere."""
    matrix = name.removeprefix("losing_").removesuffix("_noise")
    why = f"no {matrix} noise is against the vote when it is settled"
    return lambda series: why if bool(series[name].isnull().all()) else ""


def _turning(name: str, meaning: str, series: str) -> Turning:
    return Turning(name, meaning, series, "III", BEFORE_IV, _nobody_loses(series))


EARLY = (
    Crossing("I", "mean value noise turns", "lowest_value_noise", POSITIVE),
    Crossing(
        "II",
        "query and key noise aligned",
        "noise_alignment",
        ALIGNED,
        # In stage IV the key turns before the query, so it cannot last to the end.
        to_end=False,
        lasts=1.0,
        after=("I",),
    ),
    Crossing("III", "majority vote fixes the signs", "voted", MOST, after=("I", "II")),
)
LATE = (
    Crossing(
        "IVa leaves ½",
        "attention s₂₁ leaves ½",
        "attention",
        LEAVES_HALF,
        rising=False,
        # With these thresholds it may come a few steps before the end of stage III.
        after=("I", "II"),
        not_long_before=("III",),
        does_not_apply=_starts_off_half,
    ),
    Crossing(
        "IVa is o(1)",
        "attention s₂₁ is o(1)",
        "attention",
        VANISHES,
        rising=False,
        after=(*BEFORE_IV, "IVa leaves ½"),
        does_not_apply=_starts_off_half,
    ),
    _turning("IVb starts", "key noise turns", "losing_key_noise"),
    Crossing(
        "IVb ends",
        "key noise aligned with the vote",
        "key_aligned",
        MOST,
        after=(*BEFORE_IV, "IVb starts"),
    ),
    _turning("IVc starts", "query noise turns", "losing_query_noise"),
    Crossing(
        "IVc ends",
        "query noise aligned with the vote",
        "query_aligned",
        MOST,
        after=(*BEFORE_IV, "IVc starts"),
    ),
)
RULES = {rule.name: rule for rule in (*EARLY, *LATE)}
"""All boundaries by name, in the order of the paper."""

SPANS = (
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


@stage_detector("four stages of sign descent", needs=NEEDED)
def detect(trajectory: xr.Dataset) -> Timeline:
    """Find the four stages of a run, as many of them as there are."""
    missing = [name for name in NEEDED if name not in trajectory]
    if missing:
        raise InputError(
            f"stages: the run has no probe {missing[0]}; must have {', '.join(NEEDED)}"
        )
    series = stage_series(trajectory)
    found = find_boundaries(EARLY, series)
    series = series.merge(losing_side(trajectory, found["III"]))
    found = find_boundaries(LATE, series, found)
    return timeline_of(SPANS, found, int(trajectory.step.values[-1]))


def stage_series(trajectory: xr.Dataset) -> xr.Dataset:
    """The series by which the stages are cut; a sign of zero agrees with nothing."""
    pairs = ("neuron", "sample")
    query, key = np.sign(trajectory.query_noise), np.sign(trajectory.key_noise)
    q_signal = np.sign(trajectory.query_signal)
    k_signal = np.sign(trajectory.key_signal)
    final = q_signal.isel(step=-1)
    s21 = trajectory.attention_noise_signal
    ends = xr.concat([s21.min("sample"), s21.max("sample")], "end")
    series = xr.Dataset(
        {
            "lowest_value_noise": trajectory.value_noise.min("sample"),
            "noise_alignment": (query * key > 0).mean(pairs),
            "voted": ((q_signal * final > 0) & (k_signal * final < 0)).mean("neuron"),
            "key_aligned": (key * final > 0).mean(pairs),
            "query_aligned": (query * final > 0).mean(pairs),
            "attention": s21.mean("sample"),
            "attention_range": ends,
        }
    )
    return series.where(_finite(trajectory))


def _finite(trajectory: xr.Dataset) -> xr.DataArray:
    """At which records everything is a finite number: a share of NaNs is no share."""
    known = xr.ones_like(trajectory.step, bool)
    for name in NEEDED:
        # A maximum over everything but the steps; NaN if anything there is NaN.
        others = [d for d in trajectory[name].dims if d != "step"]
        known = known & (abs(trajectory[name]).max(others, skipna=False) < np.inf)
    return known


def losing_side(trajectory: xr.Dataset, vote: Boundary) -> xr.Dataset:
    """Mean noise, in the direction of the vote, of the pairs that start against it.

    A pair starts against the vote when its noise disagrees with $f_s$ once the vote is
    settled, which is when the noise has long taken a side of its own. Without a vote
    there is no losing side, and no series.
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

r"""The four stages of sign descent on signal and noise, by scale-free crossings.

In what follows $f_s$ is the final sign of the query signal $\langle w_{Q,s},\mu\rangle$
of neuron $s$: what majority voting decided.
"""

import numpy as np
import xarray as xr

from piste.errors import InputError

from .timeline import Boundary, Stage, Timeline, crossing, turning

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
LEAVES_HALF, VANISHES = 0.45, 0.01
"""Mean s₂₁ that has left ½, and that counts as o(1)."""

_FALLS = {"rising": False, "lasting": False}
_RISES = {"rising": True, "lasting": True}


def detect(trajectory: xr.Dataset) -> Timeline:
    """Find the four stages of a run."""
    missing = [name for name in NEEDED if name not in trajectory]
    if missing:
        raise InputError(
            f"stages: the run has no probe {missing[0]}; must have {NEEDED}"
        )
    series = stage_series(trajectory)
    found = [*_early(series), *_late(series, trajectory)]
    boundaries = {boundary.name: boundary for boundary in found}
    return Timeline(_stages(boundaries, trajectory), boundaries)


def stage_series(trajectory: xr.Dataset) -> xr.Dataset:
    """The series by which the stages are cut."""
    pairs = ("neuron", "sample")
    query, key = np.sign(trajectory.query_noise), np.sign(trajectory.key_noise)
    q_signal, k_signal = (
        np.sign(trajectory.query_signal),
        np.sign(trajectory.key_signal),
    )
    final = q_signal.isel(step=-1)
    return xr.Dataset(
        {
            "lowest_value_noise": trajectory.value_noise.min("sample"),
            "noise_alignment": (query == key).mean(pairs),
            "voted": ((q_signal == final) & (k_signal == -final)).mean("neuron"),
            "key_aligned": (key == final).mean(pairs),
            "query_aligned": (query == final).mean(pairs),
            "attention": trajectory.attention_noise_signal.mean("sample"),
        }
    )


def _early(series: xr.Dataset) -> list[Boundary]:
    # Strictly above zero: the threshold is the smallest positive number.
    tiny = float(np.finfo(float).tiny)
    aligned, voted = series.noise_alignment, series.voted
    first = {"rising": True, "lasting": False}
    return [
        crossing(
            "I", "mean value noise turns", series.lowest_value_noise, tiny, **_RISES
        ),
        crossing("II", "query and key noise aligned", aligned, ALIGNED, **first),
        crossing("III", "majority vote fixes the signs", voted, MOST, **_RISES),
    ]


def _late(series: xr.Dataset, trajectory: xr.Dataset) -> list[Boundary]:
    s21, losers = series.attention, losing_side(trajectory, series)
    return [
        crossing("IVa leaves ½", "softmax leaves ½", s21, LEAVES_HALF, **_FALLS),
        crossing("IVa is o(1)", "softmax is o(1)", s21, VANISHES, **_FALLS),
        turning("IVb starts", "key noise turns", losers.key_noise),
        crossing("IVb ends", "key noise aligned", series.key_aligned, MOST, **_RISES),
        turning("IVc starts", "query noise turns", losers.query_noise),
        crossing(
            "IVc ends", "query noise aligned", series.query_aligned, MOST, **_RISES
        ),
    ]


def losing_side(trajectory: xr.Dataset, series: xr.Dataset) -> xr.Dataset:
    """Mean noise, in the direction of the vote, of the pairs that start against it.

    A pair starts against the vote when its noise disagrees with $f_s$ once the vote is
    settled, which is when the noise has long taken a side of its own.
    """
    final = np.sign(trajectory.query_signal.isel(step=-1))
    noise = trajectory[["key_noise", "query_noise"]] * final
    settled = crossing("", "", series.voted, MOST, **_RISES).step
    if settled is None:  # no vote, no losing side
        return noise.isel(step=slice(0, 0)).mean(("neuron", "sample"))
    noise = noise.sel(step=slice(settled, None))
    return noise.where(noise.isel(step=0) < 0).mean(("neuron", "sample"))


def _stages(
    boundaries: dict[str, Boundary], trajectory: xr.Dataset
) -> tuple[Stage, ...]:
    one, two, three = (boundaries[name].step for name in ("I", "II", "III"))
    end = int(trajectory.step.values[-1])
    return (
        Stage("I", "the mean value noise shifts, then grows linearly", 0, one),
        Stage("II", "query and key noise align their signs", one, two),
        Stage(
            "III",
            "majority voting fixes the signs of query and key signals",
            two,
            three,
        ),
        Stage("IV", "softmax outputs decay, noise aligns with the signals", three, end),
    )


def attention_at_vanishing(trajectory: xr.Dataset, timeline: Timeline) -> float:
    r"""Mean $s_{11}$ when $s_{21}$ has become o(1): the paper says it is still near ½."""
    step = timeline.boundaries["IVa is o(1)"].step
    if step is None:
        return np.nan
    return float(trajectory.attention_signal_signal.sel(step=step).mean())

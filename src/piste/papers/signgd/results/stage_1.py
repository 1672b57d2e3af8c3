"""Stage I: the mean value turns to the noise, and everything else stays near its start."""

import numpy as np
import xarray as xr

from piste.claims import Claim, Timeline, Verdict, compare, decide

from ..thresholds import MAX_SIGNAL_TO_NOISE, MIN_LINEAR_R2
from ._conditions import are_found
from ._near_start import NOISES, SIGNALS, judge_near_start
from ._per_seed import each_seed, of_seed
from ._series import fit_line, record_at


def _judge_linear_growth(run: xr.Dataset, timeline: Timeline) -> Verdict:
    """Item 1: the mean value noise rises at every record, and by a straight line."""
    start = timeline.boundaries["I"].step or 0
    noise = run.value_noise.mean("sample").sel(step=slice(start, None))
    line = fit_line(noise.step.values, noise.values)
    falls = int((np.diff(noise.values) <= 0).sum())
    measured = (
        f"slope {line['slope']:.3g}, R² {line['r2']:.4f}, falls at {falls} of "
        f"{noise.size - 1} records"
    )
    return decide(
        **of_seed(run),
        holds=line["r2"] >= MIN_LINEAR_R2 and line["slope"] > 0 and falls == 0,
        predicted=f"mean ⟨v, y_iξ_i⟩ rises at every record after stage I, R² ≥ "
        f"{MIN_LINEAR_R2} of a straight line",
        measured="no line" if np.isnan(line["r2"]) else measured,
        needs=[are_found(timeline, "I")],
        numbers=line,
    )


def _judge_value_signal(run: xr.Dataset, timeline: Timeline) -> Verdict:
    """Item 2: what the value learns of the signal is negligible beside the noise."""
    end = record_at(run, timeline, "II")
    noise = float(np.abs(end.value_noise).mean())
    return compare(
        **of_seed(run, "value signal"),
        measured=abs(float(end.value_signal)) / noise if noise else np.nan,
        maximum=MAX_SIGNAL_TO_NOISE,
        predicted=f"|⟨v, μ⟩| ≤ {MAX_SIGNAL_TO_NOISE} of the mean |⟨v, y_iξ_i⟩| at the "
        "end of II",
        needs=[are_found(timeline, "I", "II")],
    )


def _judge_other_quantities(run: xr.Dataset, timeline: Timeline) -> list[Verdict]:
    near_start = judge_near_start(run, timeline, SIGNALS | NOISES, end="I")
    return [*near_start, _judge_value_signal(run, timeline)]


CLAIMS = (
    Claim(
        "I: mean value noise grows linearly",
        "The mean value noise increases monotonically and stabilises into a linear "
        "relation with t.",
        each_seed(_judge_linear_growth),
        needs=("stages",),
        figure="value_noise",
    ),
    Claim(
        "I: other quantities stay near their start",
        "During stage I the other quantities stay close to initialisation, and the mean "
        "value signal becomes negligible.",
        each_seed(_judge_other_quantities),
        needs=("stages",),
        figure="value_noise",
        remark="Near: the root mean square of the change against that of the start.",
    ),
)

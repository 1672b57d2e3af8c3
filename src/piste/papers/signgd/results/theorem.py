"""The paper's theorem, item by item: each on a run that has trained."""

import numpy as np
import xarray as xr

from piste.claims import Claim, Timeline, Verdict, compare, compare_range, undecided
from piste.reproduction import Evidence

from ..thresholds import (
    LOSS_DECADES,
    MAX_DECADE_IMBALANCE,
    MAX_SIGNAL_EXPONENT,
    MAX_SMALL_ATTENTION,
    MIN_FINAL_TEST_LOSS,
    MIN_MEMORISED,
)
from ._conditions import all_trained, is_normalised, is_trained, starts_at_half
from ._per_seed import each_seed, of_seed
from ._series import first_time_below, fit_line

# --- the training loss ----------------------------------------------------------------


def _judge_training_time(run: xr.Dataset, timeline: Timeline) -> Verdict:
    """The decades of the loss are evenly spaced: time is O(log 1/ε)."""
    predicted = f"equal steps per decade of loss: |ratio − 1| ≤ {MAX_DECADE_IMBALANCE}"
    times = [first_time_below(run.train_loss, level) for level in LOSS_DECADES]
    if np.isnan(times).any():
        last = float(run.train_loss[-1])
        why = f"needs a training loss ≤ {LOSS_DECADES[-1]:g}: {last:.2g} at the end"
        return undecided(predicted=predicted, why=why, **of_seed(run))
    low, high = ratio_range(times)
    distances = abs(low - 1), abs(high - 1)
    tail = run.train_loss.where(run.train_loss < LOSS_DECADES[0], drop=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        line = fit_line(tail.step.values, np.log(tail.values))
    latest = {
        f"t({level:g}) ≤": last
        for level, (_, last) in zip(LOSS_DECADES, times, strict=True)
    }
    return compare_range(
        **of_seed(run),
        # The ratio may pass 1 on its way from one end to the other.
        low=0.0 if low <= 1 <= high else min(distances),
        high=max(distances),
        maximum=MAX_DECADE_IMBALANCE,
        predicted=predicted,
        numbers={"slope of log loss": line["slope"], "R²": line["r2"]} | latest,
    )


def ratio_range(times: list[tuple[float, float]]) -> tuple[float, float]:
    """Bound the ratio of the two gaps between three times, each known up to a span."""
    (a, b), (c, d), (e, f) = times
    # The gaps share their middle time: the ratio falls in it, and is extreme at its ends.
    ratios = [
        (last - middle) / (middle - first)
        for first in (a, b)
        for middle in (c, d)
        for last in (e, f)
        if middle > first
    ]
    unbounded = not all(middle > first for first in (a, b) for middle in (c, d))
    return min(ratios, default=0.0), np.inf if unbounded else max(ratios)


# --- the last record ------------------------------------------------------------------


def _judge_test_loss(run: xr.Dataset, timeline: Timeline) -> Verdict:
    return compare(
        **of_seed(run),
        measured=float(run.test_loss[-1]),
        minimum=MIN_FINAL_TEST_LOSS,
        predicted=f"test loss stays above half of its start, ½ log 2 = "
        f"{MIN_FINAL_TEST_LOSS:.3f}",
        numbers={"test error": float(run.test_error[-1])},
        needs=[is_trained(run)],
    )


def _judge_memorisation(run: xr.Dataset, timeline: Timeline) -> Verdict:
    return compare(
        **of_seed(run),
        measured=run.value_noise.isel(step=-1).values,
        minimum=MIN_MEMORISED,
        predicted=f"⟨v, y_iξ_i⟩ = Ω(1): at least {MIN_MEMORISED:g} for every sample",
        needs=[is_trained(run)],
    )


def _judge_attention(run: xr.Dataset, timeline: Timeline) -> Verdict:
    last = run.isel(step=-1)
    s11 = last.attention_signal_signal.values
    s21 = last.attention_noise_signal.values
    return compare(
        **of_seed(run),
        measured=np.abs(np.concatenate([s11, s21])),
        maximum=MAX_SMALL_ATTENTION,
        bounded=True,
        predicted=f"s₁₁ and s₂₁ = o(1): at most {MAX_SMALL_ATTENTION} for every sample",
        numbers={"max s11": float(s11.max()), "max s21": float(s21.max())},
        needs=[is_normalised(run), starts_at_half(run), is_trained(run)],
    )


# --- the signal, over sizes -----------------------------------------------------------


def signal_ratios(sweep: xr.Dataset) -> tuple[np.ndarray, np.ndarray]:
    """The s and ⟨v, μ⟩ over the mean ⟨v, y_iξ_i⟩ at the last step, for every cell."""
    last = sweep.isel(step=-1)
    noise = last.value_noise.mean("sample").values
    ratio = np.abs(last.value_signal.values) / np.where(noise > 0, noise, np.nan)
    return sweep.noise_coordinates.values.astype(float), ratio


def signal_exponent(sweep: xr.Dataset) -> dict[str, float]:
    """The exponent of s in that ratio, by a line through logarithms."""
    s, ratio = signal_ratios(sweep)
    with np.errstate(divide="ignore", invalid="ignore"):
        line = fit_line(np.log(s), np.log(ratio))
    return {"exponent": line["slope"], "R²": line["r2"]}


def _judge_value_signal(evidence: Evidence) -> list[Verdict]:
    """The ratio falls as s grows, because o(1) is a statement about a limit."""
    sweep = evidence.dataset("sparsity")
    s, ratio = signal_ratios(sweep)
    fit = signal_exponent(sweep)
    means = {f"s = {size:g}": float(ratio[s == size].mean()) for size in np.unique(s)}
    return [
        compare(
            f"s from {s.min():g} to {s.max():g}, {s.size} runs",
            fit["exponent"],
            maximum=MAX_SIGNAL_EXPONENT,
            predicted=f"⟨v, μ⟩/⟨v, y_iξ_i⟩ ∝ s^a with a ≤ {MAX_SIGNAL_EXPONENT} "
            "(theory: −½)",
            numbers=fit | means,
            needs=[all_trained(sweep)],
        )
    ]


CLAIMS = (
    Claim(
        "training loss ≤ ε in O(log 1/ε)",
        "There is T = O(log 1/ε) with L_S(W_T) ≤ ε.",
        each_seed(_judge_training_time),
        needs=("stages",),
        figure="losses",
    ),
    Claim(
        "test loss stays Θ(1)",
        "The trained transformer has a test loss of constant order.",
        each_seed(_judge_test_loss),
        needs=("stages",),
        figure="losses",
    ),
    Claim(
        "the value memorises noise",
        "⟨v, y_iξ_i⟩ = Ω(1).",
        each_seed(_judge_memorisation),
        needs=("stages",),
        figure="value_noise",
    ),
    Claim(
        "the value does not learn the signal",
        "⟨v, μ⟩ = o(1).",
        _judge_value_signal,
        needs=("sparsity",),
        figure="sparsity",
        remark=(
            "⟨v, μ⟩ itself grows by 2η per step without bound; what becomes small is its "
            "ratio to the noise, like 1/√s: a sweep over s shows it, no single run can."
        ),
    ),
    Claim(
        "attention goes to the noise token",
        "s₂₁ = o(1) and s₁₁ = o(1) at T_attn.",
        each_seed(_judge_attention),
        needs=("stages",),
        figure="attention",
    ),
)

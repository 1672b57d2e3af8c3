"""The paper's theorem, item by item, as claims: each on a run that has trained."""

import numpy as np
import xarray as xr

from piste.claims import (
    Claim,
    Condition,
    Timeline,
    Verdict,
    compare,
    compare_range,
    undecided,
)
from piste.reproduction import Evidence

from .judging import about, each, fit, normalised, reaches, starts_at_half, trained
from .thresholds import EVEN, EXPONENT, MEMORISED, SMALL, TRAINED

LEVELS = (0.1, 0.01, 0.001)
"""Training losses whose times are to be evenly spaced."""


def _fast(run: xr.Dataset, timeline: Timeline) -> Verdict:
    """Even spacing of the decades of the loss: time is O(log 1/ε)."""
    predicted = f"equal steps per decade of loss: |ratio − 1| ≤ {EVEN}"
    times = [reaches(run.train_loss, level) for level in LEVELS]
    if np.isnan(times).any():
        last = float(run.train_loss[-1])
        why = f"needs a training loss ≤ {LEVELS[-1]:g}: {last:.2g} at the end"
        return undecided(predicted=predicted, why=why, **about(run))
    low, high = ratio_range(times)
    tail = run.train_loss.where(run.train_loss < LEVELS[0], drop=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        line = fit(tail.step.values, np.log(tail.values))
    spans = zip(LEVELS, times, strict=True)
    ends = abs(low - 1), abs(high - 1)
    return compare_range(
        **about(run),
        # The ratio may pass 1 on its way from one end to the other.
        low=0.0 if low <= 1 <= high else min(ends),
        high=max(ends),
        most=EVEN,
        predicted=predicted,
        numbers={"slope of log loss": line["slope"], "R²": line["r2"]}
        | {f"t({level:g}) ≤": span[1] for level, span in spans},
    )


def ratio_range(times: list[tuple[float, float]]) -> tuple[float, float]:
    """Between which numbers the ratio of the two gaps lies, given spans of three times."""
    (a, b), (c, d), (e, f) = times
    # The gaps share their middle time: the ratio falls in it, and is extreme at its ends.
    ratios = [
        (last - middle) / (middle - first)
        for first in (a, b)
        for middle in (c, d)
        for last in (e, f)
        if middle > first
    ]
    open_ended = not all(m > s for s in (a, b) for m in (c, d))
    return min(ratios, default=0.0), np.inf if open_ended else max(ratios)


def _test_loss(run: xr.Dataset, timeline: Timeline) -> Verdict:
    return compare(
        **about(run),
        measured=float(run.test_loss[-1]),
        least=np.log(2) / 2,
        predicted="test loss stays above half of its start, ½ log 2 = 0.347",
        numbers={"test error": float(run.test_error[-1])},
        needs=[trained(run)],
    )


def _memorised(run: xr.Dataset, timeline: Timeline) -> Verdict:
    return compare(
        **about(run),
        measured=run.value_noise.isel(step=-1).values,
        least=MEMORISED,
        predicted=f"⟨v, y_iξ_i⟩ = Ω(1): at least {MEMORISED:g} for every sample",
        needs=[trained(run)],
    )


def _attention(run: xr.Dataset, timeline: Timeline) -> Verdict:
    s11, s21 = run.attention_signal_signal, run.attention_noise_signal
    last = [s.isel(step=-1).values for s in (s11, s21)]
    return compare(
        **about(run),
        measured=np.abs(np.concatenate(last)),
        most=SMALL,
        bounded=True,
        predicted=f"s₁₁ and s₂₁ = o(1): at most {SMALL} for every sample",
        numbers={"max s11": float(last[0].max()), "max s21": float(last[1].max())},
        needs=[normalised(run), starts_at_half(run), trained(run)],
    )


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
        line = fit(np.log(s), np.log(ratio))
    return {"exponent": line["slope"], "R²": line["r2"]}


def _value_signal(evidence: Evidence) -> list[Verdict]:
    """o(1) is a statement about a limit: the ratio must fall as s grows."""
    sweep = evidence.dataset("sparsity")
    s, ratio = signal_ratios(sweep)
    found = signal_exponent(sweep)
    means = {f"s = {x:g}": float(ratio[s == x].mean()) for x in np.unique(s)}
    return [
        compare(
            f"s from {s.min():g} to {s.max():g}, {s.size} runs",
            found["exponent"],
            most=EXPONENT,
            predicted=f"⟨v, μ⟩/⟨v, y_iξ_i⟩ ∝ s^a with a ≤ {EXPONENT} (theory: −½)",
            numbers=found | means,
            needs=[_all_trained(sweep)],
        )
    ]


def _all_trained(sweep: xr.Dataset) -> Condition:
    loss = float(sweep.train_loss.isel(step=-1).max(skipna=False))
    words = f"at most {loss:.2g} at t = {int(sweep.step[-1]):,}"
    return Condition(f"training losses ≤ {TRAINED:g}", loss <= TRAINED, words)


CLAIMS = (
    Claim(
        "training loss ≤ ε in O(log 1/ε)",
        "There is T = O(log 1/ε) with L_S(W_T) ≤ ε.",
        each(_fast),
        needs=("stages",),
        figure="losses",
    ),
    Claim(
        "test loss stays Θ(1)",
        "The trained transformer has a test loss of constant order.",
        each(_test_loss),
        needs=("stages",),
        figure="losses",
    ),
    Claim(
        "the value memorises noise",
        "⟨v, y_iξ_i⟩ = Ω(1).",
        each(_memorised),
        needs=("stages",),
        figure="value_noise",
    ),
    Claim(
        "the value does not learn the signal",
        "⟨v, μ⟩ = o(1).",
        _value_signal,
        needs=("sparsity",),
        figure="sparsity",
        remark=(
            "⟨v, μ⟩ itself grows by 2η a step without bound; what becomes small is its "
            "ratio to the noise, like 1/√s: a sweep over s shows it, no single run can."
        ),
    ),
    Claim(
        "attention goes to the noise token",
        "s₂₁ = o(1) and s₁₁ = o(1) at T_attn.",
        each(_attention),
        needs=("stages",),
        figure="attention",
    ),
)

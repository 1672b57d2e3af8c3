"""The paper's theorem, item by item, as claims.

Thresholds that the paper leaves open are readings of ours, fixed here and printed with
every verdict.
"""

import numpy as np
import xarray as xr

from piste.claims import Claim, Condition, Timeline, Verdict, compare

from .judging import about, each, fit, reaches, undecided

SMALL = 0.01
"""What counts as o(1) for an attention weight."""
EVEN = 0.25
"""Largest relative difference between gaps that count as evenly spaced."""


def _fast(run: xr.Dataset, timeline: Timeline) -> Verdict:
    """Even spacing of the decades of the loss: time is O(log 1/ε)."""
    levels = (0.1, 0.01, 0.001)
    times = [reaches(run.train_loss, level) for level in levels]
    if np.isnan(times).any():
        return undecided(
            run, "loss 0.001 reached", f"loss {float(run.train_loss[-1]):.2g}"
        )
    gaps = np.diff(times)
    tail = run.train_loss.where(run.train_loss < 0.1, drop=True)
    line = fit(tail.step.values, np.log(tail.values))
    verdict = compare(
        measured=abs(gaps[1] / gaps[0] - 1),
        most=EVEN,
        predicted=f"equal steps per decade of loss: |ratio − 1| ≤ {EVEN}",
        numbers={"slope of log loss": line["slope"], "R²": line["r2"]}
        | {f"t({level:g})": time for level, time in zip(levels, times, strict=True)},
        **about(run),
    )
    return verdict


def _test_loss(run: xr.Dataset, timeline: Timeline) -> Verdict:
    reached = float(run.train_loss[-1])
    return compare(
        measured=float(run.test_loss[-1]),
        least=np.log(2) / 2,
        predicted="test loss stays above half of its start, ½ log 2 = 0.347",
        numbers={"test error": float(run.test_error[-1]), "train loss": reached},
        conditions=(
            Condition("training loss ≤ 0.01", reached <= 0.01, f"{reached:.2g}"),
        ),
        **about(run),
    )


def _memorised(run: xr.Dataset, timeline: Timeline) -> Verdict:
    return compare(
        measured=float(run.value_noise.isel(step=-1).min()),
        least=1.0,
        predicted="min_i⟨v, y_iξ_i⟩ = Ω(1): at least 1",
        **about(run),
    )


def _value_signal(run: xr.Dataset, timeline: Timeline) -> Verdict:
    signal = float(run.value_signal[-1])
    noise = float(run.value_noise.isel(step=-1).mean())
    line = fit(run.step.values, run.value_signal.values)
    return compare(
        measured=abs(signal) / noise,
        most=0.1,
        predicted="⟨v, μ⟩ = o(1) against the noise: ⟨v, μ⟩/⟨v, y_iξ_i⟩ ≤ 0.1",
        numbers={"⟨v, μ⟩": signal, "growth per step": line["slope"]},
        **about(run),
    )


def _attention(run: xr.Dataset, timeline: Timeline) -> Verdict:
    s11 = float(run.attention_signal_signal.isel(step=-1).max())
    s21 = float(run.attention_noise_signal.isel(step=-1).max())
    return compare(
        measured=max(s11, s21),
        most=SMALL,
        predicted=f"s₁₁ and s₂₁ = o(1): all samples ≤ {SMALL}",
        numbers={"max s11": s11, "max s21": s21},
        **about(run),
    )


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
        each(_value_signal),
        needs=("stages",),
        figure="value_noise",
        remark=(
            "⟨v, μ⟩ itself grows by 2η a step without bound; what stays small is its ratio "
            "to the noise, and that is what is judged."
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

"""The paper's statements on the four stages and its theorem, as claims.

Thresholds that the paper leaves open (how small is o(1), how even is even) are fixed here
once, before any run, and printed with every verdict.
"""

import numpy as np
import xarray as xr

from piste.claims import (
    Claim,
    Condition,
    Outcome,
    Timeline,
    Verdict,
    attention_at_vanishing,
    compare,
    detect,
)

SMALL = 0.01
"""What counts as o(1) for an attention weight."""
EVEN = 0.25
"""Largest relative difference between gaps that count as evenly spaced."""


def _each(judge_one):
    """Judge every seed of the study ``stages`` by itself."""

    def judge(evidence) -> list[Verdict]:
        return [judge_one(run, detect(run)) for run in evidence["stages"]]

    return judge


def _about(run: xr.Dataset) -> dict:
    return {"instance": f"seed {run.attrs['seed']}", "runs": (run.attrs["name"],)}


def _order(run: xr.Dataset, timeline: Timeline) -> Verdict:
    names = ("I", "II", "III", "IVa is o(1)", "IVb ends", "IVc ends")
    steps = [timeline.step(name) for name in names]
    found = not np.isnan(steps).any()
    gaps = np.diff([0, *steps])
    ordered = found and bool((gaps > 0).all())
    conditions = tuple(
        Condition(f"{name}: {timeline.boundaries[name].meaning}", True, b.sentence())
        for name in names
        if (b := timeline.boundaries[name]).step is not None
    )
    missing = [name for name, step in zip(names, steps, strict=True) if np.isnan(step)]
    measured = ", ".join(f"{step:g}" for step in steps)
    outcome = Outcome.HOLDS if ordered else Outcome.VIOLATED
    if missing and int(run.step[-1]) < 2000:
        outcome = Outcome.INCONCLUSIVE
    return Verdict(
        **_about(run),
        outcome=outcome,
        predicted="I < II < III < s₂₁ = o(1) < key aligned < query aligned",
        measured=measured
        + (f" (not reached: {', '.join(missing)})" if missing else ""),
        conditions=conditions,
    )


def _linear_value(run: xr.Dataset, timeline: Timeline) -> Verdict:
    mean = run.value_noise.mean("sample")
    start = timeline.boundaries["I"].step or 0
    later = mean.sel(step=slice(start, None))
    fit = _fit(later.step.values, later.values)
    return compare(
        measured=fit["r2"],
        least=0.99,
        predicted="⟨v, y_iξ_i⟩ linear in t after stage I: R² ≥ 0.99",
        numbers=fit,
        **_about(run),
    )


def _balanced(run: xr.Dataset, timeline: Timeline) -> Verdict:
    step = timeline.boundaries["II"].step
    if step is None:
        return _undecided(run, "stage II ends", "never")
    share = float((run.query_noise.sel(step=step) > 0).mean())
    return compare(
        measured=abs(share - 0.5),
        most=0.1,
        predicted="positive and negative pairs nearly equal: |share − ½| ≤ 0.1",
        **_about(run),
    )


def _majority(run: xr.Dataset, timeline: Timeline) -> Verdict:
    step = timeline.boundaries["II"].step
    if step is None:
        return _undecided(run, "stage II ends", "never")
    vote = np.sign(run.key_noise.sel(step=step).sum("sample"))
    query = np.sign(run.query_signal.isel(step=-1))
    key = np.sign(run.key_signal.isel(step=-1))
    agree, opposite = float((vote == query).mean()), float((key == -query).mean())
    return compare(
        measured=min(agree, opposite),
        least=0.9,
        predicted="sign of Σ_i⟨w_K,s, y_iξ_i⟩ decides ⟨w_Q,s, μ⟩, the key opposite: ≥ 0.9",
        numbers={"vote decides query": agree, "key opposite": opposite},
        **_about(run),
    )


def _decay(run: xr.Dataset, timeline: Timeline) -> Verdict:
    r"""The power p in −log s₂₁ ∝ t^p: 1 is exponential."""
    logit = -np.log(run.attention_noise_signal.mean("sample").clip(1e-300))
    late = logit.where((logit > 5) & (logit < 600), drop=True)
    if late.size < 5:
        return _undecided(run, "s₂₁ small at enough records", f"{late.size}")
    power = _fit(np.log(late.step.values), np.log(late.values))["slope"]
    s11 = attention_at_vanishing(run, timeline)
    return compare(
        measured=power,
        least=1.0,
        predicted="−log s₂₁ grows like t^p with p ≥ 1 (1: exponential)",
        numbers={"p": power, "s11 when s21 < 0.01": s11},
        conditions=(Condition("s₁₁ still near ½ then", s11 > 0.4, f"s₁₁ = {s11:.3f}"),),
        **_about(run),
    )


def _fast(run: xr.Dataset, timeline: Timeline) -> Verdict:
    """Even spacing of the decades of the loss: time is O(log 1/ε)."""
    levels = (0.1, 0.01, 0.001)
    times = [_reaches(run.train_loss, level) for level in levels]
    if np.isnan(times).any():
        return _undecided(
            run, "loss 0.001 reached", f"loss {float(run.train_loss[-1]):.2g}"
        )
    gaps = np.diff(times)
    tail = run.train_loss.where(run.train_loss < 0.1, drop=True)
    fit = _fit(tail.step.values, np.log(tail.values))
    verdict = compare(
        measured=abs(gaps[1] / gaps[0] - 1),
        most=EVEN,
        predicted=f"equal steps per decade of loss: |ratio − 1| ≤ {EVEN}",
        numbers={"slope of log loss": fit["slope"], "R²": fit["r2"]}
        | {f"t({level:g})": time for level, time in zip(levels, times, strict=True)},
        **_about(run),
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
        **_about(run),
    )


def _memorised(run: xr.Dataset, timeline: Timeline) -> Verdict:
    return compare(
        measured=float(run.value_noise.isel(step=-1).min()),
        least=1.0,
        predicted="min_i⟨v, y_iξ_i⟩ = Ω(1): at least 1",
        **_about(run),
    )


def _value_signal(run: xr.Dataset, timeline: Timeline) -> Verdict:
    signal = float(run.value_signal[-1])
    noise = float(run.value_noise.isel(step=-1).mean())
    fit = _fit(run.step.values, run.value_signal.values)
    return compare(
        measured=abs(signal) / noise,
        most=0.1,
        predicted="⟨v, μ⟩ = o(1) against the noise: ⟨v, μ⟩/⟨v, y_iξ_i⟩ ≤ 0.1",
        numbers={"⟨v, μ⟩": signal, "growth per step": fit["slope"]},
        **_about(run),
    )


def _attention(run: xr.Dataset, timeline: Timeline) -> Verdict:
    s11 = float(run.attention_signal_signal.isel(step=-1).max())
    s21 = float(run.attention_noise_signal.isel(step=-1).max())
    return compare(
        measured=max(s11, s21),
        most=SMALL,
        predicted=f"s₁₁ and s₂₁ = o(1): all samples ≤ {SMALL}",
        numbers={"max s11": s11, "max s21": s21},
        **_about(run),
    )


def _undecided(run: xr.Dataset, needed: str, found: str) -> Verdict:
    return Verdict(
        **_about(run),
        outcome=Outcome.INCONCLUSIVE,
        predicted=needed,
        measured=found,
        conditions=(Condition(needed, False, found),),
    )


def _reaches(loss: xr.DataArray, level: float) -> float:
    below = loss.step.values[loss.values <= level]
    return float(below[0]) if below.size else np.nan


def _fit(x: np.ndarray, y: np.ndarray) -> dict[str, float]:
    slope, intercept = np.polyfit(x, y, 1)
    rest = y - slope * x - intercept
    return {"slope": float(slope), "r2": float(1 - rest.var() / y.var())}


CLAIMS = (
    Claim(
        "four stages, in order",
        "Training passes through four stages: I, II, III, then softmax decay and the "
        "alignment of key and query noise.",
        _each(_order),
        figure="overview",
    ),
    Claim(
        "I: mean value noise grows linearly",
        "The mean value noise shifts early and stabilises into a linear relation with t.",
        _each(_linear_value),
        figure="value_noise",
    ),
    Claim(
        "II: signs align, evenly split",
        "Query and key noise align their signs; positive and negative neurons are nearly "
        "equal in number.",
        _each(_balanced),
        figure="snapshots",
    ),
    Claim(
        "III: majority voting",
        "The noise of a neuron votes for the sign of its query signal; the key signal "
        "takes the opposite sign.",
        _each(_majority),
        figure="query_key",
    ),
    Claim(
        "IV: s₂₁ decays exponentially",
        "Softmax outputs s₂₁ leave ½ and decay exponentially while s₁₁ is still ½.",
        _each(_decay),
        figure="attention",
        remark="The decay is in fact faster: −log s₂₁ grows nearly like t², not like t.",
    ),
    Claim(
        "training loss ≤ ε in O(log 1/ε)",
        "There is T = O(log 1/ε) with L_S(W_T) ≤ ε.",
        _each(_fast),
        figure="losses",
    ),
    Claim(
        "test loss stays Θ(1)",
        "The trained transformer has a test loss of constant order.",
        _each(_test_loss),
        figure="losses",
    ),
    Claim(
        "the value memorises noise",
        "⟨v, y_iξ_i⟩ = Ω(1).",
        _each(_memorised),
        figure="value_noise",
    ),
    Claim(
        "the value does not learn the signal",
        "⟨v, μ⟩ = o(1).",
        _each(_value_signal),
        figure="value_noise",
        remark=(
            "⟨v, μ⟩ itself grows by 2η a step without bound; what stays small is its ratio "
            "to the noise, and that is what is judged."
        ),
    ),
    Claim(
        "attention goes to the noise token",
        "s₂₁ = o(1) and s₁₁ = o(1) at T_attn.",
        _each(_attention),
        figure="attention",
    ),
)

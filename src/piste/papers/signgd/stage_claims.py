"""The paper's statements on the four stages, as claims.

Thresholds that the paper leaves open are readings of ours, fixed here and printed with
every verdict.
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
)

from .judging import about, each, fit, undecided


def _order(run: xr.Dataset, timeline: Timeline) -> Verdict:
    names = ("I", "II", "III", "IVa is o(1)", "IVb ends", "IVc ends")
    steps = [timeline.step(name) for name in names]
    found = not np.isnan(steps).any()
    gaps = np.diff([0, *steps])
    ordered = found and bool((gaps > 0).all())
    conditions = tuple(
        Condition(name, True, b.sentence())
        for name in names
        if (b := timeline.boundaries[name]).step is not None
    )
    missing = [name for name, step in zip(names, steps, strict=True) if np.isnan(step)]
    measured = ", ".join(f"{step:g}" for step in steps)
    outcome = Outcome.HOLDS if ordered else Outcome.VIOLATED
    if missing and int(run.step[-1]) < 2000:
        outcome = Outcome.INCONCLUSIVE
    return Verdict(
        **about(run),
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
    line = fit(later.step.values, later.values)
    return compare(
        measured=line["r2"],
        least=0.99,
        predicted="⟨v, y_iξ_i⟩ linear in t after stage I: R² ≥ 0.99",
        numbers=line,
        **about(run),
    )


def _balanced(run: xr.Dataset, timeline: Timeline) -> Verdict:
    step = timeline.boundaries["II"].step
    if step is None:
        return undecided(run, "stage II ends", "never")
    share = float((run.query_noise.sel(step=step) > 0).mean())
    return compare(
        measured=abs(share - 0.5),
        most=0.1,
        predicted="positive and negative pairs nearly equal: |share − ½| ≤ 0.1",
        **about(run),
    )


def _majority(run: xr.Dataset, timeline: Timeline) -> Verdict:
    step = timeline.boundaries["II"].step
    if step is None:
        return undecided(run, "stage II ends", "never")
    vote = np.sign(run.key_noise.sel(step=step).sum("sample"))
    query = np.sign(run.query_signal.isel(step=-1))
    key = np.sign(run.key_signal.isel(step=-1))
    agree, opposite = float((vote == query).mean()), float((key == -query).mean())
    return compare(
        measured=min(agree, opposite),
        least=0.9,
        predicted="sign of Σ_i⟨w_K,s, y_iξ_i⟩ decides ⟨w_Q,s, μ⟩, the key opposite: ≥ 0.9",
        numbers={"vote decides query": agree, "key opposite": opposite},
        **about(run),
    )


def _decay(run: xr.Dataset, timeline: Timeline) -> Verdict:
    r"""The power p in −log s₂₁ ∝ t^p: 1 is exponential."""
    logit = -np.log(run.attention_noise_signal.mean("sample").clip(1e-300))
    late = logit.where((logit > 5) & (logit < 600), drop=True)
    if late.size < 5:
        return undecided(run, "s₂₁ small at enough records", f"{late.size}")
    power = fit(np.log(late.step.values), np.log(late.values))["slope"]
    s11 = attention_at_vanishing(run, timeline)
    return compare(
        measured=power,
        least=1.0,
        predicted="−log s₂₁ grows like t^p with p ≥ 1 (1: exponential)",
        numbers={"p": power, "s11 when s21 < 0.01": s11},
        conditions=(Condition("s₁₁ still near ½ then", s11 > 0.4, f"s₁₁ = {s11:.3f}"),),
        **about(run),
    )


CLAIMS = (
    Claim(
        "four stages, in order",
        "Training passes through four stages: I, II, III, then softmax decay and the "
        "alignment of key and query noise.",
        each(_order),
        needs=("stages",),
        figure="overview",
    ),
    Claim(
        "I: mean value noise grows linearly",
        "The mean value noise shifts early and stabilises into a linear relation with t.",
        each(_linear_value),
        needs=("stages",),
        figure="value_noise",
    ),
    Claim(
        "II: signs align, evenly split",
        "Query and key noise align their signs; positive and negative neurons are nearly "
        "equal in number.",
        each(_balanced),
        needs=("stages",),
        figure="snapshots",
    ),
    Claim(
        "III: majority voting",
        "The noise of a neuron votes for the sign of its query signal; the key signal "
        "takes the opposite sign.",
        each(_majority),
        needs=("stages",),
        figure="query_key",
    ),
    Claim(
        "IV: s₂₁ decays exponentially",
        "Softmax outputs s₂₁ leave ½ and decay exponentially while s₁₁ is still ½.",
        each(_decay),
        needs=("stages",),
        figure="attention",
        remark="The decay is in fact faster: −log s₂₁ grows nearly like t², not like t.",
    ),
)

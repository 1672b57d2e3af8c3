"""Stage IV: attention leaves ½, and that of the noise token on the signal decays."""

import numpy as np
import xarray as xr

from piste.claims import Claim, Timeline, Verdict, compare, decide, inequality

from ..stages import EVEN_ATTENTION, VANISHING_ATTENTION, attention_at_vanishing
from ..thresholds import (
    DECAY_LOGITS,
    MAX_DISTANCE_FROM_HALF,
    MAX_POWER_DEVIATION,
    MIN_DECAY_RECORDS,
)
from ._conditions import are_found, is_normalised
from ._per_seed import each_seed, of_seed
from ._series import fit_line


def _judge_before(run: xr.Dataset, timeline: Timeline) -> Verdict:
    """Item 1: all softmax outputs are at ½ before stage IV."""
    last = timeline.boundaries["III"].step or int(run.step[0])
    before = run.sel(step=slice(None, last))
    probes = ("attention_signal_signal", "attention_noise_signal")
    return compare(
        **of_seed(run),
        measured=[
            float(np.abs(before[probe] - EVEN_ATTENTION).max()) for probe in probes
        ],
        maximum=MAX_DISTANCE_FROM_HALF,
        predicted=f"|s₁₁ − ½| and |s₂₁ − ½| ≤ {MAX_DISTANCE_FROM_HALF} for all samples "
        "up to the end of III",
        needs=[is_normalised(run), are_found(timeline, "III")],
    )


def decay_power(run: xr.Dataset) -> dict[str, float]:
    r"""The power p in −log s₂₁ ∝ t^p, by a line through logarithms."""
    low, high = DECAY_LOGITS
    logit = -np.log(run.attention_noise_signal.mean("sample").clip(1e-300))
    late = logit.where((logit > low) & (logit < high), drop=True)
    with np.errstate(divide="ignore"):
        line = fit_line(np.log(late.step.values), np.log(late.values))
    return {"p": line["slope"], "R²": line["r2"], "records": late.size}


def _judge_decay(run: xr.Dataset, timeline: Timeline) -> Verdict:
    """Item 2: an exponential decay means p = 1."""
    decay = decay_power(run)
    power, records = decay["p"], decay["records"]
    enough = inequality(
        f"s₂₁ < e^−{DECAY_LOGITS[0]:g} at {MIN_DECAY_RECORDS} records",
        records,
        MIN_DECAY_RECORDS,
        records >= MIN_DECAY_RECORDS,
        f"{records}",
    )
    return decide(
        **of_seed(run),
        holds=bool(abs(power - 1) <= MAX_POWER_DEVIATION),
        predicted=f"−log s₂₁ ∝ t^p with p = 1 (exponential) within "
        f"{MAX_POWER_DEVIATION}",
        measured=_describe_power(power),
        needs=[is_normalised(run), are_found(timeline, "IVa is o(1)"), enough],
        numbers=decay,
    )


def _describe_power(power: float) -> str:
    if np.isnan(power):
        return "no power: too few records to fit one"
    kind = "faster than" if power > 1 else "slower than"
    kind = "like" if abs(power - 1) <= MAX_POWER_DEVIATION else kind
    return f"p = {power:.2f}: {kind} an exponential"


def _judge_still_half(run: xr.Dataset, timeline: Timeline) -> Verdict:
    """Item 3: s₁₁ is still at ½ when s₂₁ is o(1)."""
    s11 = attention_at_vanishing(run, timeline)
    return compare(
        **of_seed(run),
        measured=abs(s11 - EVEN_ATTENTION),
        maximum=MAX_DISTANCE_FROM_HALF,
        predicted=f"|s₁₁ − ½| ≤ {MAX_DISTANCE_FROM_HALF} in the mean, when the mean "
        f"s₂₁ is {VANISHING_ATTENTION}",
        needs=[is_normalised(run), are_found(timeline, "IVa is o(1)")],
        numbers={"s₁₁": s11},
    )


CLAIMS = (
    Claim(
        "IV: attention is at ½ before",
        "Before stage IV all softmax outputs are concentrated at ½.",
        each_seed(_judge_before),
        needs=("stages",),
        figure="attention",
    ),
    Claim(
        "IV: s₂₁ decays exponentially",
        "In stage IV the softmax outputs s₂₁ leave ½ and decrease exponentially.",
        each_seed(_judge_decay),
        needs=("stages",),
        figure="attention",
        remark="Read as an upper bound (at least exponentially fast) it is true where "
        "p > 1.",
    ),
    Claim(
        "IV: s₁₁ is still ½ when s₂₁ = o(1)",
        "While s₂₁ reaches o(1), s₁₁ is still concentrated at ½.",
        each_seed(_judge_still_half),
        needs=("stages",),
        figure="attention",
    ),
)

"""The paper's statements on attention in stage IV, and its Table 1, as claims."""

import numpy as np
import xarray as xr
from scipy.stats import fisher_exact

from piste.claims import Claim, Condition, Timeline, Verdict, compare, decide, undecided

from .contingency import kept, misaligned, sign_contingency
from .judging import about, each, fit, normalised, reached
from .stages import attention_at_vanishing
from .thresholds import (
    CONCENTRATED,
    INDEPENDENT,
    KEPT,
    POWER,
    TABLE_ALIGNED,
    TABLE_STEP,
)

LOGITS = 5.0, 600.0
"""−log s₂₁ between which the decay is fitted: small weights, far above underflow."""


def _before(run: xr.Dataset, timeline: Timeline) -> Verdict:
    """Stage IV.1: all softmax outputs are at ½ before it."""
    last = timeline.boundaries["III"].step or int(run.step[0])
    early = run.sel(step=slice(None, last))
    names = ("attention_signal_signal", "attention_noise_signal")
    return compare(
        **about(run),
        measured=[float(np.abs(early[name] - 0.5).max()) for name in names],
        most=CONCENTRATED,
        predicted=f"|s₁₁ − ½| and |s₂₁ − ½| ≤ {CONCENTRATED} for all samples up to the "
        "end of III",
        needs=[normalised(run), reached(timeline, "III")],
    )


def decay_power(run: xr.Dataset) -> dict[str, float]:
    r"""The power p in −log s₂₁ ∝ t^p, by a line through logarithms."""
    logit = -np.log(run.attention_noise_signal.mean("sample").clip(1e-300))
    late = logit.where((logit > LOGITS[0]) & (logit < LOGITS[1]), drop=True)
    with np.errstate(divide="ignore"):
        line = fit(np.log(late.step.values), np.log(late.values))
    return {"p": line["slope"], "R²": line["r2"], "records": late.size}


def _decay(run: xr.Dataset, timeline: Timeline) -> Verdict:
    """Stage IV.2: exponential means p = 1."""
    found = decay_power(run)
    power = found["p"]
    enough = Condition(
        f"s₂₁ < e^−{LOGITS[0]:g} at 5 records",
        found["records"] >= 5,
        f"{found['records']}",
    )
    return decide(
        **about(run),
        holds=bool(abs(power - 1) <= POWER),
        predicted=f"−log s₂₁ ∝ t^p with p = 1 (exponential) within {POWER}",
        measured=_power_in_words(power),
        needs=[normalised(run), reached(timeline, "IVa is o(1)"), enough],
        numbers=found,
    )


def _power_in_words(power: float) -> str:
    if np.isnan(power):
        return "no power: too few records to fit one"
    kind = "faster than" if power > 1 else "slower than"
    kind = "like" if abs(power - 1) <= POWER else kind
    return f"p = {power:.2f}: {kind} an exponential"


def _still_half(run: xr.Dataset, timeline: Timeline) -> Verdict:
    """Stage IV.3: s₁₁ is still at ½ when s₂₁ is o(1)."""
    s11 = attention_at_vanishing(run, timeline)
    return compare(
        **about(run),
        measured=abs(s11 - 0.5),
        most=CONCENTRATED,
        predicted=f"|s₁₁ − ½| ≤ {CONCENTRATED} in the mean, when the mean s₂₁ is 0.01",
        needs=[normalised(run), reached(timeline, "IVa is o(1)")],
        numbers={"s₁₁": s11},
    )


def signs_known(run: xr.Dataset) -> Condition:
    """Whether there is a Table 1: every noise has a sign at both its steps."""
    name = f"a sign of every noise at t = 0 and t = {TABLE_STEP}"
    if not np.isin([0, TABLE_STEP], run.step.values).all():
        return Condition(name, False, "there is no record at one of them")
    noise = run[["query_noise", "key_noise"]].sel(step=[0, TABLE_STEP]).to_array()
    met = bool((np.isfinite(noise) & (noise != 0)).all())
    return Condition(name, met, "" if met else "some are 0 or not a finite number")


def noise_moves(run: xr.Dataset) -> Condition:
    """Whether signs could change at all: one that nothing moves is not kept."""
    noise = run[["query_noise", "key_noise"]].sel(step=[0, TABLE_STEP]).to_array()
    met = bool((noise.isel(step=0) != noise.isel(step=1)).any())
    return Condition(f"noise that moves up to t = {TABLE_STEP}", met)


def _table(run: xr.Dataset, timeline: Timeline) -> list[Verdict]:
    """Table 1: independent at first, aligned at t = 10, agreeing pairs keep their sign."""
    known = signs_known(run)
    if not known.met:
        predicted = f"signs independent at t = 0, aligned at t = {TABLE_STEP}"
        why = f"nothing: {known.detail}"
        return [undecided(predicted=predicted, why=why, **about(run))]
    table = sign_contingency(run, TABLE_STEP)
    start = table.sum(axis=1)
    counts = [[start["K+,Q+"], start["K+,Q-"]], [start["K-,Q+"], start["K-,Q-"]]]
    pairs = int(table.to_numpy().sum())
    return [
        compare(
            **about(run, "independent at t = 0"),
            measured=float(np.asarray(fisher_exact(counts))[1]),
            least=INDEPENDENT,
            bounded=True,
            predicted=f"signs of query and key noise independent: Fisher's exact test, "
            f"two-sided, p ≥ {INDEPENDENT}",
        ),
        compare(
            **about(run, f"aligned at t = {TABLE_STEP}"),
            measured=1 - misaligned(table) / pairs,
            least=TABLE_ALIGNED,
            bounded=True,
            predicted=f"query and key noise have one sign in a share ≥ {TABLE_ALIGNED} of "
            "the pairs (slides: 0.984)",
        ),
        compare(
            **about(run, "signs kept"),
            measured=kept(table),
            least=KEPT,
            bounded=True,
            predicted=f"of the pairs that agree at first a share ≥ {KEPT} keep their sign "
            "(slides: 0.934)",
            needs=[noise_moves(run)],
        ),
    ]


CLAIMS = (
    Claim(
        "Table 1: independent at first, then aligned",
        "The signs of query and key noise are independent at initialisation but aligned "
        "at t = 10.",
        each(_table),
        needs=("stages",),
        figure="snapshots",
        remark="A test that does not reject independence does not prove it.",
    ),
    Claim(
        "IV: attention is at ½ before",
        "Before stage IV all softmax outputs are concentrated at ½.",
        each(_before),
        needs=("stages",),
        figure="attention",
    ),
    Claim(
        "IV: s₂₁ decays exponentially",
        "In stage IV the softmax outputs s₂₁ leave ½ and decrease exponentially.",
        each(_decay),
        needs=("stages",),
        figure="attention",
        remark="Read as an upper bound (at least exponentially fast) it is true where "
        "p > 1.",
    ),
    Claim(
        "IV: s₁₁ is still ½ when s₂₁ = o(1)",
        "While s₂₁ reaches o(1), s₁₁ is still concentrated at ½.",
        each(_still_half),
        needs=("stages",),
        figure="attention",
    ),
)

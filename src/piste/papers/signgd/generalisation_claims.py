"""What SignGD, Adam and GD learn at equal SNR, on synthetic data and on images."""

from collections.abc import Callable

import numpy as np
import pandas as pd

from piste.claims import (
    Claim,
    Condition,
    Verdict,
    compare,
    compare_range,
    lasting,
    mean_interval,
    undecided,
)
from piste.reproduction import Evidence

from .generalisation import RULES, images, paired, synthetic
from .thresholds import ALIKE, ALIKE_LOSS, GOOD, POOR

EQUAL = "equal in every seed"
SEEDS = "95 % interval of the mean over seeds, which do not decide"
Table = Callable[..., pd.DataFrame]


def _levels(table: pd.DataFrame) -> list[float]:
    return sorted({float(snr) for snr in table["snr"]})


def _means(pairs: dict[str, np.ndarray]) -> dict[str, float]:
    return {rule: float(values.mean()) for rule, values in pairs.items()}


def _gd_better(table: pd.DataFrame) -> list[Verdict]:
    """GD's error less SignGD's, seed by seed on the same data."""
    found = []
    for snr in _levels(table):
        pairs = paired(table, snr, "error")
        difference = pairs["gd"] - pairs["signgd"]
        words = "GD's test error is below SignGD's, in the mean over seeds"
        if not difference.any():
            found.append(undecided(f"SNR {snr:g}", words, EQUAL))
            continue
        found.append(
            compare_range(
                f"SNR {snr:g}",
                *mean_interval(difference),
                most=0.0,
                predicted=words,
                numbers=_means(pairs),
                unclear=SEEDS,
            )
        )
    return found


def _lower_loss(table: pd.DataFrame) -> list[Verdict]:
    """The slides' own quantity: the test loss, by the ratio of GD's to SignGD's."""
    found = []
    for snr in _levels(table):
        pairs = paired(table, snr, "loss")
        ratios = _log_ratio(pairs, "gd", "signgd")
        instance = f"SNR {snr:g}, test loss"
        words = "GD's test loss is below SignGD's: ratio < 1"
        if not ratios.any():
            found.append(undecided(instance, words, EQUAL))
            continue
        low, high = mean_interval(ratios)
        found.append(
            compare_range(
                instance,
                float(np.exp(low)),
                float(np.exp(high)),
                most=1.0,
                predicted=words,
                numbers=_means(pairs),
                unclear=SEEDS,
            )
        )
    return found


def _log_ratio(pairs: dict[str, np.ndarray], first: str, second: str) -> np.ndarray:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.log(pairs[first] / pairs[second])


def _alike(table: pd.DataFrame) -> list[Verdict]:
    """Adam's error less SignGD's: the whole interval must be small."""
    found = []
    for snr in _levels(table):
        pairs = paired(table, snr, "error")
        low, high = mean_interval(pairs["adam"] - pairs["signgd"])
        found.append(
            compare_range(
                f"SNR {snr:g}",
                *_sizes(low, high),
                most=ALIKE,
                predicted=f"mean test errors of Adam and SignGD differ by at most {ALIKE}",
                numbers=_means(pairs),
                unclear=SEEDS,
            )
        )
    return found


def _sizes(low: float, high: float) -> tuple[float, float]:
    """The range of the size of a number that lies between two others."""
    ends = sorted((abs(low), abs(high)))
    return (0.0 if low <= 0 <= high else ends[0]), ends[1]


def _alike_loss(table: pd.DataFrame) -> list[Verdict]:
    found = []
    for snr in _levels(table):
        pairs = paired(table, snr, "loss")
        low, high = mean_interval(_log_ratio(pairs, "adam", "signgd"))
        found.append(
            compare_range(
                f"SNR {snr:g}, test loss",
                *(float(np.exp(size)) for size in _sizes(low, high)),
                most=ALIKE_LOSS,
                predicted=f"test losses of Adam and SignGD within a factor {ALIKE_LOSS}",
                numbers=_means(pairs),
                unclear=SEEDS,
            )
        )
    return found


def _not_only_noise(table: pd.DataFrame) -> list[Verdict]:
    verdicts = []
    for snr in _levels(table):
        means = _means(paired(table, snr, "error"))
        learnable = Condition(
            f"GD generalises on the same data: error ≤ {GOOD}",
            bool(means["gd"] <= GOOD),
            f"{means['gd']:.3f}",
        )
        found = compare(
            f"SNR {snr:g}",
            means["signgd"],
            least=POOR,
            predicted=f"SignGD's test error is still at least {POOR}",
            conditions=(learnable,),
            numbers=means,
        )
        verdicts.append(found)
    return verdicts


def needed_snr(table: pd.DataFrame, rule: str, error: float = 0.1) -> float:
    """The lowest SNR of the sweep from which a rule's mean test error stays below.

    Infinite if there is none; not a number if an error is none.
    """
    levels = _levels(table)
    errors = [_means(paired(table, snr, "error"))[rule] for snr in levels]
    if not np.isfinite(errors).all():
        return np.nan
    good = lasting(np.array(errors) <= error)
    return levels[int(np.argmax(good))] if good.any() else np.inf


def _needs_quality(table: pd.DataFrame) -> list[Verdict]:
    needed = {rule: needed_snr(table, rule) for rule in RULES}
    top = max(_levels(table))
    learns = Condition(
        "GD learns at some SNR", bool(np.isfinite(needed["gd"])), f"up to {top:g}"
    )
    return [
        compare(
            name,
            # Beyond the sweep is known to be more than its last SNR, and no more.
            np.minimum(needed[rule], 2 * top) / needed["gd"],
            least=1.0 + 1e-9,
            predicted="a higher SNR for 10 % test error than GD",
            numbers={f"SNR for 10 %, {r}": value for r, value in needed.items()},
            needs=[learns],
        )
        for rule, name in (("signgd", "SignGD"), ("adam", "Adam"))
    ]


def _larger_noise(table: pd.DataFrame) -> list[Verdict]:
    """The gap over the noisier half of the levels against the other."""
    levels = _levels(table)
    gaps = {}
    for snr in levels:
        pairs = paired(table, snr, "error")
        gaps[snr] = pairs["signgd"] - pairs["gd"]
    half = len(levels) // 2
    if not half:
        words = "a larger gap where the noise is larger"
        return [undecided(f"SNR {levels[0]:g}", words, "only one SNR was run")]
    noisy, clean = (
        np.mean([gaps[snr] for snr in part], axis=0)
        for part in (levels[:half], levels[-half:])
    )
    low, high = mean_interval(noisy - clean)
    peak = max(levels, key=lambda snr: gaps[snr].mean())
    instance = (
        f"SNR {levels[0]:g} … {levels[half - 1]:g} against {levels[-half]:g} … "
        f"{levels[-1]:g}"
    )
    words = "SignGD's error exceeds GD's by more where the noise is larger"
    if not (noisy - clean).any():
        return [undecided(instance, words, EQUAL)]
    return [
        compare_range(
            instance,
            low,
            high,
            least=0.0,
            predicted=words,
            numbers={
                f"gap at SNR {snr:g}": float(gap.mean()) for snr, gap in gaps.items()
            }
            | {"largest at SNR": peak},
            unclear=SEEDS,
        )
    ]


def _on(judges, tables: Table):
    """Judge on the table that a function of the evidence gives."""

    def judge(evidence: Evidence) -> list[Verdict]:
        table = tables(evidence)
        return [verdict for one in judges for verdict in one(table)]

    return judge


def _image_claims(data: str, title: str) -> tuple[Claim, ...]:
    needs = tuple(f"{data}-{rule}" for rule in RULES)

    def table(evidence: Evidence):
        return images(evidence, data)

    return (
        Claim(
            f"GD generalises better on {title}",
            "GD generalises better than SignGD.",
            _on((_lower_loss, _gd_better), table),
            needs=needs,
            figure=data,
            remark="The slides draw the test loss; the error is beside it.",
        ),
        Claim(
            f"especially when the noise is large, {title}",
            "GD generalises better especially when the noise is large.",
            _on((_larger_noise,), table),
            needs=needs,
            figure=data,
        ),
        Claim(
            f"Adam generalises like SignGD on {title}",
            "Adam generalises on noisy images as SignGD does.",
            _on((_alike_loss, _alike), table),
            needs=needs,
            figure=data,
        ),
    )


_SNR = tuple(f"snr-{rule}" for rule in RULES)

CLAIMS = (
    Claim(
        "GD generalises better at equal SNR",
        "At the same signal-to-noise ratio, GD generalises better than SignGD.",
        _on((_gd_better,), synthetic),
        needs=_SNR,
        figure="snr",
    ),
    Claim(
        "Adam generalises like SignGD",
        "Adam behaves similarly to SignGD in terms of generalisation.",
        _on((_alike,), synthetic),
        needs=_SNR,
        figure="snr",
        remark="Compared at the last step, whatever the training losses are there.",
    ),
    Claim(
        "poor generalisation is not solely due to noise",
        "Where GD learns the data well, SignGD still generalises poorly.",
        _on((_not_only_noise,), synthetic),
        needs=_SNR,
        figure="snr",
    ),
    Claim(
        "SignGD and Adam need better data",
        "SignGD and Adam require higher data quality than GD.",
        _on((_needs_quality,), synthetic),
        needs=_SNR,
        figure="snr",
    ),
    *_image_claims("mnist", "noisy MNIST"),
    *_image_claims("digits", "noisy digits"),
)

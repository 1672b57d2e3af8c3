"""Test error and loss against SNR on noisy images, at equal training loss."""

import functools

import numpy as np
import pandas as pd
import xarray as xr

from piste.claims import Claim, Verdict, compare_range, mean_interval, undecided
from piste.reproduction import Evidence, Table

from ..study_names import studies_on
from ..thresholds import MATCHED_LOSS, MAX_LOSS_RATIO
from ._generalisation import (
    EQUAL_SEEDS,
    UNCLEAR_MEAN,
    average_seeds,
    judge_adam_error,
    judge_cells,
    judge_gd_error,
    mean_by_rule,
    measure_at,
    pair_seeds,
    size_range,
    snr_levels,
    tabulate_cells,
)

IMAGE_SETS = {"mnist": "noisy MNIST", "digits": "noisy digits"}
"""The data of the studies, and what they are called in claims."""

# --- the measurement ------------------------------------------------------------------


def image_cells(evidence: Evidence, data: str) -> pd.DataFrame:
    """One row per rule, SNR and seed, where the training loss is first matched."""
    return tabulate_cells(evidence, data, _measure_when_matched)


def _measure_when_matched(cell: xr.Dataset) -> dict[str, float]:
    """Read the first tested record with a matched loss, or the last one."""
    losses = cell.train_loss.sel(step=cell.test_step.values).values
    matched = np.flatnonzero(losses <= MATCHED_LOSS)
    # A batch that stopped early has no numbers in its later records.
    known = np.flatnonzero(np.isfinite(losses))
    index = matched[0] if matched.size else known[-1] if known.size else -1
    return measure_at(cell, int(cell.test_step[index]))


# --- claims ---------------------------------------------------------------------------


def _judge_gd_loss(cells: pd.DataFrame) -> list[Verdict]:
    """GD's test loss, which the slides draw, over SignGD's: a ratio below 1."""
    predicted = "GD's test loss is below SignGD's: ratio < 1"
    verdicts = []
    for snr in snr_levels(cells):
        pairs = pair_seeds(cells, snr, "loss")
        log_ratios = _log_ratios(pairs, "gd")
        instance = f"SNR {snr:g}, test loss"
        if not log_ratios.any():
            verdicts.append(undecided(instance, predicted, EQUAL_SEEDS))
            continue
        verdict = compare_range(
            instance,
            *_ratio_range(*mean_interval(log_ratios)),
            maximum=1.0,
            predicted=predicted,
            numbers=mean_by_rule(pairs),
            unclear=UNCLEAR_MEAN,
        )
        verdicts.append(verdict)
    return verdicts


def _judge_adam_loss(cells: pd.DataFrame) -> list[Verdict]:
    """Adam's test loss over SignGD's: a ratio near 1, on either side."""
    verdicts = []
    for snr in snr_levels(cells):
        pairs = pair_seeds(cells, snr, "loss")
        low, high = mean_interval(_log_ratios(pairs, "adam"))
        verdict = compare_range(
            f"SNR {snr:g}, test loss",
            *_ratio_range(*size_range(low, high)),
            maximum=MAX_LOSS_RATIO,
            predicted="test losses of Adam and SignGD within a factor "
            f"{MAX_LOSS_RATIO}",
            numbers=mean_by_rule(pairs),
            unclear=UNCLEAR_MEAN,
        )
        verdicts.append(verdict)
    return verdicts


def _log_ratios(pairs: dict[str, np.ndarray], rule: str) -> np.ndarray:
    """Log of a rule's number over SignGD's, seed by seed."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.log(pairs[rule] / pairs["signgd"])


def _ratio_range(low: float, high: float) -> tuple[float, float]:
    """A range of logarithms as a range of ratios."""
    return float(np.exp(low)), float(np.exp(high))


def _judge_larger_noise(cells: pd.DataFrame) -> list[Verdict]:
    """The gap between SignGD and GD is larger over the noisier half of the levels."""
    levels = snr_levels(cells)
    gaps = {snr: _gap(cells, snr) for snr in levels}
    half = len(levels) // 2
    if not half:
        predicted = "a larger gap where the noise is larger"
        reason = "only one SNR was run"
        return [undecided(f"SNR {levels[0]:g}", predicted, reason)]
    noisy, clean = (
        np.mean([gaps[snr] for snr in part], axis=0)
        for part in (levels[:half], levels[-half:])
    )
    instance = (
        f"SNR {levels[0]:g} … {levels[half - 1]:g} against {levels[-half]:g} … "
        f"{levels[-1]:g}"
    )
    predicted = "SignGD's error exceeds GD's by more where the noise is larger"
    if not (noisy - clean).any():
        return [undecided(instance, predicted, EQUAL_SEEDS)]
    means = {f"gap at SNR {snr:g}": float(gap.mean()) for snr, gap in gaps.items()}
    largest = max(levels, key=lambda snr: gaps[snr].mean())
    return [
        compare_range(
            instance,
            *mean_interval(noisy - clean),
            minimum=0.0,
            predicted=predicted,
            numbers=means | {"largest at SNR": largest},
            unclear=UNCLEAR_MEAN,
        )
    ]


def _gap(cells: pd.DataFrame, snr: float) -> np.ndarray:
    """SignGD's error less GD's at one SNR, seed by seed."""
    pairs = pair_seeds(cells, snr, "error")
    return pairs["signgd"] - pairs["gd"]


def _claims_on(data: str, title: str) -> tuple[Claim, ...]:
    needs, cells = studies_on(data), functools.partial(image_cells, data=data)
    return (
        Claim(
            f"GD generalises better on {title}",
            "GD generalises better than SignGD.",
            judge_cells(cells, [_judge_gd_loss, judge_gd_error]),
            needs=needs,
            figure=data,
            remark="The slides draw the test loss; the error is beside it.",
        ),
        Claim(
            f"especially when the noise is large, {title}",
            "GD generalises better especially when the noise is large.",
            judge_cells(cells, [_judge_larger_noise]),
            needs=needs,
            figure=data,
        ),
        Claim(
            f"Adam generalises like SignGD on {title}",
            "Adam generalises on noisy images as SignGD does.",
            judge_cells(cells, [_judge_adam_loss, judge_adam_error]),
            needs=needs,
            figure=data,
        ),
    )


CLAIMS = tuple(
    claim for data, title in IMAGE_SETS.items() for claim in _claims_on(data, title)
)


# --- tables ---------------------------------------------------------------------------


def image_table(evidence: Evidence, data: str) -> pd.DataFrame:
    """Tabulate errors and losses by rule and SNR."""
    return average_seeds(image_cells(evidence, data))


TABLES = tuple(
    Table(
        data,
        f"Noisy {data}, at training loss {MATCHED_LOSS:g} or the last step, by SNR.",
        functools.partial(image_table, data=data),
        studies_on(data),
    )
    for data in IMAGE_SETS
)

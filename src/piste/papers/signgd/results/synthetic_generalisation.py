"""Test error against SNR on signal and noise: GD, SignGD and Adam at the last step."""

import numpy as np
import pandas as pd
import xarray as xr

from piste.claims import Claim, Verdict, compare, inequality, lasting
from piste.reproduction import Evidence, Table

from ..study_names import COMPARED_RULES, studies_on
from ..thresholds import LEARNT_ERROR, MAX_GOOD_ERROR, MIN_POOR_ERROR
from ._generalisation import (
    average_seeds,
    judge_adam_error,
    judge_cells,
    judge_gd_error,
    mean_by_rule,
    measure_at,
    pair_seeds,
    snr_levels,
    tabulate_cells,
)

# --- the measurement ------------------------------------------------------------------


def synthetic_cells(evidence: Evidence) -> pd.DataFrame:
    """One row per rule, SNR and seed: errors and losses at the last step."""
    return tabulate_cells(evidence, "snr", _measure_at_end)


def _measure_at_end(cell: xr.Dataset) -> dict[str, float]:
    return measure_at(cell, int(cell.test_step[-1]))


def needed_snr(cells: pd.DataFrame, rule: str, error: float = LEARNT_ERROR) -> float:
    """The lowest SNR of the sweep from which a rule's mean test error stays below.

    Infinite if there is none; not a number if an error is none.
    """
    levels = snr_levels(cells)
    errors = [mean_by_rule(pair_seeds(cells, snr, "error"))[rule] for snr in levels]
    if not np.isfinite(errors).all():
        return np.nan
    good = lasting(np.array(errors) <= error)
    return levels[int(np.argmax(good))] if good.any() else np.inf


# --- claims ---------------------------------------------------------------------------


def _judge_not_only_noise(cells: pd.DataFrame) -> list[Verdict]:
    """SignGD's error is poor where GD shows that the data can be learnt."""
    verdicts = []
    for snr in snr_levels(cells):
        means = mean_by_rule(pair_seeds(cells, snr, "error"))
        learnable = inequality(
            f"GD generalises on the same data: error ≤ {MAX_GOOD_ERROR}",
            means["gd"],
            MAX_GOOD_ERROR,
            means["gd"] <= MAX_GOOD_ERROR,
            f"{means['gd']:.3f}",
        )
        verdict = compare(
            f"SNR {snr:g}",
            means["signgd"],
            minimum=MIN_POOR_ERROR,
            predicted=f"SignGD's test error is still at least {MIN_POOR_ERROR}",
            conditions=(learnable,),
            numbers=means,
        )
        verdicts.append(verdict)
    return verdicts


def _judge_needed_snr(cells: pd.DataFrame) -> list[Verdict]:
    """SignGD and Adam need a higher SNR than GD for the same test error."""
    needed = {rule: needed_snr(cells, rule) for rule in COMPARED_RULES}
    percent, highest = f"{100 * LEARNT_ERROR:g} %", max(snr_levels(cells))
    learnable = inequality(
        "GD learns at some SNR",
        needed["gd"],
        highest,
        bool(np.isfinite(needed["gd"])),
        f"up to {highest:g}",
    )
    return [
        compare(
            name,
            # Beyond the sweep is known to be more than its last SNR, and no more.
            np.minimum(needed[rule], 2 * highest) / needed["gd"],
            # Strictly more: the least ratio that is not 1 by rounding.
            minimum=1.0 + 1e-9,
            predicted=f"a higher SNR for {percent} test error than GD",
            numbers={f"SNR for {percent}, {r}": snr for r, snr in needed.items()},
            needs=[learnable],
        )
        for rule, name in (("signgd", "SignGD"), ("adam", "Adam"))
    ]


_STUDIES = studies_on("snr")

CLAIMS = (
    Claim(
        "GD generalises better at equal SNR",
        "At the same signal-to-noise ratio, GD generalises better than SignGD.",
        judge_cells(synthetic_cells, [judge_gd_error]),
        needs=_STUDIES,
        figure="snr",
    ),
    Claim(
        "Adam generalises like SignGD",
        "Adam behaves similarly to SignGD in terms of generalisation.",
        judge_cells(synthetic_cells, [judge_adam_error]),
        needs=_STUDIES,
        figure="snr",
        remark="Compared at the last step, whatever the training losses are there.",
    ),
    Claim(
        "poor generalisation is not solely due to noise",
        "Where GD learns the data well, SignGD still generalises poorly.",
        judge_cells(synthetic_cells, [_judge_not_only_noise]),
        needs=_STUDIES,
        figure="snr",
    ),
    Claim(
        "SignGD and Adam need better data",
        "SignGD and Adam require higher data quality than GD.",
        judge_cells(synthetic_cells, [_judge_needed_snr]),
        needs=_STUDIES,
        figure="snr",
    ),
)


# --- the table ------------------------------------------------------------------------


def snr_table(evidence: Evidence) -> pd.DataFrame:
    """Tabulate errors and losses by rule and SNR."""
    return average_seeds(synthetic_cells(evidence))


TABLES = (
    Table("snr", "Test error and loss at the last step by SNR.", snr_table, _STUDIES),
)

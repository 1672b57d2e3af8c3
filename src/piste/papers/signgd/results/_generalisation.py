"""What SignGD, Adam and GD have learnt at each SNR: the numbers, and judges of them.

A *cell* is one run: a rule, an SNR and a seed. Cells of one SNR and seed have the same
data, so that rules are compared in pairs.
"""

from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd
import xarray as xr

from piste.claims import (
    CONFIDENCE_PERCENT,
    Verdict,
    compare_range,
    mean_interval,
    spread,
    undecided,
)
from piste.reproduction import Evidence

from ..presets import NOISE_SCALE
from ..study_names import COMPARED_RULES, studies_on
from ..thresholds import MATCHED_LOSS, MAX_ERROR_DIFFERENCE

MeasureCell = Callable[[xr.Dataset], dict[str, float]]
"""Reads the numbers of one cell."""
JudgeCells = Callable[[pd.DataFrame], list[Verdict]]
"""Judges a table of cells."""

# --- the measurement ------------------------------------------------------------------


def tabulate_cells(evidence: Evidence, data: str, measure: MeasureCell) -> pd.DataFrame:
    """One row per cell of the studies on some data: rule, SNR, seed and its numbers."""
    rows = []
    for rule, study in zip(COMPARED_RULES, studies_on(data), strict=True):
        sweep = evidence.dataset(study)
        for index, snr in enumerate(_snr_of_cells(sweep)):
            cell = sweep.isel(cell=index)
            row = {"rule": rule, "snr": round(float(snr), 6), "seed": int(cell.seed)}
            rows.append(row | measure(cell))
    return pd.DataFrame(rows)


def _snr_of_cells(sweep: xr.Dataset) -> np.ndarray:
    """The SNR of every cell; on synthetic data it is ‖μ‖ over the scale of the noise."""
    if "snr" in sweep.coords:
        return sweep.snr.values
    return sweep.signal_norm.values / NOISE_SCALE


def measure_at(cell: xr.Dataset, step: int) -> dict[str, float]:
    """Test error, test loss and training loss of a cell at one tested step."""
    test = cell.sel(test_step=step)
    return {
        "error": float(test.test_error),
        "loss": float(test.test_loss),
        "train_loss": float(cell.train_loss.sel(step=step)),
        "step": step,
    }


def average_seeds(cells: pd.DataFrame) -> pd.DataFrame:
    """One row per rule and SNR: mean error, median losses, their ranges."""
    columns = {str(name): np.asarray(cells[name]) for name in cells.columns}
    rows = []
    for rule, snr in dict.fromkeys(zip(columns["rule"], columns["snr"], strict=True)):
        chosen = (columns["rule"] == rule) & (columns["snr"] == snr)
        seeds = {name: values[chosen] for name, values in columns.items()}
        rows.append({"rule": rule, "snr": snr} | _average(seeds))
    return pd.DataFrame(rows)


def _average(seeds: dict[str, np.ndarray]) -> dict[str, float]:
    error, loss = spread(seeds["error"]), spread(seeds["loss"])
    return {
        "error": float(seeds["error"].mean()),
        "sd": error["sd"],
        "low": error["low"],
        "high": error["high"],
        "loss": loss["median"],
        "loss_low": loss["low"],
        "loss_high": loss["high"],
        "train_loss": float(np.median(seeds["train_loss"])),
        "matched": int((seeds["train_loss"] <= MATCHED_LOSS).sum()),
        "step": float(np.median(seeds["step"])),
        "seeds": seeds["error"].size,
    }


def snr_levels(cells: pd.DataFrame) -> list[float]:
    """All SNR of a table of cells, from the noisiest on."""
    return sorted({float(snr) for snr in cells["snr"]})


def pair_seeds(cells: pd.DataFrame, snr: float, column: str) -> dict[str, np.ndarray]:
    """One column at one SNR by rule, the seeds in one order: pairs have equal data."""
    at_snr = cells[cells["snr"] == snr]
    wide = at_snr.pivot(index="seed", columns="rule", values=column)
    return {rule: np.asarray(wide[rule]) for rule in COMPARED_RULES}


def mean_by_rule(pairs: dict[str, np.ndarray]) -> dict[str, float]:
    """The mean over seeds of every rule."""
    return {rule: float(values.mean()) for rule, values in pairs.items()}


# --- judges of both kinds of data -----------------------------------------------------

EQUAL_SEEDS = "equal in every seed"
UNCLEAR_MEAN = (
    f"{CONFIDENCE_PERCENT} interval of the mean over seeds, which do not decide"
)


def judge_cells(
    tabulate: Callable[[Evidence], pd.DataFrame], judges: Sequence[JudgeCells]
) -> Callable[[Evidence], list[Verdict]]:
    """Make a judge of the evidence out of judges of the table that it gives."""

    def judge(evidence: Evidence) -> list[Verdict]:
        cells = evidence.once(tabulate)
        return [verdict for one in judges for verdict in one(cells)]

    return judge


def judge_gd_error(cells: pd.DataFrame) -> list[Verdict]:
    """Judge that GD's error is below SignGD's, by their difference on the same data."""
    predicted = "GD's test error is below SignGD's, in the mean over seeds"
    verdicts = []
    for snr in snr_levels(cells):
        pairs = pair_seeds(cells, snr, "error")
        difference = pairs["gd"] - pairs["signgd"]
        if not difference.any():
            verdicts.append(undecided(f"SNR {snr:g}", predicted, EQUAL_SEEDS))
            continue
        verdict = compare_range(
            f"SNR {snr:g}",
            *mean_interval(difference),
            maximum=0.0,
            predicted=predicted,
            numbers=mean_by_rule(pairs),
            unclear=UNCLEAR_MEAN,
        )
        verdicts.append(verdict)
    return verdicts


def judge_adam_error(cells: pd.DataFrame) -> list[Verdict]:
    """Judge that Adam's error is SignGD's: the whole interval must be small."""
    verdicts = []
    for snr in snr_levels(cells):
        pairs = pair_seeds(cells, snr, "error")
        low, high = mean_interval(pairs["adam"] - pairs["signgd"])
        verdict = compare_range(
            f"SNR {snr:g}",
            *size_range(low, high),
            maximum=MAX_ERROR_DIFFERENCE,
            predicted="mean test errors of Adam and SignGD differ by at most "
            f"{MAX_ERROR_DIFFERENCE}",
            numbers=mean_by_rule(pairs),
            unclear=UNCLEAR_MEAN,
        )
        verdicts.append(verdict)
    return verdicts


def size_range(low: float, high: float) -> tuple[float, float]:
    """The range of the absolute value of a number that lies between two others."""
    ends = sorted((abs(low), abs(high)))
    return (0.0 if low <= 0 <= high else ends[0]), ends[1]

"""What SignGD, Adam and GD have learnt at each SNR, seed by seed and in the mean."""

from collections.abc import Callable

import numpy as np
import pandas as pd
import xarray as xr

from piste.claims import spread
from piste.reproduction import Evidence

from . import presets
from .thresholds import MATCHED

RULES = ("signgd", "adam", "gd")


def synthetic(evidence: Evidence) -> pd.DataFrame:
    """A row for each rule, SNR and seed: errors and losses at the last step."""
    return _all_rules(evidence, "snr", _at_end)


def images(evidence: Evidence, data: str) -> pd.DataFrame:
    """The same on images, at the first record whose training loss is at most 0.01."""
    return _all_rules(evidence, data, _when_matched)


Measure = Callable[[xr.Dataset], dict[str, float]]


def _all_rules(evidence: Evidence, prefix: str, measure: Measure) -> pd.DataFrame:
    rows = []
    for rule in RULES:
        sweep = evidence.dataset(f"{prefix}-{rule}")
        for place, snr in enumerate(_snr(sweep)):
            cell = sweep.isel(cell=place)
            row = {"rule": rule, "snr": round(float(snr), 6), "seed": int(cell.seed)}
            rows.append(row | measure(cell))
    return pd.DataFrame(rows)


def _snr(sweep: xr.Dataset) -> np.ndarray:
    """The SNR of every cell; on synthetic data ‖μ‖ over the noise scale."""
    if "snr" in sweep.coords:
        return sweep.snr.values
    return sweep.signal_norm.values / presets.NOISE_SCALE


def _at(cell: xr.Dataset, step: int) -> dict[str, float]:
    test = cell.sel(test_step=step)
    return {
        "error": float(test.test_error),
        "loss": float(test.test_loss),
        "train_loss": float(cell.train_loss.sel(step=step)),
        "step": step,
    }


def _at_end(cell: xr.Dataset) -> dict[str, float]:
    return _at(cell, int(cell.test_step[-1]))


def _when_matched(cell: xr.Dataset) -> dict[str, float]:
    """At the first tested record with a loss of at most 0.01, or at the last one."""
    losses = cell.train_loss.sel(step=cell.test_step.values).values
    matched = np.flatnonzero(losses <= MATCHED)
    # A batch that stopped early has no numbers in its later records.
    known = np.flatnonzero(np.isfinite(losses))
    place = matched[0] if matched.size else known[-1] if known.size else -1
    return _at(cell, int(cell.test_step[place]))


def over_seeds(table: pd.DataFrame) -> pd.DataFrame:
    """A row for each rule and SNR: mean error, median losses, their ranges."""
    columns = {str(name): np.asarray(table[name]) for name in table.columns}
    rows = []
    for rule, snr in dict.fromkeys(zip(columns["rule"], columns["snr"], strict=True)):
        chosen = (columns["rule"] == rule) & (columns["snr"] == snr)
        part = {name: values[chosen] for name, values in columns.items()}
        rows.append({"rule": rule, "snr": snr} | _summary(part))
    return pd.DataFrame(rows)


def _summary(columns: dict[str, np.ndarray]) -> dict[str, float]:
    error, loss = spread(columns["error"]), spread(columns["loss"])
    return {
        "error": float(columns["error"].mean()),
        "sd": error["sd"],
        "low": error["low"],
        "high": error["high"],
        "loss": loss["median"],
        "loss_low": loss["low"],
        "loss_high": loss["high"],
        "train_loss": float(np.median(columns["train_loss"])),
        "matched": int((columns["train_loss"] <= MATCHED).sum()),
        "step": float(np.median(columns["step"])),
        "seeds": columns["error"].size,
    }


def paired(table: pd.DataFrame, snr: float, column: str) -> dict[str, np.ndarray]:
    """One column at one SNR by rule, the seeds in one order: pairs have equal data."""
    part = table[table["snr"] == snr]
    wide = part.pivot(index="seed", columns="rule", values=column)
    return {rule: np.asarray(wide[rule]) for rule in RULES}

"""What SignGD, Adam and GD learn at equal SNR, on synthetic data and on images.

Thresholds are readings of ours, fixed here and printed with every verdict.
"""

import numpy as np
import pandas as pd
import xarray as xr

from piste.claims import Claim, Condition, Verdict, compare, lasting, spread

from . import presets

RULES = ("signgd", "adam", "gd")
ALIKE = 0.05
"""Difference of test errors up to which two rules generalise alike."""
GOOD, POOR = 0.05, 0.1
"""Test errors up to which GD generalises well, and from which SignGD does poorly."""
MATCHED = 0.01
"""Training loss at which rules are compared on images."""


def synthetic(evidence) -> pd.DataFrame:
    """Test error and loss at T by SNR and rule, over seeds."""
    return pd.concat(
        [_by_snr(evidence[f"snr-{rule}"], rule, _at_end) for rule in RULES],
        ignore_index=True,
    )


def images(evidence, data: str) -> pd.DataFrame:
    """The same on images, at the first record whose training loss is at most 0.01."""
    return pd.concat(
        [_by_snr(evidence[f"{data}-{rule}"], rule, _when_matched) for rule in RULES],
        ignore_index=True,
    )


def _by_snr(sweep: xr.Dataset, rule: str, measure) -> pd.DataFrame:
    snr = _snr(sweep)
    cells = [measure(sweep.isel(cell=place)) for place in range(snr.size)]
    rows = []
    for level in dict.fromkeys(np.round(snr, 6)):
        at = [
            cell for cell, own in zip(cells, snr, strict=True) if np.isclose(own, level)
        ]
        rows.append({"rule": rule, "snr": float(level)} | _over_seeds(at))
    return pd.DataFrame(rows)


def _over_seeds(cells: list[dict[str, float]]) -> dict[str, float]:
    """Mean test error and median losses with their ranges."""
    parts = {name: np.array([cell[name] for cell in cells]) for name in cells[0]}
    error, loss = spread(parts["error"]), spread(parts["loss"])
    return {
        "error": float(parts["error"].mean()),
        "sd": error["sd"],
        "low": error["low"],
        "high": error["high"],
        "loss": loss["median"],
        "loss_low": loss["low"],
        "loss_high": loss["high"],
        "train_loss": float(np.median(parts["train"])),
        "matched": int((parts["train"] <= MATCHED).sum()),
        "step": float(np.median(parts["step"])),
        "seeds": len(cells),
    }


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
        "train": float(cell.train_loss.sel(step=step)),
        "step": step,
    }


def _at_end(cell: xr.Dataset) -> dict[str, float]:
    return _at(cell, int(cell.test_step[-1]))


def _when_matched(cell: xr.Dataset) -> dict[str, float]:
    """At the first tested record with a loss of at most 0.01, or at the end."""
    losses = cell.train_loss.sel(step=cell.test_step.values).values
    reached = np.flatnonzero(losses <= MATCHED)
    place = reached[0] if reached.size else -1
    return _at(cell, int(cell.test_step[place]))


def _pivot(table: pd.DataFrame, column: str = "error") -> pd.DataFrame:
    return table.pivot(index="snr", columns="rule", values=column)


def _gd_better(table: pd.DataFrame) -> list[Verdict]:
    return [
        compare(
            f"SNR {snr:g}",
            float(row.gd - row.signgd) or np.nan,  # a tie decides nothing
            most=0.0,
            predicted="GD's mean test error is below SignGD's",
            numbers={"GD": row.gd, "SignGD": row.signgd, "Adam": row.adam},
        )
        for snr, row in _pivot(table).iterrows()
    ]


def _alike(table: pd.DataFrame) -> list[Verdict]:
    errors = _pivot(table)
    return [
        compare(
            f"SNR {snr:g}",
            float(abs(row.adam - row.signgd)),
            most=ALIKE,
            predicted=f"mean test errors of Adam and SignGD differ by at most {ALIKE}",
            numbers={"SignGD": row.signgd, "Adam": row.adam},
        )
        for snr, row in errors.iterrows()
    ]


def _not_only_noise(table: pd.DataFrame) -> list[Verdict]:
    verdicts = []
    for snr, row in _pivot(table).iterrows():
        learnable = Condition(
            f"GD generalises on the same data: error ≤ {GOOD}",
            bool(row.gd <= GOOD),
            f"{row.gd:.3f}",
        )
        found = compare(
            f"SNR {snr:g}",
            float(row.signgd),
            least=POOR,
            predicted=f"SignGD's test error is still at least {POOR}",
            conditions=(learnable,),
            numbers={"GD": row.gd, "SignGD": row.signgd},
        )
        verdicts.append(found)
    return verdicts


def needed_snr(table: pd.DataFrame, rule: str, error: float = 0.1) -> float:
    """The lowest SNR of the sweep from which a rule's mean test error stays below."""
    ordered = table.sort_values("snr")
    part = ordered.loc[ordered["rule"] == rule]
    good = lasting(part.error.values <= error)
    return float(part.snr.values[np.argmax(good)]) if good.any() else np.inf


def _needs_quality(table: pd.DataFrame) -> list[Verdict]:
    needed = {rule: needed_snr(table, rule) for rule in RULES}
    top = float(table.snr.max())
    return [
        compare(
            name,
            _ratio(min(needed[rule], 10 * top), needed["gd"]),
            least=1.0,
            predicted="a higher SNR for 10 % test error than GD",
            numbers={f"SNR for 10 %, {r}": value for r, value in needed.items()},
        )
        for rule, name in (("signgd", "SignGD"), ("adam", "Adam"))
    ]


def _ratio(needed: float, by_gd: float) -> float:
    """How much more SNR is needed; undecided if alike, or if GD never learns."""
    return np.nan if needed == by_gd or np.isinf(by_gd) else needed / by_gd


def _on(judge, tables):
    """Judge on the table that a function of the evidence gives."""
    return lambda evidence: judge(tables(evidence))


def _image_claims(data: str, title: str) -> tuple[Claim, ...]:
    needs = tuple(f"{data}-{rule}" for rule in RULES)

    def table(evidence):
        return images(evidence, data)

    return (
        Claim(
            f"GD generalises better on {title}",
            "GD generalises better, especially when the noise is large.",
            _on(_gd_better, table),
            needs=needs,
            figure=data,
        ),
        Claim(
            f"Adam generalises like SignGD on {title}",
            "Adam generalises on noisy images as SignGD does.",
            _on(_alike, table),
            needs=needs,
            figure=data,
        ),
    )


_SNR = tuple(f"snr-{rule}" for rule in RULES)

CLAIMS = (
    Claim(
        "GD generalises better at equal SNR",
        "At the same signal-to-noise ratio, GD generalises better than SignGD.",
        _on(_gd_better, synthetic),
        needs=_SNR,
        figure="snr",
    ),
    Claim(
        "Adam generalises like SignGD",
        "Adam behaves similarly to SignGD in terms of generalisation.",
        _on(_alike, synthetic),
        needs=_SNR,
        figure="snr",
        remark="Compared at T = 1000, where Adam's training loss is still higher.",
    ),
    Claim(
        "poor generalisation is not solely due to noise",
        "Where GD learns the data well, SignGD still generalises poorly.",
        _on(_not_only_noise, synthetic),
        needs=_SNR,
        figure="snr",
        remark="It ends where the signal is strong and SignGD learns it too.",
    ),
    Claim(
        "SignGD and Adam need better data",
        "SignGD and Adam require higher data quality than GD.",
        _on(_needs_quality, synthetic),
        needs=_SNR,
        figure="snr",
    ),
    *_image_claims("mnist", "noisy MNIST"),
    *_image_claims("digits", "noisy digits"),
)

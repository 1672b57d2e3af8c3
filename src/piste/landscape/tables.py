"""What a comparison of landscapes found, as tables."""

import dataclasses
from collections.abc import Sequence

import numpy as np
import pandas as pd
import xarray as xr

from piste.claims import sign_test
from piste.errors import InputError

from .matched import ENOUGH, mismatch
from .metrics import Metrics, measure
from .surface import Surface

HEADLINE = {
    "non_convex": "non-convex cells",
    "unexplained": "1 − R² of a quadratic",
}
"""The pair by which surfaces are judged."""
OTHERS = {
    "minima": "interior minima",
    "curvature_largest": "largest curvature",
    "curvature_least": "least curvature",
    "centre_loss": "loss at the centre",
    "not_finite": "points not finite",
}


def kernels_of(part: xr.Dataset) -> list[str]:
    """The two kernels of a pair of surfaces: that of the first stage, and the other."""
    return list(part.attrs["kernels"])


def one_of(part: xr.Dataset, kernel: str) -> xr.Dataset:
    """What a pair has of one kernel."""
    return part.isel(kernel=kernels_of(part).index(kernel))


def surface_of(part: xr.Dataset, kernel: str) -> Surface:
    """The surface of one kernel."""
    return Surface(part["first"].values, one_of(part, kernel).loss.values)


def mismatch_of(part: xr.Dataset) -> float:
    """How far the losses at both centres differ."""
    return mismatch(*(surface_of(part, kernel).centre for kernel in kernels_of(part)))


def comparable(parts: Sequence[xr.Dataset]) -> list[xr.Dataset]:
    """The pairs whose centres have the same loss, near enough."""
    return [part for part in parts if mismatch_of(part) <= ENOUGH]


def metrics_table(parts: Sequence[xr.Dataset]) -> pd.DataFrame:
    """A row for each surface: its metrics, its centre, and what its plane leaves out."""
    rows = []
    for part in parts:
        for kernel in kernels_of(part):
            said: Metrics = measure(surface_of(part, kernel))
            one = one_of(part, kernel)
            known = {
                "model": int(part.attrs["model"]),
                "direction": int(part.attrs["direction"]),
                "kernel": kernel,
                "centre_step": int(one.step[int(one.centre)]),
                "mismatch": mismatch_of(part),
                "explained_share": float(one.explained_share),
                "projected_error": projected_error(one),
            }
            rows.append(known | dataclasses.asdict(said))
    return pd.DataFrame(rows)


def projected_error(one: xr.Dataset) -> float:
    """The largest difference of projected and true loss, as a share of the true one."""
    true, below = one.true_loss.values, one.projected_loss.values
    with np.errstate(invalid="ignore", divide="ignore"):
        return float(np.max(np.abs(below - true) / np.abs(true)))


def by_model(table: pd.DataFrame, metric: str) -> pd.DataFrame:
    """A metric by model and kernel: the median over the planes of the model.

    NaN where one of these has no such number: a model is not judged by its other planes.
    """
    planes = _by_plane(table, metric).groupby("model")
    return planes.agg(lambda values: values.median(skipna=False))


def _by_plane(table: pd.DataFrame, metric: str) -> pd.DataFrame:
    """A row for each plane, a column for each of the two kernels."""
    where, kernels = ["model", "direction", "kernel"], list(table.kernel.unique())
    twice = table[table.duplicated(where)]
    if len(kernels) > 2 or len(twice):
        said = ", ".join(kernels) if twice.empty else f"model {twice.model.iloc[0]}"
        expected = "must be of one comparison, two kernels and a pair for each plane"
        raise InputError(
            f"surfaces ({said}{' twice' if len(twice) else ''}): {expected}"
        )
    wide = table.pivot(index=where[:2], columns="kernel", values=metric)
    return wide.reindex(columns=kernels)


def paired_table(table: pd.DataFrame) -> pd.DataFrame:
    """A row for each metric: the second kernel against the first.

    Planes of one model are not independent, so the test is over models: each gives the
    median over its planes. Pairs are counted too.
    """
    rows = []
    for name, words in (HEADLINE | OTHERS).items() if len(table) else ():
        models, wide = by_model(table, name), _by_plane(table, name)
        (one, first), (other, second) = models.items()
        tested = sign_test(second.to_numpy(), first.to_numpy())
        every = sign_test(wide[other].to_numpy(), wide[one].to_numpy())
        rows.append(
            {
                "metric": words,
                one: float(first.median()),
                other: float(second.median()),
                "median difference": tested.median_difference,
                "lower in models": f"{tested.lower} of {len(models)}",
                "lower in pairs": f"{every.lower} of {len(wide)}",
                "p (two-sided sign test)": tested.p_value(),
            }
        )
    return pd.DataFrame(rows)

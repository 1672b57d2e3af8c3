"""What a comparison of landscapes found, as tables."""

import dataclasses
from collections.abc import Sequence

import numpy as np
import pandas as pd
import xarray as xr

from piste.errors import InputError

from .matched import MAX_LOSS_MISMATCH, mismatch
from .metrics import Metrics, measure
from .surface import Surface

HEADLINE = {
    "non_convex": "non-convex points",
    "negative_curvature": "negative curvature / rise",
    "unexplained": "1 − R² of a quadratic",
}
"""The numbers by which surfaces are judged: smaller is smoother."""
OTHERS = {
    "flat": "points too flat to tell",
    "minima": "interior minima",
    "curvature_max": "largest curvature at the centre / rise",
    "curvature_min": "least curvature at the centre / rise",
    "reach": "reach",
    "rise": "rise of the loss",
    "centre_loss": "loss at the centre",
    "not_finite": "points not finite",
}
_SURFACE = ["model", "direction", "weights", "window", "kernel"]


def kernels_of(part: xr.Dataset) -> list[str]:
    """List the kernels of a part: that of the first stage, then the others."""
    return [str(name) for name in part.kernel.values]


def surface_of(part: xr.Dataset, **where: str) -> Surface:
    """Take one surface of a part, by its kernel, weights and window."""
    one = part.sel(where)
    with np.errstate(invalid="ignore"):  # of an infinite reach, measured as it is
        return Surface(one["first"].values * float(one.reach), one.loss.values)


def centre_losses(part: xr.Dataset, weights: str = "trained") -> list[float]:
    """List the losses at the centres of all kernels' surfaces."""
    middle = part.sizes["first"] // 2
    losses = part.loss.sel(weights=weights).isel(first=middle, second=middle)
    # A window that was not reached has no losses; the centre is that of the others.
    return [float(each) for each in losses.max("window")]


def mismatch_of(part: xr.Dataset) -> float:
    """How far the losses at the centres differ, as a share of the largest."""
    return mismatch(centre_losses(part))


def comparable(parts: Sequence[xr.Dataset]) -> list[xr.Dataset]:
    """Keep the parts whose centres have the same loss, near enough."""
    return [part for part in parts if mismatch_of(part) <= MAX_LOSS_MISMATCH]


def metrics_table(parts: Sequence[xr.Dataset]) -> pd.DataFrame:
    """Make a row for each surface: its metrics, its centre, what its plane leaves out."""
    rows = [row for part in parts for row in _rows(part)]
    return pd.DataFrame(rows, columns=None if rows else [*_SURFACE, "mismatch"])


def _rows(part: xr.Dataset) -> list[dict]:
    words = ((w, n) for w in part.weights.values for n in part.window.values)
    return [
        _row(part, str(weights), str(window), kernel)
        for weights, window in words
        for kernel in kernels_of(part)
    ]


def _row(part: xr.Dataset, weights: str, window: str, kernel: str) -> dict:
    where = {"weights": weights, "window": window, "kernel": kernel}
    one = part.sel(where)
    known = {
        "model": int(part.attrs["model"]),
        "direction": int(part.attrs["direction"]),
        **where,
        "reach": float(one.reach),
        "centre_step": centre_step(one),
        "mismatch": mismatch_of(part),
        "explained_share": float(one.explained_share),
        "projected_error": projected_error(one),
    }
    found: Metrics = measure(surface_of(part, **where))
    metrics = dataclasses.asdict(found)
    # Where the loss never rose so far there is no surface, and nothing to say of it.
    return known | (
        metrics if np.isfinite(one.reach) else dict.fromkeys(metrics, np.nan)
    )


def centre_step(one: xr.Dataset) -> float:
    """The step of the snapshot at the centre; NaN where the index is no number."""
    index = float(one.centre)
    return float(one.step[int(index)]) if np.isfinite(index) else np.nan


def projected_error(one: xr.Dataset) -> float:
    """The largest difference of projected and true loss, as a share of the true one."""
    true, below = one.true_loss.values, one.projected_loss.values
    with np.errstate(invalid="ignore", divide="ignore"):
        return float(np.max(np.abs(below - true) / np.abs(true)))


def by_model(table: pd.DataFrame, metric: str) -> pd.DataFrame:
    """Arrange a metric by weights, window and model, with a column for each kernel.

    A number is the median over the planes of the model. NaN where one of these has no
    such number: a model is not judged by its other planes.
    """
    twice = table[table.duplicated(_SURFACE)]
    if len(twice):
        raise InputError(
            f"surfaces: model {twice.model.iloc[0]} has two of {twice.kernel.iloc[0]} on "
            "one plane; must be of one comparison; leave out the parts of the others"
        )
    wide = table.pivot(index=_SURFACE[:-1], columns="kernel", values=metric)
    wide = wide.reindex(columns=list(table.kernel.unique()))
    planes = wide.groupby(["weights", "window", "model"], sort=False)
    return planes.agg(lambda values: values.median(skipna=False))

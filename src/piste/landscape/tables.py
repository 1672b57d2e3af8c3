"""What a comparison of landscapes found, as tables."""

import dataclasses
from collections.abc import Sequence

import numpy as np
import pandas as pd
import xarray as xr

from .metrics import Metrics, measure, paired
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


def surface_of(part: xr.Dataset, kernel: int) -> Surface:
    """The surface of one kernel."""
    return Surface(part["first"].values, part.loss[kernel].values)


def metrics_table(parts: Sequence[xr.Dataset], kernels: Sequence[str]) -> pd.DataFrame:
    """A row for each surface: its metrics, its centre, and what its plane leaves out."""
    rows = []
    for part in parts:
        for place, kernel in enumerate(kernels):
            said: Metrics = measure(surface_of(part, place))
            one = part.isel(kernel=place)
            known = {
                "model": int(part.attrs["model"]),
                "direction": int(part.attrs["direction"]),
                "kernel": kernel,
                "centre_step": int(one.step[int(one.centre)]),
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


def paired_table(table: pd.DataFrame, kernels: Sequence[str]) -> pd.DataFrame:
    """A row for each metric: the second kernel against the first.

    Planes of one model are not independent, so the test is over models: each gives the
    median over its planes. Pairs are counted too.
    """
    rows = []
    for name, words in (HEADLINE | OTHERS).items():
        wide = table.pivot(index=["model", "direction"], columns="kernel", values=name)
        models = wide.groupby("model").median()
        first, second = (models[kernel].to_numpy() for kernel in kernels)
        tested = paired(second, first)
        every = paired(wide[kernels[1]].to_numpy(), wide[kernels[0]].to_numpy())
        rows.append(
            {
                "metric": words,
                kernels[0]: float(np.median(first)),
                kernels[1]: float(np.median(second)),
                "median difference": tested.median_difference,
                "lower in models": f"{tested.wins} of {len(models)}",
                "lower in pairs": f"{every.wins} of {len(wide)}",
                "p (sign test)": tested.p_value,
            }
        )
    return pd.DataFrame(rows)

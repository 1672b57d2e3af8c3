"""The inequality under Theorem 2: ‖∇f‖² ≥ 2σ²_min(J_Q) f along a run."""

import numpy as np
import xarray as xr

from piste.claims import Claim, Condition, Verdict, compare, undecided
from piste.reproduction import Evidence

from ...probes import relative_resolution
from ...theory import least_squared_gradient
from ...thresholds import BOUND_ROUNDING, ROUNDING_FLOOR
from ..cells import singular_value_number

NEEDED = (
    "train_loss",
    "gradient_norm",
    "query_jacobian_min",
    "query_jacobian_max",
    "test_step",
)
"""Variables that a run must have."""


def _judge(evidence: Evidence) -> list[Verdict]:
    return [_verdict(run) for run in evidence.runs("pair")]


def _verdict(run: xr.Dataset) -> Verdict:
    model, seed = run.attrs["experiment"]["model"], run.attrs["experiment"]["seed"]
    name = f"{model.get('kernel', 'no kernel')}, seed {seed}"
    predicted = "‖∇f‖² ≥ 2σ²_min(J_Q) f at every record at which σ_min(J_Q) is known"
    lacking = [probe for probe in NEEDED if probe not in run.variables]
    if lacking:
        return undecided(name, predicted, f"the run lacks {', '.join(lacking)}")
    at_tests = run.sel(step=run.test_step.values)
    loss, least = at_tests.train_loss.values, run.query_jacobian_min.values
    share = resolution_of_query_jacobian(run)
    limit = share * run.query_jacobian_max.values
    asks = (least > limit) & ~(loss <= loss[0] * ROUNDING_FLOOR)
    unknown = ~np.isfinite(least) | ~np.isfinite(loss)
    if not (asks | unknown).any():
        why = f"σ_min(J_Q) ≤ {share:.1g} σ_max, what an SVD resolves, at every record"
        if (least > limit).any():
            why = "the loss is rounding wherever σ_min(J_Q) is known"
        return undecided(name, predicted, f"{why}: the inequality asks for nothing")
    squared = at_tests.gradient_norm.values[asks] ** 2
    ratio = squared / least_squared_gradient(least[asks], loss[asks])
    ratio = np.append(ratio, np.full(unknown.sum(), np.nan))
    trained = model.get("train", "")
    return compare(
        f"{name}, {int(asks.sum())} of {asks.size} records",
        ratio,
        minimum=1 - BOUND_ROUNDING,
        predicted=f"‖∇f‖²/(2σ²_min f) ≥ 1: {predicted}",
        bounded=True,  # it is attained where the slowest direction is left
        conditions=(Condition("W^Q alone is trained", trained == "Q", trained),),
        numbers=singular_value_number(
            "σ_min(J_Q) at the start", float(least[0]), float(limit[0])
        ),
    )


def resolution_of_query_jacobian(run: xr.Dataset) -> float:
    """What an SVD resolves of J_Q in units of its σ_max, from the sizes of a run."""
    task, model = run.attrs["experiment"]["task"], run.attrs["experiment"]["model"]
    rows = task["sequences"] * task["length"] * task["outputs"]
    columns = model["heads"] * task["dimension"] * model["width"]
    return relative_resolution(run.attrs["experiment"]["precision"], (rows, columns))


CLAIMS = (
    Claim(
        "‖∇f‖ is held up by J_Q",
        "Along a run ‖∇f‖² ≥ 2σ²_min(J_Q) f: no gradient vanishes while J_Q has rank.",
        _judge,
        needs=("pair",),
        figure="singular-values",
        remark="Where σ_min(J_Q) is below what an SVD resolves this asks for nothing.",
    ),
)

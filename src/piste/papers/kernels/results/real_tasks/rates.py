"""Each model at its own best rate of a grid, on seeds that no comparison has."""

import numpy as np
import pandas as pd
import xarray as xr

from piste.claims import Condition
from piste.reproduction import Evidence, Table

from .runs import validated_best

RATE_STUDIES = {"pathfinder": "pathfinder-rates", "imdb-sgd": "imdb-sgd-rates"}
"""The study that chose the rates of another one."""
GRIDS = {
    "pathfinder-rates": (5e-4, 1e-3, 2e-3),
    "imdb-sgd-rates": (0.1, 0.3, 1.0),
}
"""The rates that were tried."""
TUNING_SEEDS = (100, 101, 102)
"""Seeds of these studies; those of the comparisons begin with 0."""


def model_of(run: xr.Dataset) -> str:
    """The kernel of a run, or the name of a model that has none."""
    model = run.attrs["experiment"]["model"]
    return model.get("kernel", model["type"])


def rate_of(run: xr.Dataset) -> float:
    """The learning rate of a run."""
    return float(run.attrs["experiment"]["rule"]["learning_rate"])


def scores(runs) -> pd.DataFrame:
    """The best validation accuracy of every run, by model and rate."""
    rows = [
        {"model": model_of(run), "rate": rate_of(run), "score": validated_best(run)}
        for run in runs
    ]
    return pd.DataFrame(rows, columns=["model", "rate", "score"])


def best_rate(table: pd.DataFrame, model: str) -> float:
    """The rate with the highest mean score of a model; NaN if it was not tried."""
    means = table.loc[table.model == model].groupby("rate").score.mean()
    known = means.dropna()
    return float(known.idxmax()) if len(known) else np.nan


def best_rates(evidence: Evidence, task: str) -> tuple[Condition, ...]:
    """Require that a study has every model at its best rate, where that is known."""
    study = RATE_STUDIES.get(task, "")
    if not evidence.has(study) or not study:
        return ()
    table = scores(evidence.runs(study))
    used = {model_of(run): rate_of(run) for run in evidence.runs(task)}
    wrong = [
        f"{model}: {rate:g} used, {best:g} is better"
        for model, rate in used.items()
        if np.isfinite(best := best_rate(table, model)) and best != rate
    ]
    return (Condition("each at its best rate", not wrong, "; ".join(wrong)),)


# --- the tables ------------------------------------------------------------------------


def _table(study: str) -> Table:
    def make(evidence: Evidence) -> pd.DataFrame:
        table = scores(evidence.runs(study))
        grouped = table.groupby(["model", "rate"], sort=False).score
        found = grouped.agg(["mean", "min", "max", "count"]).reset_index()
        best = [best_rate(table, model) for model in found.model]
        return found.assign(best=found.rate == best)

    caption = (
        f"Best validation accuracy over learning rates ({study}), on seeds "
        f"{TUNING_SEEDS[0]} to {TUNING_SEEDS[-1]}."
    )
    return Table(study.replace("-", "_"), caption, make, (study,))


TABLES = tuple(_table(study) for study in RATE_STUDIES.values())

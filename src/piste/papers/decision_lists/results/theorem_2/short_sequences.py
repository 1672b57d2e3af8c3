"""Whether Theorem 2 can say anything at short sequences, as other runs have them."""

import pandas as pd
import xarray as xr

from piste.claims import Claim, Condition, Outcome, Verdict, undecided
from piste.reproduction import Evidence, Table

from ...tasks import DecisionLists
from ...theory import smallest_length
from .._runs import experiment_of, instance_of

STUDIES = ("theorem-1", "dirichlet", "empirics")
"""The runs whose sizes are looked at."""
ROOM = "n log²n > 162 m"
"""What leaves room for ε and A, as :func:`smallest_length` derives it."""


def room_verdict(run: xr.Dataset) -> Verdict:
    """Judge whether Theorem 2 leaves room for ε and A at the size of a run."""
    experiment = experiment_of(run)
    predicted = f"{ROOM}, else no ε and A meet the conditions"
    if not isinstance(experiment.task, DecisionLists):
        return undecided("run", predicted, "a run of another task")
    instance = instance_of(experiment)
    n, m = instance.length, instance.list_bound
    smallest = smallest_length(m)
    size = f"({instance.vocabulary}, {n}, {m})"
    text = f"n = {n}; the smallest n for m = {m} is {smallest}"
    conditions = (
        Condition("no repetition", not instance.sequences.repeats),
        Condition(ROOM, n >= smallest, text),
    )
    if all(condition.met for condition in conditions):
        measured = f"ε and A exist at this size, but no descent was run here: {text}"
        return undecided(size, predicted, measured, conditions=conditions)
    if not instance.sequences.repeats:
        measured = f"no ε and A meet the conditions at this size: {text}"
    else:
        measured = "with repetition no scale c meets its condition"
    return Verdict(
        size,
        Outcome.UNMET,
        predicted=predicted,
        measured=measured,
        conditions=conditions,
    )


def _judge(evidence: Evidence) -> list[Verdict]:
    return [room_verdict(evidence.runs(study)[0]) for study in STUDIES]


def _table(evidence: Evidence) -> pd.DataFrame:
    sizes = ({"m": m, "smallest n": smallest_length(m)} for m in range(1, 5))
    return pd.DataFrame(sizes)


CLAIMS = (
    Claim(
        "Theorem 2 at short sequences",
        "The sizes of other runs under the conditions of Theorem 2.",
        _judge,
        needs=STUDIES,
        figure="",
        remark=f"The conditions on A leave room if and only if about {ROOM}.",
    ),
)
TABLES = (
    Table(
        "smallest",
        "The smallest sequence length at which Theorem 2's conditions can be met.",
        _table,
    ),
)

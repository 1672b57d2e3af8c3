"""Small instances of decision lists, and cells of calculations with known numbers."""

import jax
import xarray as xr

from piste.claims import Outcome
from piste.papers.decision_lists.forms import (
    PERFECT,
    AbstractPopulation,
    Problem,
    population_loss,
)
from piste.papers.decision_lists.tasks import DecisionLists, Instance
from piste.papers.decision_lists.theory import attention_theorem
from piste.training import OUTCOMES

HOLDS, VIOLATED = Outcome.HOLDS, Outcome.VIOLATED
UNMET, OPEN = Outcome.UNMET, Outcome.INCONCLUSIVE
END, _, LIMIT, _ = OUTCOMES
"""Outcomes of flows that did not become perfect."""


def draw_instance(
    vocabulary: int,
    length: int,
    list_bound: int,
    distribution: str = "uniform",
    seed: int = 0,
    **fields,
) -> Instance:
    """An instance of a task of these sizes."""
    task = DecisionLists(
        vocabulary=vocabulary,
        length=length,
        list_bound=list_bound,
        distribution=distribution,
        **fields,
    )
    return task.instance(key=jax.random.key(seed))


def flow_problem(
    instance: Instance, form: str = "auto", factor: float = 1.0, longer: float = 1.0
) -> Problem:
    """The flow of Theorem 1 with a factor of its scale, for some times its bound."""
    theorem = attention_theorem(instance)
    population = population_loss(instance, form)
    assert isinstance(population, AbstractPopulation)
    return Problem(population, factor * theorem.scale, longer * theorem.bound)


def dataset(row: dict, drop: str = "") -> xr.Dataset:
    """One cell with the numbers of a row."""
    found = {name: ("cell", [value]) for name, value in row.items() if name != drop}
    return xr.Dataset(found)


FLOW = {
    "vocabulary": 8,
    "length": 3,
    "list_bound": 2,
    "distribution": "uniform",
    "gamma": 0.1,
    "delta": 0.2,
    "scale": 10.0,
    "value_scale": 10.0,
    "start_size": 0.0,
    "bound": 5.0,
    "proved_bound": 50.0,
    "time_unit": 0.1,
    "time": 1.0,
    "ended": 1.0,
    "outcome": PERFECT,
}
"""A flow of Theorem 1 that is perfect within the bound."""

"""Theorem 1 where tokens are independent and may repeat, which it does not cover."""

import jax
import pandas as pd
import xarray as xr

from piste.claims import Claim
from piste.reproduction import Evidence, Table
from piste.values import option, value

from ...forms import Problem, exact_loss, first_perfect
from ...tasks import DecisionLists
from ...theory import attention_theorem
from .._cells import cells, number, size_text, to_dataset
from .._flows import InstanceFlow
from ..instances import check_parallel
from .first_perfect_times import judge_instances

STUDY = "repetition"


@value
class Repetition:
    """The flow of Theorem 1 on independent tokens, at several sizes."""

    vocabularies: tuple[int, ...] = option(
        default=(8, 10, 12, 16, 20, 30, 30), minimum=2
    )
    """$L$ of every size."""
    lengths: tuple[int, ...] = option(default=(3, 4, 4, 5, 4, 6, 6), minimum=1)
    """$n$ of every size."""
    list_bounds: tuple[int, ...] = option(default=(2, 2, 3, 3, 2, 2, 4), minimum=1)
    """$M$ of every size, the length of all lists."""
    patience: float = option(default=100.0, greater_than=0)
    """How long to follow a flow, in units of the bound."""
    seed: int = option(default=7, minimum=0)

    def __post_init__(self):
        check_parallel(self, "vocabularies", "lengths", "list_bounds")

    def parts(self) -> int:
        """One for every size."""
        return len(self.vocabularies)

    def part(self, index: int) -> xr.Dataset:
        """Follow the flow of one size."""
        task = DecisionLists(
            self.vocabularies[index],
            self.lengths[index],
            self.list_bounds[index],
            list_lengths="fixed",
            distribution="iid",
        )
        instance = task.instance(key=jax.random.key(self.seed))
        theorem = attention_theorem(instance)
        horizon = self.patience * theorem.bound
        problem = Problem(exact_loss(instance), theorem.scale, horizon)
        (perfection,) = first_perfect([problem])
        row = InstanceFlow(task, instance, theorem, problem, perfection).row()
        solver = {"solver": problem.solver, "stiff": problem.stiff}
        return to_dataset([row | solver | {"patience": self.patience}])


def _table(evidence: Evidence) -> pd.DataFrame:
    return pd.DataFrame(_row(cell) for cell in cells(evidence.dataset(STUDY)))


def _row(cell: xr.Dataset) -> dict[str, float | str]:
    time, bound = number(cell, "time"), number(cell, "bound")
    return {
        "(L, n, M)": size_text(cell),
        "t*": time,
        "bound": bound,
        "bound/t*": bound / time,
        "solver": f"{cell.solver.item()}{' (stiff)' if cell.stiff else ''}",
        "within the bound": "yes" if time <= bound else "no",
    }


CLAIMS = (
    Claim(
        "Theorem 1 with repetition",
        "The same bound where tokens are independent and may repeat.",
        judge_instances(STUDY),
        needs=(STUDY,),
        figure="bounds",
        remark=(
            "With repetition a token can be outnumbered, so leads of log(n − 1) are "
            "needed, however large c is. The abstract does not say whether tokens may "
            "repeat."
        ),
    ),
)
TABLES = (
    Table(
        "repetition",
        "Theorem 1 where tokens repeat: time to perfection against the bound.",
        _table,
        (STUDY,),
    ),
)

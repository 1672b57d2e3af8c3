"""One way to ask for a population loss, and the choice of its engine."""

from piste.errors import field_error

from ..tasks.decision_lists import Instance
from ..tasks.sequences import Independent, UniformSets, WeightedSets, counted
from ._base import AbstractPopulation
from .listed import Listed
from .monte_carlo import MonteCarlo
from .partitions import MOST_CASES, Partitions, case_count
from .reduced import Reduced

ENGINES = ("auto", "enumeration", "reduced", "support", "partitions", "monte-carlo")
MOST_ROWS = 1_000_000
"""The most rows (sets times positions) that enumeration accepts."""


def population_loss(
    instance: Instance,
    engine: str = "auto",
    *,
    train_value: bool = False,
    batch: int = 4096,
    kernel: str = "softmax",
) -> AbstractPopulation | MonteCarlo:
    r"""The population loss of an instance.

    ``reduced`` and ``partitions`` use that tokens are exchangeable, which holds for
    $W_0 = 0$ and $V = cP$; with ``train_value`` they are never chosen. ``monte-carlo``
    is the choice where no exact engine is affordable; it draws ``batch`` sequences.
    """
    if engine not in ENGINES:
        raise field_error("engine", engine, f"must be one of {', '.join(ENGINES)}")
    engine = choose_engine(instance, train_value) if engine == "auto" else engine
    if engine == "monte-carlo":
        return MonteCarlo(instance, batch, kernel)
    if kernel != "softmax" and engine in ("reduced", "partitions"):
        raise field_error("engine", engine, "needs kernel softmax; use auto")
    if engine == "reduced":
        _need(isinstance(instance.sequences, UniformSets), engine, "uniform sets")
        return Reduced.of(instance)
    if engine == "partitions":
        _need(_exchangeable_repeats(instance), engine, "independent uniform tokens")
        return Partitions.of(instance)
    if engine == "support":
        finite = isinstance(instance.sequences, WeightedSets)
        _need(finite, engine, "a finite support")
    return _enumerated(instance, engine, kernel)


def exact_loss(instance: Instance, engine: str = "auto") -> AbstractPopulation:
    r"""The exact population loss for $V = cP$, or one line that says what it costs."""
    found = population_loss(instance, engine)
    if isinstance(found, MonteCarlo):
        rows = counted(enumeration_rows(instance))
        cost = f"{rows} rows, at most {MOST_ROWS:.3g}"
        raise field_error("engine", engine, f"no exact one is affordable ({cost})")
    return found


def choose_engine(instance: Instance, train_value: bool = False) -> str:
    """The cheapest exact engine, or Monte Carlo."""
    if isinstance(instance.sequences, UniformSets) and not train_value:
        return "reduced"
    if _exchangeable_repeats(instance) and not train_value:
        cost = case_count(instance.length, instance.list_bound)
        return "partitions" if cost <= MOST_CASES // 4 else "monte-carlo"
    if isinstance(instance.sequences, WeightedSets):
        return "support"
    return "enumeration" if enumeration_rows(instance) <= MOST_ROWS else "monte-carlo"


def enumeration_rows(instance: Instance) -> int:
    r"""What enumeration costs: a row for each position of each set, $n\,C(L,n)$."""
    return instance.length * instance.sequences.count()


def _enumerated(instance: Instance, engine: str, kernel: str) -> Listed:
    cost = enumeration_rows(instance)
    if cost > MOST_ROWS:
        uniform = isinstance(instance.sequences, UniformSets)
        other = "reduced (V = cP) or monte-carlo" if uniform else "monte-carlo"
        rule = f"{counted(cost)} rows, at most {MOST_ROWS:.3g}; use {other}"
        raise field_error("engine", engine, rule)
    return Listed.of(instance, *instance.sequences.rows(), kernel)


def _exchangeable_repeats(instance: Instance) -> bool:
    return isinstance(instance.sequences, Independent) and instance.sequences.uniform


def _need(holds: bool, engine: str, what: str) -> None:
    if not holds:
        raise field_error("engine", engine, f"needs {what}; use auto")

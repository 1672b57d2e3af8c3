"""One way to ask for a population loss, and the choice of its form."""

from piste.errors import field_error

from ..tasks import Instance
from ..tasks.sequences import IndependentTokens, UniformSets, WeightedSets, count_text
from ._base import AbstractPopulation
from .listed import ListedPopulation
from .monte_carlo import MonteCarlo
from .partitions import MAX_CASES, PartitionPopulation, case_count
from .reduced import ReducedPopulation

POPULATION_FORMS = (
    "auto",
    "enumeration",
    "reduced",
    "support",
    "partitions",
    "monte-carlo",
)
"""How a population loss is computed; ``auto`` takes the cheapest exact way."""
MAX_ROWS = 1_000_000
"""Rows (sets times positions) that enumeration accepts, at most."""


def population_loss(
    instance: Instance,
    form: str = "auto",
    *,
    train_value: bool = False,
    batch: int = 4096,
    kernel: str = "softmax",
) -> AbstractPopulation | MonteCarlo:
    r"""The population loss of an instance.

    ``reduced`` and ``partitions`` use that tokens are exchangeable, which holds for
    $W_0 = 0$ and $V = cP$; with ``train_value`` they are never chosen. ``monte-carlo``
    is the choice where no exact form is affordable; it draws ``batch`` sequences.
    """
    if form not in POPULATION_FORMS:
        expected = f"must be one of {', '.join(POPULATION_FORMS)}"
        raise field_error("form", form, expected)
    form = choose_population_form(instance, train_value) if form == "auto" else form
    if form == "monte-carlo":
        return MonteCarlo(instance, batch, kernel)
    if kernel != "softmax" and form in ("reduced", "partitions"):
        raise field_error("form", form, "needs kernel softmax; use auto")
    if form == "reduced":
        _require(isinstance(instance.sequences, UniformSets), form, "uniform sets")
        return ReducedPopulation.of(instance)
    if form == "partitions":
        _require(_has_equal_repeats(instance), form, "independent uniform tokens")
        return PartitionPopulation.of(instance)
    if form == "support":
        finite = isinstance(instance.sequences, WeightedSets)
        _require(finite, form, "a finite support")
    return _enumerated(instance, form, kernel)


def exact_loss(instance: Instance, form: str = "auto") -> AbstractPopulation:
    r"""The exact population loss for $V = cP$, or one line that says what it costs."""
    population = population_loss(instance, form)
    if isinstance(population, MonteCarlo):
        rows = count_text(enumeration_rows(instance))
        cost = f"{rows} rows, at most {MAX_ROWS:.3g}"
        raise field_error("form", form, f"no exact one is affordable ({cost})")
    return population


def listed_loss(instance: Instance) -> ListedPopulation:
    """The loss as a function of all entries of $W$, whatever the distribution."""
    population = population_loss(instance, "enumeration")
    assert isinstance(population, ListedPopulation)
    return population


def choose_population_form(instance: Instance, train_value: bool = False) -> str:
    """The cheapest exact form, or Monte Carlo."""
    if isinstance(instance.sequences, UniformSets) and not train_value:
        return "reduced"
    if _has_equal_repeats(instance) and not train_value:
        cost = case_count(instance.length, instance.list_bound)
        return "partitions" if cost <= MAX_CASES // 4 else "monte-carlo"
    if isinstance(instance.sequences, WeightedSets):
        return "support"
    return "enumeration" if enumeration_rows(instance) <= MAX_ROWS else "monte-carlo"


def enumeration_rows(instance: Instance) -> int:
    r"""What enumeration costs: a row for each position of each set, $n\,C(L,n)$."""
    return instance.length * instance.sequences.count()


def _enumerated(instance: Instance, form: str, kernel: str) -> ListedPopulation:
    cost = enumeration_rows(instance)
    if cost > MAX_ROWS:
        uniform = isinstance(instance.sequences, UniformSets)
        other = "reduced (V = cP) or monte-carlo" if uniform else "monte-carlo"
        rows = f"{count_text(cost)} rows, at most {MAX_ROWS:.3g}"
        raise field_error("form", form, f"{rows}; use {other}")
    return ListedPopulation.of(instance, *instance.sequences.rows(), kernel)


def _has_equal_repeats(instance: Instance) -> bool:
    """Whether tokens are independent and equally likely."""
    return (
        isinstance(instance.sequences, IndependentTokens) and instance.sequences.uniform
    )


def _require(holds: bool, form: str, what: str) -> None:
    if not holds:
        raise field_error("form", form, f"needs {what}; use auto")

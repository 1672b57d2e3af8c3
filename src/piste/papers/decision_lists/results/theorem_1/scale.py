"""Theorem 1 over the scale c of V = cP: how the time falls, and where the bound fails."""

import jax
import numpy as np
import pandas as pd
import xarray as xr

from piste.claims import Claim, Condition, Verdict, compare, decide
from piste.reproduction import Evidence, Table
from piste.values import option, value

from ...forms import PERFECT, Problem, exact_loss, first_perfect
from ...tasks import DecisionLists
from ...theory import attention_theorem
from ...thresholds import (
    AMPLE_FACTOR,
    MAX_EXPONENT_ERROR,
    MIN_FITTED_FACTOR,
    MIN_FITTED_POINTS,
    MIN_FITTED_RATIO,
    SCALE_EXPONENT,
)
from .._cells import first_size_text, numbers, to_dataset
from .._flows import InstanceFlow, is_within_bound

STUDIES = ("scale", "scale-small")


@value
class ScaleSweep:
    r"""One instance of Theorem 1 with $V = fcP$ for factors $f$ of the stated scale."""

    vocabulary: int = option(default=30, minimum=2)
    length: int = option(default=6, minimum=1)
    list_bound: int = option(default=4, minimum=1)
    min_factor: float = option(default=1e-4, greater_than=0)
    max_factor: float = option(default=10.0, greater_than=0)
    factors: int = option(default=21, minimum=2)
    """How many factors, in equal ratios."""
    patience: float = option(default=1000.0, greater_than=0)
    """How long to follow a flow, in units of the bound."""
    seed: int = option(default=3, minimum=0)

    def parts(self) -> int:
        """All factors at once."""
        return 1

    def part(self, index: int) -> xr.Dataset:
        """Follow the flow for every factor."""
        sizes = self.vocabulary, self.length, self.list_bound
        task = DecisionLists(*sizes, list_lengths="fixed")
        instance = task.instance(key=jax.random.key(self.seed))
        theorem, population = attention_theorem(instance), exact_loss(instance)
        factors = np.geomspace(self.min_factor, self.max_factor, self.factors)
        horizon = self.patience * theorem.bound
        problems = [Problem(population, f * theorem.scale, horizon) for f in factors]
        flows = zip(factors, problems, first_perfect(problems), strict=True)
        return to_dataset(
            [
                InstanceFlow(task, instance, theorem, problem, perfection).row()
                | {"factor": factor, "patience": self.patience}
                for factor, problem, perfection in flows
            ]
        )


def _became_perfect(data: xr.Dataset) -> np.ndarray:
    return np.asarray(data.outcome == PERFECT)


def fitted_factors(data: xr.Dataset) -> np.ndarray:
    """Which factors are used for the fit."""
    reached = _became_perfect(data) & (numbers(data, "time") > 0)
    return reached & (numbers(data, "factor") >= MIN_FITTED_FACTOR)


def scale_exponent(data: xr.Dataset) -> float:
    """The power of c in the time to perfection; not a number if there is too little."""
    used = fitted_factors(data)
    factors, times = numbers(data, "factor")[used], numbers(data, "time")[used]
    few = used.sum() < MIN_FITTED_POINTS
    if few or factors.max() < MIN_FITTED_RATIO * factors.min():
        return np.nan
    return float(np.polyfit(np.log(factors), np.log(times), 1)[0])


def failing_factor(data: xr.Dataset) -> float:
    """The largest factor of c at which the bound does not hold; 0 if there is none."""
    late = ~is_within_bound(data)
    return float(numbers(data, "factor")[late].max(initial=0.0))


def _judge(evidence: Evidence) -> list[Verdict]:
    verdicts = []
    for study in STUDIES:
        data = evidence.dataset(study)
        verdicts += [_judge_exponent(data), _judge_room(data)]
    return verdicts


def _judge_exponent(data: xr.Dataset) -> Verdict:
    exponent, used = scale_exponent(data), int(fitted_factors(data).sum())
    power = f"{SCALE_EXPONENT}".replace("-", "−")
    return compare(
        f"{first_size_text(data)}, power of c",
        abs(exponent - SCALE_EXPONENT),
        maximum=MAX_EXPONENT_ERROR,
        predicted=f"t* ∝ c^({power}): exponent within {MAX_EXPONENT_ERROR:g} of {power}",
        numbers={"exponent": exponent, "factors": used},
    )


def _judge_room(data: xr.Dataset) -> Verdict:
    """Whether the bound holds with much less than the stated c."""
    factors, fails = numbers(data, "factor"), failing_factor(data)
    tried = bool(factors.size) and factors.min() <= AMPLE_FACTOR <= factors.max()
    reached = _became_perfect(data) & np.isfinite(numbers(data, "time"))
    followed = reached | (numbers(data, "ended") >= numbers(data, "bound"))
    measured = f"the bound first fails at c × {fails:.3g}"
    if not fails and factors.size:
        measured = f"holds from c × {factors.min():.3g} on"
    return decide(
        f"{first_size_text(data)}, room below c",
        fails < AMPLE_FACTOR,
        predicted=f"the bound holds from c × {AMPLE_FACTOR:g} on",
        measured=measured,
        needs=(
            Condition(f"factors on both sides of {AMPLE_FACTOR:g}", bool(tried)),
            Condition("flows up to the bound", bool(followed.all())),
        ),
        numbers={"bound fails at c times": fails},
    )


def _table(evidence: Evidence) -> pd.DataFrame:
    sweeps = (evidence.dataset(study) for study in STUDIES)
    return pd.DataFrame(
        {
            "(L, n, M)": first_size_text(data),
            "exponent of c": scale_exponent(data),
            "largest factor at which the bound fails": failing_factor(data),
        }
        for data in sweeps
    )


CLAIMS = (
    Claim(
        "The time falls like 1/c²",
        "A larger scale c of V = cP makes the flow faster; the stated c is far above "
        "what the bound needs.",
        _judge,
        needs=STUDIES,
        figure="scale",
        remark=f"Fitted over factors of at least {MIN_FITTED_FACTOR:g} of the stated c.",
    ),
)
TABLES = (Table("scale", "Theorem 1 over the scale c of V = cP.", _table, STUDIES),)

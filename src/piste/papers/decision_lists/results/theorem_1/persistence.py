"""Whether perfection is kept: flows of Theorem 1 followed far beyond t*."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd
import xarray as xr
from scipy.stats import binomtest

from piste.claims import (
    CONFIDENCE,
    CONFIDENCE_PERCENT,
    Claim,
    Condition,
    Verdict,
    decide,
    undecided,
)
from piste.reproduction import Evidence, Table
from piste.values import option, value

from ...forms import PERFECT, margins_at
from ...thresholds import FIRST_MULTIPLE
from .._cells import (
    DISTRIBUTION_NAMES,
    by_distribution,
    cells,
    numbers,
    size_range_text,
    size_text,
    to_dataset,
)
from .._flows import follow_flows
from ..instances import RandomInstances

STUDY, LARGE = "persistence", "persistence-large"
CHOSEN = "persistence-found"
"""The study of an instance that was chosen because it loses perfection."""
RECORDS_PER_POINT = 10
"""Every tenth record is kept, to be drawn."""


@value
class Persistence:
    """Random instances whose margins are recorded from t* on, closely."""

    draws: RandomInstances = RandomInstances()
    batch: int = option(default=50, minimum=1)
    """Instances in a part."""
    horizon: float = option(default=100.0, greater_than=FIRST_MULTIPLE)
    """How long to follow the flow, in units of t*."""
    records: int = option(default=2000, minimum=2)
    """Margins that are looked at, in equal ratios of time."""

    def parts(self) -> int:
        """One for every batch."""
        return self.draws.batches(self.batch)

    def multiples(self) -> np.ndarray:
        """The multiples of t* at which the margin is looked at."""
        return np.geomspace(FIRST_MULTIPLE, self.horizon, self.records)

    def part(self, index: int) -> xr.Dataset:
        """Draw the instances of a batch and follow their flows."""
        flows = follow_flows(self.draws.batch(index, self.batch))
        problems, multiples = [flow.problem for flow in flows], self.multiples()
        times = np.outer([flow.perfection.time for flow in flows], multiples)
        margins = margins_at(problems, times)
        rows = [
            flow.row() | self.summary(path)
            for flow, path in zip(flows, margins, strict=True)
        ]
        units = np.array([problem.units.params for problem in problems])
        path = margins[:, ::RECORDS_PER_POINT] / units[:, None]
        data = to_dataset(rows).assign(path=(("cell", "multiple"), path))
        return data.assign_coords(multiple=multiples[::RECORDS_PER_POINT])

    def summary(self, margins: np.ndarray) -> dict[str, float]:
        """When the margin was not positive again, and how it was at the end."""
        lost, multiples = np.flatnonzero(margins <= 0), self.multiples()
        ends = multiples[lost[[0, -1]]] if lost.size else (np.nan, np.nan)
        return {
            "lost_from": ends[0],
            "lost_to": ends[1],
            "unknown_records": int(np.isnan(margins).sum()),
            "last_margin": margins[-1],
            "horizon": self.horizon,
            "resolution": multiples[1] / multiples[0] - 1,
        }


def has_lost(data: xr.Dataset) -> np.ndarray:
    """Which instances were seen to lose perfection."""
    return np.isfinite(numbers(data, "lost_from"))


def is_unknown(data: xr.Dataset) -> np.ndarray:
    """Which of the other instances were not followed all the way."""
    perfect = np.asarray(data.outcome == PERFECT)
    complete = (numbers(data, "unknown_records") == 0) & perfect
    return ~has_lost(data) & ~(complete & np.isfinite(numbers(data, "last_margin")))


@dataclass(frozen=True)
class FamilyLosses:
    """How many flows of one distribution lose perfection again."""

    name: str
    """The distribution in words."""
    sizes: str
    instances: int
    unknown: int
    """Instances of which it is not known."""
    lost: int
    low: float
    """The ends of the interval for the share that loses it."""
    high: float
    perfect_at_end: int
    horizon: float
    resolution: float
    longest_loss: str
    """The instance that loses it for longest, with the times; empty if none does."""

    @property
    def followed(self) -> int:
        """Instances of which it is known whether they lose perfection."""
        return self.instances - self.unknown


def measure_family(distribution: str, data: xr.Dataset) -> FamilyLosses:
    """Count the losses of one distribution."""
    lost, unknown = int(has_lost(data).sum()), int(is_unknown(data).sum())
    low, high = _interval(lost, data.sizes["cell"] - unknown)
    return FamilyLosses(
        name=DISTRIBUTION_NAMES[distribution],
        sizes=size_range_text(data),
        instances=data.sizes["cell"],
        unknown=unknown,
        lost=lost,
        low=low,
        high=high,
        perfect_at_end=int((numbers(data, "last_margin") > 0).sum()),
        horizon=float(numbers(data, "horizon").max()),
        resolution=float(numbers(data, "resolution").max()),
        longest_loss=_longest_loss(data) if lost else "",
    )


def _interval(lost: int, followed: int) -> tuple[float, float]:
    """The interval of confidence for the share of instances that lose perfection."""
    if not followed:
        return 0.0, 1.0
    interval = binomtest(lost, followed).proportion_ci(CONFIDENCE)
    return float(interval.low), float(interval.high)


def _longest_loss(data: xr.Dataset) -> str:
    spans = numbers(data, "lost_to") / numbers(data, "lost_from")
    cell = cells(data)[int(np.nanargmax(spans))]
    span = f"{float(cell.lost_from):.3g} to {float(cell.lost_to):.3g} t*"
    return f"{size_text(cell)} from {span}"


def families(evidence: Evidence, *studies: str) -> Iterator[FamilyLosses]:
    """The losses of every distribution of every study that is there."""
    for study in (study for study in studies if study in evidence):
        for item in by_distribution(evidence.dataset(study)).items():
            yield measure_family(*item)


def _judge(evidence: Evidence) -> list[Verdict]:
    verdicts = [_judge_family(each, False) for each in families(evidence, STUDY, LARGE)]
    verdicts += [_judge_family(each, True) for each in families(evidence, CHOSEN)]
    return verdicts or [undecided("all", "perfection is kept", "no flow was followed")]


def _judge_family(family: FamilyLosses, chosen: bool) -> Verdict:
    interval = f"({CONFIDENCE_PERCENT}: {family.low:.2%} to {family.high:.2%})"
    measured = f"{family.lost} of {family.instances} lose it {interval}"
    if chosen:
        measured = f"lost in {family.lost} of {family.instances}, chosen because of it"
    if family.lost:
        measured += f"; {family.longest_loss}"
    if family.unknown:
        measured += f"; {family.unknown} not followed to the end"
    # One that was chosen because it loses perfection shows nothing where it does not.
    needs = (
        Condition("all followed", not family.unknown),
        Condition("instances that were not chosen", not chosen),
    )
    return decide(
        f"{family.name}, {family.sizes}",
        not family.lost,
        predicted=f"perfect from t* to {family.horizon:g} t*, "
        f"at records {family.resolution:.2%} of t apart",
        measured=measured,
        needs=() if family.lost else needs,
        numbers={
            "instances": family.instances,
            "lose it": family.lost,
            "share at least": family.low,
            "share at most": family.high,
            "perfect at the end": family.perfect_at_end,
        },
    )


def _table(evidence: Evidence) -> pd.DataFrame:
    """A row per family, without the instance that was chosen for its loss."""
    return pd.DataFrame(
        {
            "sequences": family.name,
            "sizes": family.sizes,
            "followed": family.followed,
            "lose it": family.lost,
            "share": family.lost / family.followed if family.followed else np.nan,
            "from": family.low,
            "to": family.high,
            "perfect at the end": family.perfect_at_end,
            "followed to t/t*": family.horizon,
            "records apart": family.resolution,
        }
        for family in families(evidence, STUDY, LARGE)
    )


CLAIMS = (
    Claim(
        "Perfection is kept",
        "Once the flow classifies perfectly it does so from then on. The theorem does "
        "not say this.",
        _judge,
        needs=(STUDY,),
        figure="persistence",
        remark=(
            "Judged family by family. A loss shorter than the distance of two records "
            "could be missed."
        ),
    ),
)
TABLES = (
    Table(
        "persistence",
        "How many flows lose perfection again, by family, with a "
        f"{CONFIDENCE_PERCENT} interval.",
        _table,
        (STUDY,),
    ),
)

"""Theorem 1 where few sets have positive probability: what is right on all others."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr
from jaxtyping import Float, Int

from piste.claims import Claim, Condition, Verdict, decide
from piste.reproduction import Evidence, Table
from piste.values import option, value

from ...forms import Problem, listed_loss, scores_at
from ...models import at_permutation
from ...tasks import Instance
from ...theory import ordering_margin, tied_for_ever
from ...thresholds import FIRST_MULTIPLE, MAX_TIE
from .._cells import (
    DISTRIBUTION_NAMES,
    by_distribution,
    numbers,
    size_range_text,
    to_dataset,
)
from .._flows import InstanceFlow, follow_flows
from .._other_sequences import other_sets, sequences_with_repetition, shares_right
from ..instances import RandomInstances

STUDY = "unseen"
MEASURES = ("margin_on_all_sets", "tokens_right", "sets_right", "repeated_right")
"""What is measured at every multiple of t*: the smallest lead over all sets, and the
shares of other sets' tokens, of other sets, and of sequences with repetition."""


@value
class UnseenSequences:
    """The flow on few sets at three multiples of t*, on all other sequences."""

    draws: RandomInstances = RandomInstances(
        "few", count=60, max_vocabulary=14, max_length=4
    )
    batch: int = option(default=30, minimum=1)
    """Instances in a part."""
    horizon: float = option(default=100.0, greater_than=1)
    """The last of three multiples of t*; the first is just above 1."""
    samples: int = option(default=1000, minimum=1)
    """Random sequences, where not all are listed."""

    def parts(self) -> int:
        """One for every batch."""
        return self.draws.batches(self.batch)

    def multiples(self) -> np.ndarray:
        """The multiples of t* at which the flow is looked at."""
        return np.geomspace(FIRST_MULTIPLE, self.horizon, 3)

    def part(self, index: int) -> xr.Dataset:
        """Follow the flows, and measure them three times."""
        flows = follow_flows(self.draws.batch(index, self.batch), listed_loss)
        times = np.outer([flow.perfection.time for flow in flows], self.multiples())
        paths = scores_at([flow.problem for flow in flows], times)
        rows, measured = zip(
            *(self._measure(*pair) for pair in zip(flows, paths, strict=True)),
            strict=True,
        )
        measures = np.array(measured)
        return (
            to_dataset(rows)
            .assign_coords(multiple=self.multiples())
            .assign(
                {
                    name: (("cell", "multiple"), measures[..., column])
                    for column, name in enumerate(MEASURES)
                }
            )
        )

    def _measure(
        self, flow: InstanceFlow, path: Float[np.ndarray, "multiple key query"]
    ) -> tuple[dict[str, Any], list[tuple[float, ...]]]:
        """How many other sets there are, and what is right at every multiple."""
        instance = flow.instance
        rng = np.random.default_rng([self.draws.seed, instance.vocabulary])
        others = other_sets(instance, self.samples, rng)
        repeated = sequences_with_repetition(instance, self.samples, rng)
        row = flow.row() | {
            "possible_sets": instance.sequences.count(),
            "other_sets": len(others),
            "tied": tied_for_ever(instance),
        }
        return row, [
            _measure_scores(instance, flow.problem, scores, others, repeated)
            for scores in path
        ]


def _measure_scores(
    instance: Instance,
    problem: Problem,
    scores: Float[np.ndarray, "key query"],
    others: Int[np.ndarray, "sequence position"],
    repeated: Int[np.ndarray, "repeated position"],
) -> tuple[float, ...]:
    """The numbers of ``MEASURES`` for one matrix $W$."""
    if not np.isfinite(scores).all():
        return (np.nan,) * len(MEASURES)
    value = at_permutation(instance.permutation, problem.scale).value
    tokens, sets = shares_right(instance, scores, value, others)
    margin = ordering_margin(scores, instance) / float(problem.units.params)
    return margin, tokens, sets, shares_right(instance, scores, value, repeated)[1]


@dataclass(frozen=True)
class UnseenShares:
    """What is right on sequences of probability 0, over the instances that have some."""

    name: str
    """The distribution in words."""
    sizes: str
    instances: int
    known: bool
    """Whether there are numbers for every instance."""
    right_first: int
    """Instances of which all sets are right at the first multiple of t*."""
    right_last: int
    tied: int
    """Instances with a tie that no training resolves."""
    tokens_right: float
    """Medians over the instances, at the first multiple of t*."""
    sets_right: float
    fewest_sets_right: float
    repeated_right: float


def measure_unseen(distribution: str, data: xr.Dataset) -> UnseenShares:
    """Sum up the instances of one distribution."""
    data = data.isel(cell=np.flatnonzero(numbers(data, "other_sets") > 0))
    margins = np.asarray(data.margin_on_all_sets, float)
    count, right = data.sizes["cell"], margins > MAX_TIE
    tokens, sets, repeated = (
        np.asarray(data[name], float)[:, 0] for name in MEASURES[1:]
    )
    return UnseenShares(
        name=DISTRIBUTION_NAMES[distribution],
        sizes=size_range_text(data) if count else "",
        instances=count,
        known=bool(count) and bool(np.isfinite(margins).all()),
        right_first=int(right[:, 0].sum()),
        right_last=int(right[:, -1].sum()),
        tied=int((numbers(data, "tied") == 1).sum()),
        tokens_right=_median(tokens),
        sets_right=_median(sets),
        fewest_sets_right=float(sets.min()) if count else np.nan,
        repeated_right=_median(repeated),
    )


def _median(values: np.ndarray) -> float:
    return float(np.median(values)) if values.size else np.nan


def _measured(evidence: Evidence) -> list[UnseenShares]:
    parts = by_distribution(evidence.dataset(STUDY))
    return [measure_unseen(*item) for item in parts.items()]


def _first_and_last(evidence: Evidence) -> tuple[float, float]:
    """The first and the last multiple of t*."""
    multiples = np.asarray(evidence.dataset(STUDY).multiple, float)
    return float(multiples[0]), float(multiples[-1])


def _judge(evidence: Evidence) -> list[Verdict]:
    ends = _first_and_last(evidence)
    return [_judge_shares(shares, *ends) for shares in _measured(evidence)]


def _judge_shares(shares: UnseenShares, first: float, last: float) -> Verdict:
    count = shares.instances
    all_right = shares.known and shares.right_last == count
    spread = f"median {shares.sets_right:.3f}, smallest {shares.fewest_sets_right:.3f}"
    measured = (
        f"{shares.right_last} of {count} instances; {shares.tied} never can (a tie); "
        f"share of the other sets right: {spread} at {first:.3g} t*"
    )
    # A tie is a proof; what is merely not right yet could be so later.
    decided = Condition(
        f"all right by {last:g} t*, or a tie for ever", all_right or shares.tied > 0
    )
    return decide(
        f"{shares.name}, {shares.sizes}" if count else shares.name,
        all_right and not shares.tied,
        predicted=f"all sets of distinct tokens right by {last:g} t*",
        measured=measured if shares.known else "no numbers for all sets",
        needs=(Condition("numbers for all instances", shares.known), decided),
        numbers={
            "instances": count,
            f"right at {first:.3g} t*": shares.right_first,
            f"right at {last:.3g} t*": shares.right_last,
            "tied for ever": shares.tied,
            "median share of tokens": shares.tokens_right,
            "median share of sets": shares.sets_right,
            "median share of sequences with repetition": shares.repeated_right,
        },
    )


def _table(evidence: Evidence) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "sequences": shares.name,
            "instances": shares.instances,
            "all right, first": shares.right_first,
            "all right, last": shares.right_last,
            "tied for ever": shares.tied,
            "tokens right": shares.tokens_right,
            "sets right": shares.sets_right,
            "fewest sets right": shares.fewest_sets_right,
            "with repetition right": shares.repeated_right,
        }
        for shares in _measured(evidence)
    )


def _caption(evidence: Evidence, rows: pd.DataFrame) -> str:
    first, last = _first_and_last(evidence)
    return (
        "Theorem 1 where few sets have positive probability: instances for which all "
        f"sets of distinct tokens are right, at {first:.3g} and {last:.3g} t*; "
        "instances with a tie that no training resolves; and median shares of what has "
        f"probability 0 that is right at {first:.3g} t*. Instances with no other set "
        "are left out."
    )


CLAIMS = (
    Claim(
        "Theorem 1 on all sequences",
        "Where the distribution has few sets, the flow also classifies all other sets of "
        "distinct tokens.",
        _judge,
        needs=(STUDY,),
        figure="",
        remark=(
            "The abstract says perfect classification; on sets of probability 0 it is "
            "judged here, exactly, by the order of the scores. Scores of tokens that "
            "never meet stay 0, so some sets stay ties. Sequences with repetition "
            "need leads of log(n − 1); their share is in the table."
        ),
    ),
)
TABLES = (Table("unseen", _caption, _table, (STUDY,)),)

"""Beyond the paper: the stages in other models and under other noise."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from piste.claims import Boundary, Claim, Condition, Status, Verdict, decide
from piste.reproduction import Evidence

from .judging import UNTOLD
from .optimiser_claims import BOUNDARIES, cell_timelines
from .studies import VARIANTS


@dataclass(frozen=True)
class Variant:
    """What became of each boundary in the seeds of one variant."""

    title: str
    boundaries: dict[str, list[Boundary]]
    """By boundary, one for each seed."""
    test_error: float

    def count(self, name: str, *statuses: Status) -> int:
        """In how many seeds a boundary has one of these statuses."""
        return sum(b.status in statuses for b in self.boundaries[name])

    def step(self, name: str) -> float:
        """The median step over the seeds that meet a boundary's own condition."""
        met = [b.met for b in self.boundaries[name] if b.met is not None]
        return float(np.median(met)) if met else np.nan

    def words(self, name: str) -> str:
        """What became of a boundary: where it was met, or what happened instead."""
        seeds = self.boundaries[name]
        if self.count(name, Status.FOUND) == len(seeds):
            return f"{self.step(name):g}"
        kinds = dict.fromkeys(str(b.status) for b in seeds)
        return " / ".join(kinds)


def variants(evidence: Evidence) -> list[Variant]:
    """All variants, the paper's model first."""
    found = []
    for name, title in VARIANTS.items():
        sweep = evidence.dataset(name)
        timelines = cell_timelines(sweep)
        error = sweep.test_error.isel(test_step=-1)
        kept = {b: [t.boundaries[b] for t in timelines] for b in BOUNDARIES}
        found.append(Variant(title, kept, float(error.mean())))
    return found


def persistence_table(evidence: Evidence) -> pd.DataFrame:
    """For each variant and boundary: the median step, or what happened instead."""
    return pd.DataFrame(
        {"variant": variant.title}
        | {name: variant.words(name) for name in BOUNDARIES}
        | {"test error": variant.test_error}
        for variant in evidence.once(variants)
    )


def _persist(evidence: Evidence) -> list[Verdict]:
    """One verdict for each variant: all boundaries found, in order, in all seeds."""
    return [_verdict(variant) for variant in evidence.once(variants)[1:]]


def _verdict(variant: Variant) -> Verdict:
    lost = [
        f"{name} ({variant.words(name)})"
        for name in BOUNDARIES
        if variant.count(name, Status.FOUND) < len(variant.boundaries[name])
    ]
    times = ", ".join(f"{variant.step(name):g}" for name in BOUNDARIES)
    every = {b.status for seeds in variant.boundaries.values() for b in seeds}
    told = every - {Status.FOUND, Status.NEEDS_EARLIER} - set(UNTOLD)
    return decide(
        variant.title,
        not lost,
        predicted="every boundary of the stages is found, in order, in every seed",
        measured=f"not in every seed: {'; '.join(lost)}" if lost else f"at t = {times}",
        numbers={"test error": variant.test_error},
        needs=[Condition("runs that tell", not lost or bool(told))],
    )


CLAIMS = (
    Claim(
        "the stages persist beyond the paper",
        "The four stages are seen with more heads, more layers, residuals, LayerNorm and "
        "structured noise (asked by its reviewers; the paper does not claim it).",
        _persist,
        needs=tuple(VARIANTS),
        figure="persistence",
        remark=(
            "In stacks the inner products are those of the read-out's weights with the "
            "tokens that it reads, after the hidden layers."
        ),
    ),
)

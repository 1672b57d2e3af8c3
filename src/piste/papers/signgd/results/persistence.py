"""Beyond the paper: the stages in other models and under other noise."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import pandas as pd

from piste.claims import Boundary, Claim, Condition, Status, Verdict, decide
from piste.reproduction import Evidence, Table

from ..stages import STAGE_ENDS
from ..study_names import VARIANTS
from ._conditions import UNDECIDED
from ._series import cell_timelines


@dataclass(frozen=True)
class VariantSummary:
    """What became of each boundary in the seeds of one variant."""

    title: str
    boundaries: dict[str, list[Boundary]]
    """By the name of the boundary, one for each seed."""
    test_error: float

    def is_found(self, name: str) -> bool:
        """Whether a boundary was found in every seed."""
        return all(b.status == Status.FOUND for b in self.boundaries[name])

    def median_step(self, name: str) -> float:
        """The median step over the seeds that meet a boundary's own condition."""
        met = [b.met for b in self.boundaries[name] if b.met is not None]
        return float(np.median(met)) if met else np.nan

    def describe(self, name: str) -> str:
        """Where a boundary was met, or what happened to it instead."""
        if self.is_found(name):
            return f"{self.median_step(name):g}"
        statuses = dict.fromkeys(str(b.status) for b in self.boundaries[name])
        return " / ".join(statuses)


def summarise_variants(evidence: Evidence) -> list[VariantSummary]:
    """Summarise all variants, the paper's model first."""
    return [
        summarise_variant(evidence, name, title) for name, title in VARIANTS.items()
    ]


def summarise_variant(evidence: Evidence, study: str, title: str) -> VariantSummary:
    """Summarise the seeds of one study."""
    sweep = evidence.dataset(study)
    timelines = cell_timelines(sweep)
    boundaries = {
        name: [timeline.boundaries[name] for timeline in timelines]
        for name in STAGE_ENDS
    }
    error = float(sweep.test_error.isel(test_step=-1).mean())
    return VariantSummary(title, boundaries, error)


def _judge_variants(evidence: Evidence) -> list[Verdict]:
    return [judge_variant(v) for v in evidence.once(summarise_variants)[1:]]


def judge_variant(variant: VariantSummary) -> Verdict:
    """Judge one variant: all boundaries are found, in order, in all seeds."""
    lost = [
        f"{name} ({variant.describe(name)})"
        for name in STAGE_ENDS
        if not variant.is_found(name)
    ]
    times = ", ".join(f"{variant.median_step(name):g}" for name in STAGE_ENDS)
    statuses = {b.status for seeds in variant.boundaries.values() for b in seeds}
    telling = statuses - {Status.FOUND, Status.NEEDS_EARLIER, *UNDECIDED}
    return decide(
        variant.title,
        not lost,
        predicted="every boundary of the stages is found, in order, in every seed",
        measured=f"not in every seed: {'; '.join(lost)}" if lost else f"at t = {times}",
        numbers={"test error": variant.test_error},
        needs=[Condition("runs that tell", not lost or bool(telling))],
    )


CLAIMS = (
    Claim(
        "the stages persist beyond the paper",
        "The four stages are seen with more heads, more layers, residuals, LayerNorm and "
        "structured noise (asked by its reviewers; the paper does not claim it).",
        _judge_variants,
        needs=tuple(VARIANTS),
        figure="persistence",
        remark=(
            "In stacks the inner products are those of the read-out's weights with the "
            "tokens that it reads, after the hidden layers."
        ),
    ),
)


def persistence_table(evidence: Evidence) -> pd.DataFrame:
    """Tabulate for each variant and boundary the median step, or what happened."""
    return tabulate_boundaries("variant", evidence.once(summarise_variants))


def tabulate_boundaries(
    heading: str, summaries: Iterable[VariantSummary]
) -> pd.DataFrame:
    """One row per summary: the median step of each boundary, or what happened."""
    return pd.DataFrame(
        {heading: summary.title}
        | {name: summary.describe(name) for name in STAGE_ENDS}
        | {"test error": summary.test_error}
        for summary in summaries
    )


TABLES = (
    Table(
        "persistence",
        "Median step of each boundary, or what happened to it in the seeds.",
        persistence_table,
        tuple(VARIANTS),
    ),
)

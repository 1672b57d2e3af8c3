"""Stages, claims and verdicts: what a trajectory shows."""

from .contingency import kept, misaligned, sign_contingency
from .four_stages import attention_at_vanishing, detect, stage_series
from .groups import Group, by_experiment
from .judging import compare, compare_range, decide, differences, undecided
from .stages import stages
from .statistics import (
    SIGNIFICANCE_LEVEL,
    SignTest,
    compare_pairs,
    fewest_pairs,
    sign_test,
)
from .timeline import (
    Boundary,
    Stage,
    Timeline,
    crossing,
    lasting,
    spread,
    summary,
    turning,
)
from .verdict import (
    Claim,
    Condition,
    Judgement,
    Judgements,
    Outcome,
    Verdict,
    judge,
    margin_text,
)

__all__ = [
    "Boundary",
    "Claim",
    "Condition",
    "Group",
    "Judgement",
    "Judgements",
    "Outcome",
    "SIGNIFICANCE_LEVEL",
    "SignTest",
    "Stage",
    "Timeline",
    "Verdict",
    "attention_at_vanishing",
    "by_experiment",
    "compare",
    "compare_pairs",
    "compare_range",
    "crossing",
    "decide",
    "detect",
    "differences",
    "fewest_pairs",
    "judge",
    "kept",
    "lasting",
    "margin_text",
    "misaligned",
    "sign_contingency",
    "sign_test",
    "spread",
    "stage_series",
    "stages",
    "summary",
    "turning",
    "undecided",
]

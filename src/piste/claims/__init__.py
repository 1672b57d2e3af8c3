"""Stages, claims and verdicts: what a trajectory shows."""

from .contingency import kept, misaligned, sign_contingency
from .four_stages import attention_at_vanishing, detect, stage_series
from .judging import compare, compare_range, decide, differences, undecided
from .stages import stages
from .statistics import SIGNIFICANCE_LEVEL, SignTest, compare_pairs, sign_test
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
    "Judgement",
    "Judgements",
    "Outcome",
    "SIGNIFICANCE_LEVEL",
    "SignTest",
    "Stage",
    "Timeline",
    "Verdict",
    "attention_at_vanishing",
    "compare",
    "compare_pairs",
    "compare_range",
    "crossing",
    "decide",
    "detect",
    "differences",
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

"""Stages, claims and verdicts: what a trajectory shows."""

from .contingency import kept, misaligned, sign_contingency
from .four_stages import attention_at_vanishing, detect, stage_series
from .stages import stages
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
from .verdict import Claim, Condition, Judgement, Outcome, Verdict, compare, judge

__all__ = [
    "Boundary",
    "Claim",
    "Condition",
    "Judgement",
    "Outcome",
    "Stage",
    "Timeline",
    "Verdict",
    "attention_at_vanishing",
    "compare",
    "crossing",
    "detect",
    "judge",
    "kept",
    "lasting",
    "misaligned",
    "sign_contingency",
    "spread",
    "stage_series",
    "stages",
    "summary",
    "turning",
]

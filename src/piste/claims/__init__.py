"""Stages, claims and verdicts: what a trajectory shows."""

from . import plateau as plateau  # registers its stages
from .detectors import DETECTORS, StageDetector, stage_detector, stages
from .groups import Group, by_experiment, labelled, one_experiment
from .judging import compare, compare_range, decide, differences, undecided
from .run_claims import RUN_CLAIMS, claim, judge_run
from .stage_rules import Crossing, Span, Turning, find_boundaries, lasting, timeline_of
from .statistics import (
    CONFIDENCE,
    CONFIDENCE_PERCENT,
    SIGNIFICANCE_LEVEL,
    SignTest,
    compare_pairs,
    fewest_pairs,
    mean_interval,
    sign_test,
)
from .timeline import Boundary, Stage, Status, Timeline, spread, summary
from .verdict import (
    Claim,
    Condition,
    Judgement,
    Judgements,
    Outcome,
    Verdict,
    inequality,
    judge,
    margin_text,
)

__all__ = [
    "DETECTORS",
    "RUN_CLAIMS",
    "StageDetector",
    "claim",
    "judge_run",
    "stage_detector",
    "Boundary",
    "Claim",
    "Condition",
    "Crossing",
    "Group",
    "Judgement",
    "Judgements",
    "Outcome",
    "CONFIDENCE",
    "CONFIDENCE_PERCENT",
    "SIGNIFICANCE_LEVEL",
    "SignTest",
    "Span",
    "Stage",
    "Status",
    "Timeline",
    "Turning",
    "Verdict",
    "by_experiment",
    "compare",
    "compare_pairs",
    "compare_range",
    "decide",
    "differences",
    "fewest_pairs",
    "find_boundaries",
    "inequality",
    "judge",
    "labelled",
    "lasting",
    "margin_text",
    "mean_interval",
    "one_experiment",
    "sign_test",
    "spread",
    "stages",
    "summary",
    "timeline_of",
    "undecided",
]

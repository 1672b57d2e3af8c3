"""Four stages, in order: all boundaries of every seed, beside the times of the slides."""

import numpy as np
import pandas as pd
import xarray as xr

from piste.claims import Claim, Timeline, Verdict, decide, spread, summary
from piste.reproduction import Evidence, Table

from ..slides import BOUNDARY_STEPS
from ..stages import (
    BOUNDARY_RULES,
    EVEN_ATTENTION,
    STAGE_ENDS,
    attention_at_vanishing,
    detect,
)
from ._conditions import conditions_if_missing
from ._per_seed import each_seed, of_seed


def _judge_order(run: xr.Dataset, timeline: Timeline) -> Verdict:
    """All nine boundaries are found, and the six ends come one after the other."""
    missing = [
        timeline.boundaries[name] for name in BOUNDARY_RULES if not timeline.found(name)
    ]
    steps = [timeline.step(name) for name in STAGE_ENDS]
    in_order = not missing and bool((np.diff([0, *steps]) > 0).all())
    reasons = "; ".join(f"{b.name}: {b.status}" for b in missing)
    times = ", ".join(timeline.boundaries[name].when() for name in STAGE_ENDS)
    return decide(
        **of_seed(run),
        holds=in_order,
        predicted="all nine boundaries, and I < II < III < s₂₁ = o(1) < key aligned < "
        "query aligned",
        measured=f"{times} ({reasons})" if missing else times,
        **conditions_if_missing(run, missing),
    )


CLAIMS = (
    Claim(
        "four stages, in order",
        "Training passes through four stages: I, II, III, then softmax decay and the "
        "alignment of key and query noise.",
        each_seed(_judge_order),
        needs=("stages",),
        figure="overview",
    ),
)


def stage_table(evidence: Evidence) -> pd.DataFrame:
    """Tabulate each boundary: the time of the slides, our median, sd and range."""
    runs, timelines = evidence.runs("stages"), evidence.timelines("stages", detect)
    boundaries = summary(timelines)
    slides = [BOUNDARY_STEPS.get(name, np.nan) for name in boundaries.index]
    boundaries.insert(1, "slides", slides)
    s11 = [attention_at_vanishing(r, t) for r, t in zip(runs, timelines, strict=True)]
    attention = {
        "boundary": "s₁₁ then",
        "meaning": "attention s₁₁ when s₂₁ is o(1)",
        "slides": EVEN_ATTENTION,
    } | spread(s11)
    return pd.DataFrame([*boundaries.reset_index().to_dict("records"), attention])


def _caption(evidence: Evidence, rows: pd.DataFrame) -> str:
    seeds = evidence.count("stages")
    return f"Boundaries of the stages over {seeds} seeds, and the slides' times."


TABLES = (Table("stages", _caption, stage_table, ("stages",)),)

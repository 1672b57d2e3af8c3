"""Stage IV: when key and query noise turn to the vote, and are aligned with it."""

import numpy as np
import pandas as pd
import xarray as xr

from piste.claims import Claim, Condition, Timeline, Verdict, decide, spread
from piste.reproduction import Evidence, Table

from ..stages import detect
from ._conditions import are_found
from ._per_seed import each_seed, of_seed

SUCCESSIONS = (
    ("IVa is o(1)", "IVb starts", "key noise turns when s₂₁ = o(1)"),
    ("IVb ends", "IVc starts", "query noise turns when the key has completed"),
)
"""What is complete, what begins then, and the slides' words for it."""
ARITHMETICS = {
    "stages": "exact sign, float64",
    "autodiff-64": "autodiff, float64",
    "autodiff-32": "autodiff, float32",
}
"""The studies that train the same runs, and the arithmetic of each."""


# --- claims ---------------------------------------------------------------------------


def judge_successions(run: xr.Dataset, timeline: Timeline) -> list[Verdict]:
    """Judge the slides' text: one alignment begins when what is before is complete."""
    return [
        decide(
            **of_seed(run, statement),
            holds=bool(timeline.step(after) >= timeline.step(before)),
            predicted=f"{statement}: not before",
            measured=f"turns at t = {timeline.boundaries[after].when()}, the other is "
            f"done at t = {timeline.boundaries[before].when()}",
            needs=[
                are_found(timeline, before, after),
                _is_order_known(timeline, before, after),
            ],
            numbers={"turns": timeline.step(after), "done": timeline.step(before)},
        )
        for before, after, statement in SUCCESSIONS
    ]


def _is_order_known(timeline: Timeline, before: str, after: str) -> Condition:
    """The records are fine enough to tell which of two boundaries came first."""
    done, turns = timeline.boundaries[before].span, timeline.boundaries[after].span
    met = not (done and turns) or turns[0] >= done[1] or turns[1] < done[0]
    return Condition("records fine enough to tell", met)


CLAIMS = (
    Claim(
        "IV: one alignment begins when the other is complete",
        "When softmax outputs are small enough the key noise begins to align; when it "
        "has completed, the query noise begins.",
        each_seed(judge_successions),
        needs=("stages",),
        figure="stage_times",
        remark="The slides' words. Begins: the lowest point of the mean noise of the "
        "losing side.",
    ),
)


# --- the table ------------------------------------------------------------------------


def arithmetic_table(evidence: Evidence) -> pd.DataFrame:
    """Tabulate when the query alignment ends, by the arithmetic of the training."""
    return pd.DataFrame(
        _arithmetic_row(evidence, study, arithmetic)
        for study, arithmetic in ARITHMETICS.items()
        if study in evidence
    )


def _arithmetic_row(evidence: Evidence, study: str, arithmetic: str) -> dict:
    runs, timelines = evidence.runs(study), evidence.timelines(study, detect)
    steps = spread(timeline.step("IVc ends") for timeline in timelines)
    near_zero = [_near_zero_at_end(run) for run in runs]
    return {
        "arithmetic": arithmetic,
        "seeds": len(runs),
        "query aligned at (median)": steps["median"],
        "sd": steps["sd"],
        "aligned pairs at the end": np.mean([_aligned_at_end(run) for run in runs]),
        "query gradients near 0 at the end": float(np.mean(near_zero)),
    }


def _near_zero_at_end(run: xr.Dataset) -> np.ndarray:
    return run.near_zero_gradients[-1].sel(layer="query").values


def _aligned_at_end(run: xr.Dataset) -> float:
    vote = np.sign(run.query_signal.isel(step=-1))
    return float((np.sign(run.query_noise.isel(step=-1)) * vote > 0).mean())


TABLES = (
    Table(
        "arithmetic",
        "The end of the query alignment depends on the arithmetic.",
        arithmetic_table,
        ("stages",),
    ),
)

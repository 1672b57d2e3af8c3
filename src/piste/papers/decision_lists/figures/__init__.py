"""The paper's figures: every module reads the evidence, draws and captions its own."""

from . import (
    descents,
    flow_runs,
    persistence,
    random_weights,
    task,
    time_bounds,
    value_alone,
)

FIGURES = (
    *task.FIGURES,
    *flow_runs.FIGURES,
    *time_bounds.FIGURES,
    *persistence.FIGURES,
    *descents.FIGURES,
    *value_alone.FIGURES,
    *random_weights.FIGURES,
)

__all__ = ["FIGURES"]

"""Figures of the paper: each module draws those of one result, with their captions."""

from . import (
    bounds,
    images,
    kernel_functions,
    landscapes,
    real_tasks,
    region,
    theorem_1,
    theorem_2,
)

FIGURES = (
    *kernel_functions.FIGURES,
    bounds.BOUNDS,
    theorem_1.TRANSITION,
    bounds.PROMISED,
    theorem_1.ACCEPTANCE,
    *region.FIGURES,
    theorem_1.SCALE,
    *theorem_2.FIGURES,
    *real_tasks.FIGURES,
    *images.FIGURES,
    *landscapes.FIGURES,
)

__all__ = ["FIGURES"]

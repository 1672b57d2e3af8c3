"""Perfect classification of a population: when it is reached, and when for good."""

import numpy as np
import xarray as xr

from .detectors import stage_detector
from .stage_rules import Crossing, Span, find_boundaries, timeline_of
from .timeline import Timeline

NEEDED = ("margin", "accuracy")
POSITIVE = float(np.finfo(float).tiny)
"""Strictly above zero: at least the smallest positive number."""

RULES = (
    # A theorem about the first moment: this one need not last.
    Crossing(
        "perfect",
        "all sequences classified right",
        "margin",
        POSITIVE,
        to_end=False,
        lasts=0.0,
        records=1,
    ),
    Crossing(
        "for good", "all sequences classified right from here on", "margin", POSITIVE
    ),
)
SPANS = (
    Span("learning", "some label is wrong", end="perfect"),
    Span("perfect", "every label is right", start="for good"),
)


@stage_detector("perfect classification", needs=NEEDED)
def detect(trajectory: xr.Dataset) -> Timeline:
    """Find the first perfect moment, and that from which the margin stays positive."""
    found = find_boundaries(RULES, trajectory)
    return timeline_of(SPANS, found, int(trajectory.step.values[-1]))

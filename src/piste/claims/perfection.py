"""Perfect classification of a population: when it is reached, and when for good."""

import numpy as np
import xarray as xr

from .timeline import Stage, Timeline, crossing

NEEDED = ("margin", "accuracy")


def detect(trajectory: xr.Dataset) -> Timeline:
    """Find the moment from which the least margin is positive."""
    # Strictly above zero: the threshold is the smallest positive number.
    tiny, margin = float(np.finfo(float).tiny), trajectory.margin
    words = "all sequences classified right"
    found = [
        crossing("perfect", words, margin, tiny, rising=True, lasting=False),
        crossing("for good", f"{words} from here on", margin, tiny, **_LASTING),
    ]
    boundaries = {boundary.name: boundary for boundary in found}
    first, end = found[0].step, int(trajectory.step.values[-1])
    stages = (
        Stage("learning", "some label is wrong", 0, end if first is None else first),
        Stage("perfect", "the order of the scores follows the lists", first, end),
    )
    return Timeline(stages, boundaries)


_LASTING = {"rising": True, "lasting": True}

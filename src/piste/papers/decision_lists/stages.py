"""Perfect classification of a population: when it is reached, and when for good.

Where a population is too large to be listed the margin is that of a random batch, and
then so is everything that is said here.
"""

import xarray as xr

from piste.claims import (
    Crossing,
    Span,
    Timeline,
    find_boundaries,
    stage_detector,
    timeline_of,
)

REQUIRED_PROBES = ("margin", "accuracy")
BATCH_ERROR_PROBE = "loss_error"
"""The probe that only a run which measures on a random batch has."""


def _rules(which: str) -> tuple[Crossing, ...]:
    right = f"all sequences {which} classified right"
    # A theorem about the first moment: this one need not last.
    first = {"to_end": False, "lasts": 0.0, "records": 1}
    return (
        Crossing("perfect", right, "margin", 0.0, strict=True, **first),
        Crossing("for good", f"{right} from here on", "margin", 0.0, strict=True),
    )


def _spans(which: str) -> tuple[Span, ...]:
    return (
        Span(
            "learning",
            f"not every label of the sequences {which} is right",
            end="perfect",
            stays=True,
        ),
        Span(
            "perfect",
            f"every label of the sequences {which} is right",
            start="for good",
        ),
    )


@stage_detector("perfect classification", needs=REQUIRED_PROBES)
def detect(trajectory: xr.Dataset) -> Timeline:
    """Find the first perfect moment, and that from which the margin stays positive."""
    which = (
        "of one random batch" if BATCH_ERROR_PROBE in trajectory else "that can occur"
    )
    boundaries = find_boundaries(_rules(which), trajectory)
    return timeline_of(_spans(which), boundaries, int(trajectory.step.values[-1]))

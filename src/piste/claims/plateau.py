r"""How long a classifier sits at the loss of guessing, $\log C$, before it learns."""

import math

import xarray as xr

from .detectors import stage_detector
from .stage_rules import Crossing, Span, find_boundaries, timeline_of
from .timeline import Timeline

NEEDED = ("train_loss", "train_accuracy")
CLASSES = 2
PLATEAU_DROP = 0.05
"""How far below the loss of guessing the training loss must fall to have left it."""
GUESSING = math.log(CLASSES)


def _starts_below(series: xr.Dataset) -> str:
    """Why a run has no plateau to leave: it starts below the loss of guessing."""
    first = float(series.train_loss[0])
    below = first < GUESSING - PLATEAU_DROP
    return f"the training loss starts at {first:.3g}, below ln 2" if below else ""


RULES = (
    Crossing(
        "leaves",
        f"training loss below ln 2 − {PLATEAU_DROP}",
        "train_loss",
        GUESSING - PLATEAU_DROP,
        rising=False,
        does_not_apply=_starts_below,
    ),
    Crossing(
        "half",
        "training loss below ½ ln 2",
        "train_loss",
        GUESSING / 2,
        rising=False,
        after=("leaves",),
    ),
)
SPANS = (
    Span(
        "plateau",
        f"the training loss is not yet below ln 2 − {PLATEAU_DROP} for good",
        end="leaves",
        stays=True,
    ),
    Span("learning", "the training loss is below that of guessing", start="leaves"),
)


@stage_detector("plateau of a classifier", needs=NEEDED)
def detect(trajectory: xr.Dataset) -> Timeline:
    """Find when the training loss leaves the plateau for good."""
    found = find_boundaries(RULES, trajectory)
    return timeline_of(SPANS, found, int(trajectory.step.values[-1]))

r"""How long a classifier sits at the loss of guessing, $\log C$, before it learns."""

import math

import xarray as xr

from piste.errors import InputError
from piste.tasks import AbstractTask
from piste.values import from_json

from .detectors import stage_detector
from .stage_rules import Crossing, Span, find_boundaries, timeline_of
from .timeline import Timeline

NEEDED = ("train_loss", "train_accuracy")
PLATEAU_DROP = 0.05
"""How far below the loss of guessing the training loss must fall to have left it."""


def classes_of(trajectory: xr.Dataset) -> int | None:
    """The number of classes of a run's task; None if the run does not say it."""
    try:
        task = from_json(AbstractTask, trajectory.attrs["experiment"]["task"])
    except (KeyError, TypeError, InputError):  # of a file that is not at hand, say
        return None
    return getattr(task, "classes", None)


def _rules(classes: int) -> tuple[Crossing, ...]:
    guessing, name = math.log(classes), f"ln {classes}"

    def starts_below(series: xr.Dataset) -> str:
        """Why a run has no plateau to leave: it starts below the loss of guessing."""
        first = float(series.train_loss[0])
        below = first < guessing - PLATEAU_DROP
        return f"the training loss starts at {first:.3g}, below {name}" if below else ""

    return (
        Crossing(
            "leaves",
            f"training loss below {name} − {PLATEAU_DROP}",
            "train_loss",
            guessing - PLATEAU_DROP,
            rising=False,
            does_not_apply=starts_below,
        ),
        Crossing(
            "half",
            f"training loss below ½ {name}",
            "train_loss",
            guessing / 2,
            rising=False,
            after=("leaves",),
        ),
    )


def _spans(classes: int) -> tuple[Span, ...]:
    threshold = f"ln {classes} − {PLATEAU_DROP}"
    return (
        Span(
            "plateau",
            f"the training loss is not yet below {threshold} for good",
            end="leaves",
            stays=True,
        ),
        Span("learning", "the training loss is below that of guessing", start="leaves"),
    )


@stage_detector("plateau of a classifier", needs=NEEDED)
def detect(trajectory: xr.Dataset) -> Timeline:
    """Find when the training loss leaves the plateau for good."""
    classes = classes_of(trajectory)
    if not classes or classes < 2:
        note = "the number of classes is not known, so neither is the loss of guessing"
        return Timeline((), {}, {}, note=note)
    found = find_boundaries(_rules(classes), trajectory)
    return timeline_of(_spans(classes), found, int(trajectory.step.values[-1]))

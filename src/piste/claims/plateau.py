r"""How long a classifier sits at the loss of guessing, $\log C$, before it learns."""

import math

import xarray as xr

from .timeline import Stage, Timeline, crossing

NEEDED = ("train_loss", "train_accuracy")
CLASSES = 2
LEFT = 0.05
"""How far below the loss of guessing the training loss must fall to have left it."""


def detect(trajectory: xr.Dataset) -> Timeline:
    """Find when the training loss leaves the plateau for good."""
    level = math.log(CLASSES) - LEFT
    words = f"training loss below ln 2 − {LEFT}"
    loss = trajectory.train_loss
    found = [
        crossing("leaves", words, loss, level, rising=False, lasting=True),
        crossing(
            "half", "training loss below ½ ln 2", loss, math.log(2) / 2, **_LASTING
        ),
    ]
    boundaries = {boundary.name: boundary for boundary in found}
    end, left = int(trajectory.step.values[-1]), found[0].step
    stages = (
        Stage(
            "plateau", "the loss is that of guessing", 0, end if left is None else left
        ),
        Stage("learning", "the loss falls", left, end),
    )
    return Timeline(stages, boundaries)


_LASTING = {"rising": False, "lasting": True}

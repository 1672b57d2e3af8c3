"""Convergence of a regression: when the loss is a small part of what it was."""

import xarray as xr

from .detectors import stage_detector
from .stage_rules import Crossing, Span, find_boundaries, timeline_of
from .timeline import Timeline

NEEDED = ("train_loss", "gradient_norm")
FALLING = 1e-2
"""Share of the first loss below which a run counts as on its way."""
CONVERGED = 1e-6
"""Share of the first loss below which a run counts as converged."""


def _starts_at_zero(series: xr.Dataset) -> str:
    return "" if float(series.train_loss[0]) > 0 else "the loss starts at 0"


RULES = (
    Crossing(
        "falling",
        f"f/f₀ below {FALLING:g} for good",
        "share",
        FALLING,
        rising=False,
        does_not_apply=_starts_at_zero,
    ),
    Crossing(
        "converged",
        f"f/f₀ below {CONVERGED:g} for good",
        "share",
        CONVERGED,
        rising=False,
        after=("falling",),
    ),
)
SPANS = (
    Span("fitting", f"f/f₀ is above {FALLING:g}", end="falling"),
    Span(
        "falling",
        f"f/f₀ is between {CONVERGED:g} and {FALLING:g}",
        "falling",
        "converged",
    ),
    Span("converged", f"f/f₀ is below {CONVERGED:g}", start="converged"),
)


@stage_detector("convergence to zero loss", needs=NEEDED)
def detect(trajectory: xr.Dataset) -> Timeline:
    r"""Find where $f/f_0$ passes both thresholds for good."""
    loss = trajectory.train_loss
    first = float(loss[0])
    share = loss / first if first > 0 else loss
    found = find_boundaries(RULES, trajectory.assign(share=share))
    return timeline_of(SPANS, found, int(trajectory.step.values[-1]))

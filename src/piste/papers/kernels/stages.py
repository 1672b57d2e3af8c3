"""Stages of a regression: when the loss is a small share of its first value."""

import xarray as xr

from piste.claims import (
    Crossing,
    Span,
    Timeline,
    find_boundaries,
    stage_detector,
    timeline_of,
)

NEEDED = ("train_loss", "gradient_norm")
FALLING_SHARE = 1e-2
"""Share of the first loss below which the loss counts as falling."""
CONVERGED_SHARE = 1e-6
"""Share of the first loss below which a run counts as converged."""


def _starts_at_zero(series: xr.Dataset) -> str:
    return "the loss starts at 0" if float(series.train_loss[0]) == 0 else ""


RULES = (
    Crossing(
        "falling",
        f"f/f₀ below {FALLING_SHARE:g} for good",
        "share",
        FALLING_SHARE,
        rising=False,
        does_not_apply=_starts_at_zero,
    ),
    Crossing(
        "converged",
        f"f/f₀ below {CONVERGED_SHARE:g} for good",
        "share",
        CONVERGED_SHARE,
        rising=False,
        after=("falling",),
        does_not_apply=_starts_at_zero,
    ),
)
SPANS = (
    Span(
        "fitting",
        f"f/f₀ is not yet below {FALLING_SHARE:g} for good",
        end="falling",
        stays=True,
    ),
    Span(
        "falling",
        f"f/f₀ is below {FALLING_SHARE:g}, not yet below {CONVERGED_SHARE:g} for good",
        "falling",
        "converged",
        stays=True,
    ),
    Span("converged", f"f/f₀ is below {CONVERGED_SHARE:g}", start="converged"),
)


@stage_detector("convergence to zero loss", needs=NEEDED)
def detect(trajectory: xr.Dataset) -> Timeline:
    r"""Find where $f/f_0$ passes both thresholds for good."""
    loss = trajectory.train_loss
    first = float(loss[0])
    share = loss / first if first > 0 else loss
    boundaries = find_boundaries(RULES, trajectory.assign(share=share))
    return timeline_of(SPANS, boundaries, int(trajectory.step.values[-1]))

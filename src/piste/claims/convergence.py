"""Convergence of a regression: when the loss is a small part of what it was."""

import xarray as xr

from .timeline import Stage, Timeline, crossing

NEEDED = ("train_loss", "gradient_norm")
FALLING = 1e-2
"""Share of the first loss below which a run counts as on its way."""
CONVERGED = 1e-6
"""Share of the first loss below which a run counts as converged."""


def detect(trajectory: xr.Dataset) -> Timeline:
    r"""Find where $f/f_0$ passes both thresholds for good."""
    share = relative_loss(trajectory.train_loss)
    found = [
        crossing(name, f"f/f₀ below {limit:g} for good", share, limit, **_DOWN)
        for name, limit in (("falling", FALLING), ("converged", CONVERGED))
    ]
    first, second = (boundary.step for boundary in found)
    end = int(trajectory.step.values[-1])
    slope = f"‖∇f‖ = {float(trajectory.gradient_norm[-1]):.1e} at the end"
    after = second if second is not None else end
    stages = (
        Stage("fitting", "most of f is left", 0, end if first is None else first),
        Stage("falling", "f is small", first, None if first is None else after),
        Stage("converged", slope, second, None if second is None else end),
    )
    return Timeline(stages, {boundary.name: boundary for boundary in found})


def relative_loss(loss: xr.DataArray) -> xr.DataArray:
    r"""$f/f_0$; where the run begins at zero loss, zero."""
    first = float(loss[0])
    return loss / first if first > 0 else xr.zeros_like(loss)


_DOWN = {"rising": False, "lasting": True}

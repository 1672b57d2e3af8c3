"""The stages of any run: the detector is chosen by what was measured."""

import xarray as xr

from . import convergence, four_stages, perfection, plateau
from .timeline import Timeline

DETECTORS = {
    "four stages of sign descent": four_stages,
    "perfect classification": perfection,
    "plateau of a classifier": plateau,
    "convergence to zero loss": convergence,
}
"""Each has ``NEEDED``, the probes that it reads, and ``detect``."""


def stages(trajectory: xr.Dataset) -> Timeline:
    """Find the stages of a run; a run for which nobody has named any has none."""
    for detector in DETECTORS.values():
        if set(detector.NEEDED) <= set(trajectory):
            return detector.detect(trajectory)
    return Timeline((), {}, {}, note="no stages are defined for what this run measures")

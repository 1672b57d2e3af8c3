"""The contract of a stage detector."""

import numpy as np
import xarray as xr

from piste.claims import DETECTORS, Status, Timeline

from ._contract import require


def check_stage_detector(name: str, trajectory: xr.Dataset) -> None:
    """Check a detector on a trajectory that has the probes that it needs.

    It must return a timeline in which every boundary has its evidence and every stage
    lies within the run, leave the trajectory alone, and find nothing where all that it
    reads is not a number.
    """
    known = f"stage detector '{name}': is not known; add it by @stage_detector"
    require(name in DETECTORS, known)
    detector, about = DETECTORS[name], f"stage detector '{name}'"
    missing = [need for need in detector.needs if need not in trajectory]
    require(not missing, f"{about}: the run has no probe {', '.join(missing)}")
    before = trajectory.copy(deep=True)
    found = detector.function(trajectory)
    kind = type(found).__name__
    require(isinstance(found, Timeline), f"{about}: gives a {kind}; must be a Timeline")
    require(before.identical(trajectory), f"{about}: changes the trajectory")
    _check_timeline(found, int(trajectory.step.values[-1]), about)
    blank = {need: trajectory[need] * np.nan for need in detector.needs}
    nothing = detector.function(trajectory.assign(blank))
    wrong = [b.name for b in nothing.boundaries.values() if b.status == Status.FOUND]
    text = f"{about}: finds '{(wrong or [''])[0]}' where nothing is a number"
    require(not wrong, text)


def _check_timeline(found: Timeline, last: int, about: str) -> None:
    for boundary in found.boundaries.values():
        text = f"{about}: boundary '{boundary.name}' shows no evidence"
        require(bool(boundary.evidence), text)
    for stage in found.stages:
        inside = 0 <= stage.start <= stage.end <= last
        text = f"{about}: stage '{stage.name}' is from {stage.start} to {stage.end}"
        require(inside, f"{text}, which is not within a run of {last} steps")

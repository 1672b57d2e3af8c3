"""Trajectories: labelled arrays of what was measured, in memory and on disk."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

from piste.probes import OFTEN, RARELY, Probe
from piste.training import Chunk, Plan, System

from .arrays import Arrays, open_arrays

ARRAYS = "trajectory.zarr"
TIME = "time"

_AXES = {
    OFTEN: ("$t$", "training steps taken"),
    RARELY: ("$t$", "training steps taken, at the thinner schedule"),
    TIME: ("$t$", "time of the gradient flow of which the run takes steps"),
}

Records = Mapping[str, np.ndarray]


def _about(symbol: str, meaning: str) -> dict[str, str]:
    return {"symbol": symbol, "long_name": symbol, "meaning": meaning}


def _coordinates(
    system: System, plan: Plan, last: int
) -> dict[str, tuple[str, np.ndarray, dict[str, str]]]:
    """The steps up to the last one, and the time of the flow where there is one."""
    times = {OFTEN: plan.times, RARELY: plan.times[plan.tests]}
    kept = {name: steps[steps <= last] for name, steps in times.items()}
    found = {name: (name, kept[name], _about(*_AXES[name])) for name in times}
    step = system.time_step()
    if step is not None:
        found[TIME] = (OFTEN, kept[OFTEN] * float(step), _about(*_AXES[TIME]))
    return found | {
        name: (name, np.array(labels), {})
        for name, labels in named_axes(system.probes()).items()
    }


def named_axes(probes: Iterable[Probe]) -> dict[str, tuple[str, ...]]:
    """The axes whose places have names, with those names."""
    return {probe.dims[-1]: probe.labels for probe in probes if probe.labels}


def last_step(plan: Plan, chunks: int, diverged: int) -> int:
    """The last step that is kept: that of the divergence, or the last recorded."""
    recorded = int(plan.times[plan.block(chunks - 1)][-1])
    return recorded if diverged < 0 else min(recorded, diverged)


def _variables(system: System, records: Records) -> dict[str, xr.Variable]:
    return {
        p.name: xr.Variable(
            (p.along, *p.dims), records[p.name], _about(p.symbol, p.meaning)
        )
        for p in system.probes()
    }


def write(
    folder: Path,
    system: System,
    plan: Plan,
    chunks: Iterable[Records],
    last: int,
    attributes: dict[str, Any],
) -> None:
    """Store the records of all chunks up to a step, with some of them in memory."""
    coords = {n: xr.Variable(*c) for n, c in _coordinates(system, plan, last).items()}
    about = {"coordinates": TIME} if TIME in coords else {}
    arrays = Arrays(folder / ARRAYS, attributes | about)
    rows = {name: coords[name].size for name in (OFTEN, RARELY)}
    for index, records in enumerate(chunks):
        if index == 0:
            arrays.create(coords | _variables(system, records), rows)
            for name, coordinate in coords.items():
                arrays.append(name, coordinate.values)
        for name, part in records.items():
            arrays.append(name, part)
    arrays.close()


def read(folder: Path) -> xr.Dataset:
    """Open the trajectory of a complete run; arrays are read when used."""
    return open_arrays(folder / ARRAYS)


def in_memory(system: System, plan: Plan, chunks: list[Chunk]) -> xr.Dataset:
    """The trajectory of a run that was not stored."""
    joined = {
        name: np.concatenate([chunk.records[name] for chunk in chunks])
        for name in chunks[0].records
    }
    last = last_step(plan, len(chunks), int(chunks[-1].state.diverged))
    coords = _coordinates(system, plan, last)
    rows = {name: coords[name][1].size for name in (OFTEN, RARELY)}
    along = {probe.name: rows[probe.along] for probe in system.probes()}
    kept = {name: records[: along[name]] for name, records in joined.items()}
    return xr.Dataset(_variables(system, kept), coords)

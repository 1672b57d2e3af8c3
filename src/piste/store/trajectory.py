"""Trajectories: labelled arrays of what was measured, in memory and on disk."""

from pathlib import Path

import numpy as np
import xarray as xr
import zarr

from piste.dynamics import Chunk, Plan, System
from piste.probes import LAYERS, OFTEN, RARELY, Probe

ARRAYS = "trajectory.zarr"

_AXES = {
    OFTEN: ("$t$", "training steps taken"),
    RARELY: ("$t$", "training steps taken, at the thinner schedule"),
}

TIME = "time"
_TIME = ("$t$", "time of the gradient flow of which the run takes steps")


def _clock(system: System, plan: Plan) -> np.ndarray | None:
    """The time of every record, for the flow and for descent that follows it."""
    step = system.time_step()
    return None if step is None else plan.times * float(step)


def create(folder: Path, system: System, plan: Plan, chunk: Chunk) -> None:
    """Lay out all arrays of a run, at full length, from the shapes of its first chunk."""
    group = zarr.create_group(folder / ARRAYS, overwrite=True, zarr_format=3)
    times = {OFTEN: plan.times, RARELY: plan.times[plan.tests]}
    for name, steps in times.items():
        symbol, meaning = _AXES[name]
        _array(group, name, steps.shape, "int64", (name,), steps.size, symbol, meaning)[
            :
        ] = steps
    clock = _clock(system, plan)
    if clock is not None:
        size = clock.size
        _array(group, TIME, (size,), "float64", (OFTEN,), size, *_TIME)[:] = clock
    for probe in system.probes():
        records = chunk.records[probe.name]
        length = times[probe.along].size
        shape = (length, *records.shape[1:])
        dims = (probe.along, *probe.dims)
        _array(
            group,
            probe.name,
            shape,
            records.dtype,
            dims,
            max(1, len(records)),
            probe.symbol,
            probe.meaning,
        )


def _array(group, name, shape, dtype, dims, block, symbol, meaning) -> zarr.Array:
    return group.create_array(
        name,
        shape=shape,
        dtype=dtype,
        chunks=(block, *shape[1:]),
        dimension_names=dims,
        attributes={"symbol": symbol, "long_name": symbol, "meaning": meaning},
    )


def write(folder: Path, probes: tuple[Probe, ...], plan: Plan, chunk: Chunk) -> None:
    """Put one chunk's records in their place; writing it again changes nothing."""
    group = zarr.open_group(folder / ARRAYS, mode="r+")
    place = {OFTEN: plan.block(chunk.index), RARELY: plan.test_block(chunk.index)}
    for probe in probes:
        _member(group, probe.name)[place[probe.along]] = chunk.records[probe.name]


def cut(folder: Path, last_step: int) -> None:
    """Drop the records after a step: those of a run that diverged."""
    group = zarr.open_group(folder / ARRAYS, mode="r+")
    kept = {
        name: int((np.asarray(_member(group, name)[:]) <= last_step).sum())
        for name in (OFTEN, RARELY)
    }
    for _, array in list(group.arrays()):
        along = str(array.metadata.dimension_names[0])  # pyright: ignore
        array.resize((kept[along], *array.shape[1:]))


def _member(group: zarr.Group, name: str) -> zarr.Array:
    found = group[name]
    assert isinstance(found, zarr.Array)
    return found


def read(folder: Path) -> xr.Dataset:
    """Open the trajectory of a complete run; arrays are read when used."""
    data = xr.open_zarr(folder / ARRAYS, consolidated=False, chunks=None)
    return _labelled(data)


def in_memory(system: System, plan: Plan, chunks: list[Chunk]) -> xr.Dataset:
    """The trajectory of a run that was not stored."""
    times = {OFTEN: plan.times, RARELY: plan.times[plan.tests]}
    arrays = {}
    for probe in system.probes():
        records = np.concatenate([chunk.records[probe.name] for chunk in chunks])
        about = {"symbol": probe.symbol, "long_name": probe.symbol}
        about["meaning"] = probe.meaning
        arrays[probe.name] = ((probe.along, *probe.dims), records, about)
    sizes = {OFTEN: len(chunks[0].records), RARELY: 0}
    for probe in system.probes():
        sizes[probe.along] = len(arrays[probe.name][1])
    coords = {name: (name, steps[: sizes[name]]) for name, steps in times.items()}
    clock = _clock(system, plan)
    if clock is not None:
        coords[TIME] = (OFTEN, clock[: sizes[OFTEN]])
    data = _labelled(xr.Dataset(arrays, coords))
    diverged = int(chunks[-1].state.diverged)
    return (
        data
        if diverged < 0
        else data.sel({name: slice(None, diverged) for name in (OFTEN, RARELY)})
    )


def _labelled(data: xr.Dataset) -> xr.Dataset:
    for name, (symbol, meaning) in (_AXES | {TIME: _TIME}).items():
        if name in data.variables:
            data[name].attrs.update(long_name=symbol, symbol=symbol, meaning=meaning)
    data = data.set_coords(TIME) if TIME in data.variables else data
    return data.assign_coords(layer=list(LAYERS)) if "layer" in data.dims else data

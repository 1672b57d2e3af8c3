"""Run a sweep on this machine: each batch one compiled program, stored when done.

A batch is on disk as a whole or not at all, so an interrupted sweep goes on with the
first batch that is missing.
"""

import shutil
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import xarray as xr

from piste.dynamics import Plan, State, System, build, run_chunk
from piste.probes import OFTEN, Probe
from piste.store import make_folder

from .grid import Cell, Sweep

Watch = Callable[[int, float], None]


@jax.jit
@partial(jax.vmap, in_axes=(0, 0, None, None))
def run_batch(system: System, state: State, gaps, tests):
    """Advance all cells of a batch by one chunk."""
    return run_chunk(system, state, gaps, tests)


def run_sweep(
    sweep: Sweep,
    folder: Path,
    probes: Sequence[str],
    batch: int = 10,
    watch: Watch = lambda step, loss: None,
    fresh: bool = False,
) -> xr.Dataset:
    """Run what is missing, and return the probes asked for, along a dimension ``cell``.

    Every varied field is a coordinate of ``cell``; ``diverged`` is the step at which a
    cell's loss stopped being finite, or −1: such a cell is data like any other.
    """
    make_folder(folder)
    done, parts = 0, []
    for number, cells in enumerate(sweep.batches(batch)):
        place = folder / f"batch-{number:03d}.zarr"
        if fresh or not place.exists():
            report = _offset(watch, done)
            _store(_run_cells(cells, batch, probes, report), place)
        parts.append(xr.open_zarr(place, consolidated=False, chunks=None).load())
        done += sum(cell.experiment.steps for cell in cells)
        watch(done, float(parts[-1].train_loss.isel(step=-1).median()))
    return xr.concat(parts, "cell", join="outer").sortby("place")


def _offset(watch: Watch, done: int) -> Watch:
    return lambda step, loss: watch(done + step, loss)


def _run_cells(
    cells: list[Cell], size: int, probes: Sequence[str], watch: Watch
) -> xr.Dataset:
    """Train one batch; a short one is filled up so that the program is the same."""
    plan = Plan.of(cells[0].experiment)
    filled = cells + [cells[-1]] * (size - len(cells))
    with jax.enable_x64(True):
        systems = [build(cell.experiment, whole=True) for cell in filled]
        system = jax.tree.map(lambda *leaves: jnp.stack(leaves), *systems)
        state = jax.vmap(System.start)(system)
        chosen = [p for p in systems[0].form.probes() if p.name in probes]
        del systems
        chunks = []
        for index in range(plan.chunks):
            gaps, flags = plan.gaps(index), plan.flags(index)
            state, records = run_batch(system, state, gaps, flags)
            loss = float(np.asarray(records["train_loss"])[: len(cells), -1].mean())
            chunks.append(
                {p.name: _kept(records[p.name], p, plan, index) for p in chosen}
            )
            watch(int(plan.times[plan.block(index)][-1]) * len(cells), loss)
        diverged = np.asarray(state.diverged)
    return _labelled(cells, chosen, plan, chunks, diverged)


def _kept(records, probe: Probe, plan: Plan, index: int) -> np.ndarray:
    block = plan.block(index)
    records = np.asarray(records)
    if probe.along == OFTEN:
        return records[:, : block.stop - block.start]
    return records[:, plan.flags(index)]


def _labelled(cells, probes, plan, chunks, diverged) -> xr.Dataset:
    count = len(cells)
    arrays = {
        p.name: (
            ("cell", p.along, *p.dims),
            np.concatenate([chunk[p.name] for chunk in chunks], axis=1)[:count],
            {"symbol": p.symbol, "meaning": p.meaning},
        )
        for p in probes
    }
    fields = {
        _coordinate(name): ("cell", np.array([cell.settings[name] for cell in cells]))
        for name in cells[0].settings
    }
    coords = {
        "place": ("cell", np.array([cell.place for cell in cells])),
        "diverged": ("cell", diverged[:count]),
        "step": plan.times,
        "test_step": plan.times[plan.tests],
    }
    return xr.Dataset(arrays, coords | fields)


def _coordinate(field: str) -> str:
    """The last word of a field: ``rule.b2`` is the coordinate ``b2``."""
    return field.split(".")[-1].replace("-", "_")


def _store(data: xr.Dataset, place: Path) -> None:
    aside = place.with_suffix(".partial")
    shutil.rmtree(aside, ignore_errors=True)
    data.to_zarr(aside, zarr_format=3, consolidated=False)
    shutil.rmtree(place, ignore_errors=True)
    aside.rename(place)

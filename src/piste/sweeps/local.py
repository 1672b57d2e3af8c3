"""Run a sweep on this machine: each batch one compiled program, stored when done.

A batch is on disk as a whole or not at all, so an interrupted sweep goes on with the
first batch that is missing.
"""

import dataclasses
import json
import shutil
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import xarray as xr

from piste.dynamics import Plan, State, System, build, choose_form, run_chunk
from piste.errors import InputError
from piste.probes import OFTEN, RARELY, Probe
from piste.store import FORMAT, alone, environment, make_folder, write_atomically
from piste.values import to_json

from .grid import Cell, Sweep

Watch = Callable[[int, float], None]


@jax.jit
def run_batch(system: System, state: State, gaps, tests):
    """Advance all cells of a batch by one chunk, side by side."""
    return jax.vmap(run_chunk, in_axes=(0, 0, None, None))(system, state, gaps, tests)


def run_sweep(
    sweep: Sweep,
    folder: Path,
    probes: Sequence[str],
    batch: int = 10,
    watch: Watch = lambda step, loss: None,
    fresh: bool = False,
    until: float = 0.0,
) -> xr.Dataset:
    """Run what is missing, and return the probes asked for, along a dimension ``cell``.

    A batch ends early when every training loss in it is at most ``until``; its later
    records are then not a number.

    Every varied field is a coordinate of ``cell``; ``diverged`` is the step at which a
    cell's loss stopped being finite, or −1: such a cell is data like any other.
    """
    batches = sweep.batches(batch)
    choose_form(batches[0][0].experiment)
    make_folder(folder)
    _describe(sweep, folder, batch)
    done, parts = 0, []
    with alone(folder / ".lock"):
        for place, cells in zip(
            batch_places(folder, len(batches)), batches, strict=True
        ):
            if fresh or not place.exists():
                part = _run_cells(cells, batch, probes, until, _offset(watch, done))
                _store(part, place)
            parts.append(xr.open_zarr(place, consolidated=False, chunks=None).load())
            done += sum(cell.experiment.steps for cell in cells)
            watch(done, float(parts[-1].train_loss.min("step").median()))
    data = xr.concat(parts, "cell", join="outer", combine_attrs="drop").sortby("place")
    return data.assign_attrs(
        seconds=sum(part.attrs["seconds"] for part in parts),
        form=parts[0].attrs["form"],
        batch=batch,
    )


def batch_places(folder: Path, count: int) -> list[Path]:
    """Where the batches of a sweep are stored."""
    return [folder / f"batch-{number:03d}.zarr" for number in range(count)]


def _describe(sweep: Sweep, folder: Path, batch: int) -> None:
    """Say what is here; refuse a folder that another version wrote."""
    path = folder / "manifest.json"
    if path.exists():
        found = json.loads(path.read_text()).get("format")
        if found != FORMAT:
            raise InputError(
                f"store {folder}: format = {found}: written by another version of "
                f"piste; must be {FORMAT}; choose another folder with --out"
            )
        return
    axes = {name: list(values) for name, values in sweep.axes.items()}
    about = {"format": FORMAT, "experiment": to_json(sweep.base), "axes": axes}
    about |= {"batch": batch, "environment": environment()}
    text = json.dumps(about, indent=2, ensure_ascii=False)
    write_atomically(path, text.encode())


def _offset(watch: Watch, done: int) -> Watch:
    return lambda step, loss: watch(done + step, loss)


def _run_cells(
    cells: list[Cell], size: int, probes: Sequence[str], until: float, watch: Watch
) -> xr.Dataset:
    """Train one batch; a short one is filled up so that the program is the same."""
    began = time.perf_counter()
    plan = Plan.of(cells[0].experiment)
    filled = cells + [cells[-1]] * (size - len(cells))
    with jax.enable_x64(True):
        systems = [build(cell.experiment, whole=True) for cell in filled]
        stacked = jax.tree.map(lambda *leaves: jnp.stack(leaves), *systems)
        system = dataclasses.replace(stacked, only=tuple(probes))
        state, chunks = jax.vmap(System.start)(system), []
        for index in range(plan.chunks):
            gaps, flags = plan.gaps(index), plan.flags(index)
            state, records = run_batch(system, state, gaps, flags)
            # At a record that is tested too, so that there is a test error to match.
            tested = np.flatnonzero(flags)[-1] if flags.any() else -1
            losses = np.asarray(records["train_loss"])[: len(cells), tested]
            kept = {
                p.name: _kept(records[p.name], p, plan, index) for p in system.probes()
            }
            chunks.append(kept)
            watch(int(plan.times[plan.block(index)][-1]) * len(cells), losses.mean())
            if (losses <= until).all():
                break
        diverged = np.asarray(state.diverged)
    data = _labelled(cells, system.probes(), plan, chunks, diverged)
    form = choose_form(cells[0].experiment)
    return data.assign_attrs(seconds=time.perf_counter() - began, form=form)


def _kept(records, probe: Probe, plan: Plan, index: int) -> np.ndarray:
    block = plan.block(index)
    records = np.asarray(records)
    if probe.along == OFTEN:
        return records[:, : block.stop - block.start]
    return records[:, plan.flags(index)]


def _labelled(cells, probes, plan, chunks, diverged) -> xr.Dataset:
    count = len(cells)
    lengths = {OFTEN: plan.times.size, RARELY: int(plan.tests.sum())}
    arrays = {
        p.name: (
            ("cell", p.along, *p.dims),
            _filled([chunk[p.name] for chunk in chunks], lengths[p.along])[:count],
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


def _filled(parts: list[np.ndarray], length: int) -> np.ndarray:
    """Join the records of the chunks; those of chunks that were not run are NaN."""
    joined = np.concatenate(parts, axis=1)
    missing = [(0, 0)] * joined.ndim
    missing[1] = (0, length - joined.shape[1])
    return np.pad(joined, missing, constant_values=np.nan)


def _coordinate(field: str) -> str:
    """The last word of a field: ``rule.b2`` is the coordinate ``b2``."""
    return field.split(".")[-1].replace("-", "_")


def _store(data: xr.Dataset, place: Path) -> None:
    aside = place.with_suffix(".partial")
    shutil.rmtree(aside, ignore_errors=True)
    data.to_zarr(aside, zarr_format=3, consolidated=False)
    shutil.rmtree(place, ignore_errors=True)
    aside.rename(place)

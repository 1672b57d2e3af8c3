"""Run a sweep on this machine: each batch one compiled program, stored when done."""

import dataclasses
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import xarray as xr

from piste.dynamics import Plan, State, System, build, choose_form, run_chunk
from piste.probes import OFTEN, RARELY, Probe
from piste.store import Fresh, Parts, inputs_of
from piste.values import digest, to_json

from .grid import Cell, Sweep

Watch = Callable[[int, float], None]


@jax.jit
def run_batch(system: System, state: State, gaps, tests):
    """Advance all cells of a batch by one chunk, side by side."""
    return jax.vmap(run_chunk, in_axes=(0, 0, None, None))(system, state, gaps, tests)


def sweep_parts(
    sweep: Sweep,
    root: Path,
    probes: Sequence[str],
    batch: int = 10,
    until: float = 0.0,
    name: str = "sweep",
) -> Parts:
    """The batches of a sweep, and where they are stored below a folder.

    Each way to run it has a folder of its own: what is kept of it counts too.
    """
    what = digest([sweep.digest, list(probes), batch, until])
    axes = {field: list(values) for field, values in sweep.axes.items()}
    about = {"base": to_json(sweep.base), "axes": axes, "probes": list(probes)}
    about |= {"batch": batch, "until": until}
    inputs = inputs_of(*(cell.experiment for cell in sweep.cells()))
    return Parts(root, name, what, about, inputs, len(sweep.batches(batch)))


def run_sweep(
    sweep: Sweep,
    root: Path,
    probes: Sequence[str],
    batch: int = 10,
    watch: Watch = lambda step, loss: None,
    fresh: Fresh = False,
    until: float = 0.0,
    name: str = "sweep",
) -> xr.Dataset:
    """Run what is missing, and return the probes asked for, along a dimension ``cell``.

    It is stored below ``root``, under an address of its own.

    A batch ends early when every training loss in it is at most ``until``, if that is
    more than 0; its later records are then not a number.

    Every varied field is a coordinate of ``cell``; ``diverged`` is the step at which a
    cell's loss stopped being finite, or −1: such a cell is data like any other.
    """
    batches = sweep.batches(batch)
    before = np.cumsum([0] + [sum(c.experiment.steps for c in b) for b in batches])

    def make(index: int, attempt: str) -> xr.Dataset:
        told = _offset(watch, int(before[index]))
        return _run_cells(batches[index], batch, probes, until, told)

    def after(index: int, part: xr.Dataset) -> None:
        watch(int(before[index + 1]), float(part.train_loss.min("step").median()))

    stored = sweep_parts(sweep, root, probes, batch, until, name)
    parts = stored.compute(make, after, fresh)
    data = xr.concat(parts, "cell", join="outer", combine_attrs="drop").sortby("place")
    return data.assign_attrs(
        seconds=sum(part.attrs["seconds"] for part in parts),
        form=parts[0].attrs["form"],
        batch=batch,
        notes=parts[0].attrs["notes"],
    )


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
        systems = [build(cell.experiment, pad_for_batching=True) for cell in filled]
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
            # A loss that has underflowed to 0 is no reason to stop.
            if until > 0 and (losses <= until).all():
                break
        diverged = np.asarray(state.diverged)
    data = _labelled(cells, system.probes(), plan, chunks, diverged)
    if (step := system.time_step()) is not None:
        clock = np.outer(np.asarray(step)[: len(cells)], plan.times)
        data = data.assign_coords(time=(("cell", "step"), clock))
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

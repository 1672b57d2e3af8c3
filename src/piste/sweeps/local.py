"""Run a sweep on this machine: each batch one compiled program, stored when done."""

import dataclasses
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import xarray as xr

from piste.caching import free_memory
from piste.probes import OFTEN, Probe
from piste.store import Fresh, Parts, inputs_of, join_parts, named_axes
from piste.training import Plan, State, System, build, choose_form, run_chunk
from piste.values import digest, to_json

from .grid import Cell, Sweep, static_part

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

    It is stored below ``root``, under an address of its own; arrays are read when they are
    used.

    A batch ends early when every training loss in it is at most ``until``, if that is
    more than 0; its later records are then not a number.

    Every varied field is a coordinate of ``cell``; ``diverged`` is the step at which a
    cell's loss stopped being finite, or −1: such a cell is data like any other.
    """
    batches = sweep.batches(batch)
    before = np.cumsum([0] + [sum(c.experiment.steps for c in b) for b in batches])

    def make(index: int, attempt: str) -> xr.Dataset:
        before_it = batches[max(0, index - 1)]
        # Batches of one program come one after the other.
        free_memory(programs=_program_of(batches[index]) != _program_of(before_it))
        told = _offset(watch, int(before[index]))
        return _run_cells(batches[index], batch, probes, until, told)

    def after(index: int, part: xr.Dataset) -> None:
        watch(int(before[index + 1]), float(part.train_loss.min("step").median()))

    stored = sweep_parts(sweep, root, probes, batch, until, name)
    parts = stored.compute(make, after, fresh)
    data = join_parts(parts, "cell")
    # An index, where sorting would read everything.
    data = data.isel(cell=np.argsort(data.place.values, kind="stable"))
    return data.assign_attrs(
        seconds=sum(part.attrs["seconds"] for part in parts),
        form=parts[0].attrs["form"],
        batch=batch,
        notes=parts[0].attrs["notes"],
    )


def _program_of(batch: list[Cell]) -> str:
    return static_part(batch[0].experiment)


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
        system = dataclasses.replace(_stacked(filled), only=tuple(probes))
        state = jax.vmap(System.start)(system)
        kept: Records = {}
        for index in range(plan.chunks):
            gaps, flags = plan.gaps(index), plan.flags(index)
            state, records = run_batch(system, state, gaps, flags)
            # At a record that is tested too, so that there is a test error to match.
            tested = np.flatnonzero(flags)[-1] if flags.any() else -1
            losses = np.asarray(records["train_loss"])[: len(cells), tested]
            for probe in system.probes():
                chunk = np.asarray(records[probe.name])[: len(cells)]
                _keep(kept, probe, chunk, plan, index)
            del records, chunk  # before the next ones are there
            watch(int(plan.times[plan.block(index)][-1]) * len(cells), losses.mean())
            # A loss that has underflowed to 0 is no reason to stop.
            if until > 0 and (losses <= until).all():
                break
        diverged = np.asarray(state.diverged)
    data = _labelled(cells, system.probes(), plan, kept, diverged)
    if (step := system.time_step()) is not None:
        clock = np.outer(np.asarray(step)[: len(cells)], plan.times)
        data = data.assign_coords(time=(("cell", "step"), clock))
    form = choose_form(cells[0].experiment)
    return data.assign_attrs(seconds=time.perf_counter() - began, form=form)


def _stacked(cells: list[Cell]) -> System:
    """One system for all cells, filled cell by cell: their data may be large."""
    stacks, structure = [], None
    for place, cell in enumerate(cells):
        system = build(cell.experiment, pad_for_batching=True)
        leaves, structure = jax.tree.flatten(system)
        stacks = stacks or [_empty_stack(leaf, len(cells)) for leaf in leaves]
        for stack, leaf in zip(stacks, leaves, strict=True):
            stack[place] = leaf
        del system, leaves
    assert structure is not None
    return jax.tree.unflatten(structure, [_on_device(stack) for stack in stacks])


ALIGNMENT = 64
"""Where the memory of an array must begin for JAX to take it over without a copy."""


def _empty_stack(leaf: Any, count: int) -> np.ndarray | list:
    """Room for so many arrays like one; keys of random streams are no NumPy arrays."""
    if jnp.issubdtype(jnp.result_type(leaf), jax.dtypes.prng_key):
        return [None] * count
    like = np.asarray(leaf)
    memory = np.empty(count * like.nbytes + ALIGNMENT, np.uint8)
    start = -memory.ctypes.data % ALIGNMENT
    inside = memory[start : start + count * like.nbytes]
    return inside.view(like.dtype).reshape(count, *like.shape)


def _on_device(stack: np.ndarray | list) -> jax.Array:
    return jnp.stack(stack) if isinstance(stack, list) else jax.device_put(stack)


Records = dict[str, np.ndarray]
"""By probe: a row for each cell, and a column for each record."""


def _keep(
    kept: Records, probe: Probe, chunk: np.ndarray, plan: Plan, index: int
) -> None:
    """Put the records of a chunk in their place; those that never come stay NaN."""
    often = probe.along == OFTEN
    block = plan.block(index) if often else plan.test_block(index)
    if probe.name not in kept:  # all at once, so that there is never a second copy
        length = plan.times.size if often else int(plan.tests.sum())
        shape = (len(chunk), length, *chunk.shape[2:])
        kept[probe.name] = np.full(shape, _missing(chunk.dtype), chunk.dtype)
    chosen = slice(block.stop - block.start) if often else plan.flags(index)
    kept[probe.name][:, block] = chunk[:, chosen]


def _missing(dtype: np.dtype):
    return np.nan if dtype.kind == "f" else 0


def _labelled(cells, probes, plan, kept: Records, diverged) -> xr.Dataset:
    count = len(cells)
    arrays = {
        p.name: (
            ("cell", p.along, *p.dims),
            kept[p.name],
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
    names = {n: np.array(labels) for n, labels in named_axes(probes).items()}
    return xr.Dataset(arrays, coords | names | fields)


def _coordinate(field: str) -> str:
    """The last word of a field: ``rule.b2`` is the coordinate ``b2``."""
    return field.split(".")[-1].replace("-", "_")

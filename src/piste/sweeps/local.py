"""Run a sweep on this machine: each batch one compiled program, stored when done."""

import dataclasses
import time
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import Any

import jax
import numpy as np
import xarray as xr

from piste.caching import free_memory
from piste.probes import OFTEN
from piste.store import (
    TIME,
    Fresh,
    Parts,
    ProgressCallback,
    inputs_of,
    join_parts,
    named_axes,
    no_progress,
)
from piste.training import (
    Chunk,
    Plan,
    System,
    build,
    choose_form,
    stack_systems,
    train_cells,
)
from piste.values import digest, to_json

from .grid import Cell, Sweep, static_part


def sweep_parts(
    sweep: Sweep,
    root: Path,
    probes: Sequence[str],
    batch: int = 10,
    stop_below: float = 0.0,
    name: str = "sweep",
) -> Parts:
    """The batches of a sweep, and where they are stored below a folder.

    Each way to run it has a folder of its own: what is kept of it counts too.
    """
    what = digest([sweep.digest, list(probes), batch, stop_below])
    axes = {field: list(values) for field, values in sweep.axes.items()}
    about = {"base": to_json(sweep.base), "axes": axes, "probes": list(probes)}
    about |= {"batch": batch, "stop_below": stop_below}
    inputs = inputs_of(*(cell.experiment for cell in sweep.cells()))
    return Parts(root, name, what, about, inputs, len(sweep.batches(batch)))


def run_sweep(
    sweep: Sweep,
    root: Path,
    probes: Sequence[str],
    batch: int = 10,
    watch: ProgressCallback = no_progress,
    fresh: Fresh = False,
    stop_below: float = 0.0,
    name: str = "sweep",
) -> xr.Dataset:
    """Run what is missing, and return the probes asked for, along a dimension ``cell``.

    It is stored below ``root``, under an address of its own; arrays are read when they are
    used.

    A batch ends early when every training loss in it is at most ``stop_below``, if that is
    more than 0; its later records are then not a number.

    Every varied field is a coordinate of ``cell``: by its last word, ``b2`` for
    ``rule.b2``, or by its full name where that word is taken. ``diverged`` is the step
    at which a cell's loss stopped being finite, or −1: such a cell is data like any other.
    """
    batches = sweep.batches(batch)
    before = np.cumsum([0] + [sum(c.experiment.steps for c in b) for b in batches])

    def make(index: int, attempt: str) -> xr.Dataset:
        before_it = batches[max(0, index - 1)]
        # Batches of one program come one after the other.
        free_memory(programs=_program_of(batches[index]) != _program_of(before_it))
        told = _offset(watch, int(before[index]))
        return _run_cells(batches[index], batch, probes, stop_below, told)

    def after(index: int, part: xr.Dataset) -> None:
        watch(int(before[index + 1]), float(part.train_loss.min("step").median()))

    stored = sweep_parts(sweep, root, probes, batch, stop_below, name)
    parts = stored.compute(make, after, fresh)
    data = join_parts(parts, "cell")
    # An index, where sorting would read everything.
    data = data.isel(cell=np.argsort(data.index.values, kind="stable"))
    return data.assign_attrs(
        seconds=sum(part.attrs["seconds"] for part in parts),
        form=parts[0].attrs["form"],
        batch=batch,
        notes=parts[0].attrs["notes"],
    )


def _program_of(batch: list[Cell]) -> str:
    return static_part(batch[0].experiment)


def _offset(watch: ProgressCallback, done: int) -> ProgressCallback:
    return lambda step, loss: watch(done + step, loss)


def _run_cells(
    cells: list[Cell],
    size: int,
    probes: Sequence[str],
    stop_below: float,
    watch: ProgressCallback,
) -> xr.Dataset:
    """Train one batch; a short one is filled up so that the program is the same."""
    began = time.perf_counter()
    plan = Plan.of(cells[0].experiment)
    filled = cells + [cells[-1]] * (size - len(cells))
    with jax.enable_x64(True):
        systems = (build(c.experiment, pad_for_batching=True) for c in filled)
        system = dataclasses.replace(stack_systems(systems, size), only=tuple(probes))
        kept: Records = {}
        for chunk in train_cells(system, plan):
            _keep(kept, system, chunk, plan, len(cells))
            diverged = np.asarray(chunk.state.diverged)
            losses = _last_tested(chunk, plan)[: len(cells)]
            steps = int(plan.times[plan.block(chunk.index)][-1])
            watch(steps * len(cells), losses.mean())
            # A loss that has underflowed to 0 is no reason to stop.
            if stop_below > 0 and (losses <= stop_below).all():
                break
            del chunk  # before the next one is there
    data = _labelled(cells, system.probes(), plan, kept, diverged)
    if (step := system.time_step()) is not None:
        clock = np.outer(np.asarray(step)[: len(cells)], plan.times)
        data = data.assign_coords({TIME: (("cell", "step"), clock)})
    form = choose_form(cells[0].experiment)
    return data.assign_attrs(seconds=time.perf_counter() - began, form=form)


def _last_tested(chunk: Chunk, plan: Plan) -> np.ndarray:
    """The losses at the last record that is tested too, so that there is a test error."""
    flags = plan.tests[plan.block(chunk.index)]
    tested = np.flatnonzero(flags)[-1] if flags.any() else -1
    return chunk.records["train_loss"][:, tested]


Records = dict[str, np.ndarray]
"""By probe: a row for each cell, and a column for each record."""


def _keep(kept: Records, system: System, chunk: Chunk, plan: Plan, count: int) -> None:
    """Put the records of some cells in their place; those that never come stay NaN."""
    for probe in system.probes():
        often, part = probe.along == OFTEN, chunk.records[probe.name][:count]
        block = plan.block(chunk.index) if often else plan.test_block(chunk.index)
        if probe.name not in kept:  # all at once, so that there is never a second copy
            length = plan.times.size if often else int(plan.tests.sum())
            shape = (len(part), length, *part.shape[2:])
            kept[probe.name] = np.full(shape, _missing(part.dtype), part.dtype)
        kept[probe.name][:, block] = part


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
    coords = {
        "index": ("cell", np.array([cell.index for cell in cells])),
        "diverged": ("cell", diverged[:count]),
        "step": plan.times,
        "test_step": plan.times[plan.tests],
    }
    names = {n: np.array(labels) for n, labels in named_axes(probes).items()}
    taken = {*arrays, *coords, *names, TIME}
    fields = {
        name: ("cell", _column([cell.settings[field] for cell in cells]))
        for field, name in coordinate_names(cells[0].settings, taken).items()
    }
    return xr.Dataset(arrays, coords | names | fields)


def _column(settings: Sequence[Any]) -> np.ndarray:
    """One setting for each cell; tuples as the command line writes them."""
    several = any(isinstance(setting, (tuple, list)) for setting in settings)
    return np.array([",".join(map(str, s)) for s in settings] if several else settings)


def coordinate_names(fields: Iterable[str], taken: Collection[str]) -> dict[str, str]:
    """Name the coordinate of each dotted field: its last word, if that is free.

    >>> coordinate_names(["task.width", "model.width", "rule.b-2"], taken=["step"])
    {'task.width': 'task.width', 'model.width': 'model.width', 'rule.b-2': 'b_2'}
    """
    full = {field: field.replace("-", "_") for field in fields}
    last = {field: name.split(".")[-1] for field, name in full.items()}
    words = [*last.values(), *taken]
    return {
        field: word if words.count(word) == 1 else full[field]
        for field, word in last.items()
    }

"""A result in parts: each on disk as a whole or not at all.

What is interrupted goes on with the first part that is missing.
"""

import json
import shutil
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import xarray as xr

from piste.errors import InputError

from .checkpoint import write_atomically
from .manifest import FILE, FORMAT, environment
from .runs import alone


def part_places(folder: Path, count: int) -> list[Path]:
    """Where the parts are stored."""
    return [folder / f"batch-{number:03d}.zarr" for number in range(count)]


def parts_there(folder: Path, count: int) -> bool:
    """Whether no part is missing."""
    return all(place.exists() for place in part_places(folder, count))


def describe_parts(
    folder: Path, batch: int, base: Any, axes: Mapping[str, Sequence] | None = None
) -> None:
    """Say what is here; refuse a folder that another version wrote."""
    path = folder / FILE
    if path.exists():
        found = json.loads(path.read_text()).get("format")
        if found != FORMAT:
            raise InputError(
                f"store {folder}: format = {found}: written by another version of "
                f"piste; must be {FORMAT}; choose another folder with --out"
            )
        return
    varied = {name: list(values) for name, values in (axes or {}).items()}
    about = {"format": FORMAT, "experiment": base, "axes": varied, "batch": batch}
    about |= {"environment": environment()}
    text = json.dumps(about, indent=2, ensure_ascii=False)
    write_atomically(path, text.encode())


def in_parts(
    folder: Path,
    count: int,
    make: Callable[[int], xr.Dataset],
    after: Callable[[int, xr.Dataset], None],
    fresh: bool = False,
) -> list[xr.Dataset]:
    """Make the parts that are missing, one process at a time; return all of them."""
    found = []
    reading = not fresh and parts_there(folder, count)
    with nullcontext() if reading else alone(folder / ".lock"):
        for index, place in enumerate(part_places(folder, count)):
            if fresh or not place.exists():
                _store(make(index), place)
            found.append(xr.open_zarr(place, consolidated=False, chunks=None).load())
            after(index, found[-1])
    return found


def _store(data: xr.Dataset, place: Path) -> None:
    aside = place.with_suffix(".partial")
    shutil.rmtree(aside, ignore_errors=True)
    data.to_zarr(aside, zarr_format=3, consolidated=False)
    shutil.rmtree(place, ignore_errors=True)
    aside.rename(place)

"""Labelled arrays as Zarr: few files, checksums, attributes, and nothing filled in.

What is written here opens with a plain ``xarray.open_zarr(path)``, and with readers of
Zarr in other languages: shards of compressed chunks with a crc32c each, text of variable
length, and the metadata of all arrays in that of the group.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr
import zarr
from zarr.codecs import Crc32cCodec, ZstdCodec
from zarr.storage import LocalStore

from .files import delete, sync_folder, sync_tree
from .sealed import damaged

CHUNK = 2**18
"""Bytes that are compressed together, before compression; or one row if that is more."""
SHARD = 2**22
"""Bytes of an array that are kept in one file at least, if it has as many."""
MEMORY = 2**25
"""Bytes of all arrays that may wait for their files to be written."""


class Arrays:
    """A group of arrays that are written row by row, from first to last."""

    def __init__(self, folder: Path, attributes: Mapping[Any, Any]):
        delete(folder)
        self.folder = folder
        self.group = zarr.create_group(
            folder, zarr_format=3, attributes=_plain(attributes)
        )
        self.columns: dict[str, _Column] = {}

    def create(self, like: Mapping[Any, xr.Variable], rows: Mapping[str, int]):
        """Lay out arrays like these, with another number of rows for some dimensions."""
        together = sum(_row_bytes(each) for each in like.values() if each.ndim)
        for name, each in like.items():
            shape = tuple(
                rows.get(str(d), n) for d, n in zip(each.dims, each.shape, strict=True)
            )
            shard = max(SHARD, MEMORY * _row_bytes(each) // max(1, together))
            self.columns[str(name)] = _Column(
                _array(self.group, str(name), each, shape, shard)
            )

    def append(self, name: str, records: np.ndarray) -> None:
        """Add rows to an array; what fills a file is written."""
        self.columns[name].append(records)

    def close(self) -> None:
        """Write what is left, and flush all of it to the disk."""
        for column in self.columns.values():
            column.close()
        self._consolidate()
        sync_tree(self.folder)
        sync_folder(self.folder.parent)

    def _consolidate(self) -> None:
        """Put the metadata of all arrays into that of the group."""
        path = self.folder / "zarr.json"
        about = json.loads(path.read_bytes())
        parts = {
            name: json.loads((self.folder / name / "zarr.json").read_bytes())
            for name in self.columns
        }
        inline = {"kind": "inline", "must_understand": False, "metadata": parts}
        text = json.dumps(about | {"consolidated_metadata": inline}, indent=2)
        path.write_bytes(text.encode())


@dataclass
class _Column:
    """One array: rows that wait, and how many are written."""

    array: zarr.Array
    waiting: list[np.ndarray] = field(default_factory=list)
    written: int = 0

    def append(self, records: np.ndarray) -> None:
        left = self.array.shape[0] - self.written - sum(map(len, self.waiting))
        self.waiting.append(records[:left])  # records after a divergence are dropped
        shard = (self.array.shards or self.array.shape)[0]
        while sum(map(len, self.waiting)) >= shard > 0:
            rows = np.concatenate(self.waiting)
            self._write(rows[:shard])
            self.waiting = [rows[shard:]]

    def close(self) -> None:
        if any(map(len, self.waiting)):
            self._write(np.concatenate(self.waiting))
        self.waiting = []

    def _write(self, rows: np.ndarray) -> None:
        self.array[self.written : self.written + len(rows)] = rows
        self.written += len(rows)


def _array(
    group: zarr.Group,
    name: str,
    like: xr.Variable,
    shape: tuple[int, ...],
    shard: int,
) -> zarr.Array:
    rest = tuple(max(1, size) for size in shape[1:])
    rows = max(1, min(shape[0], CHUNK // max(1, _row_bytes(like)))) if shape else 1
    many = rows * max(1, shard // max(1, _row_bytes(like)) // rows)
    text = like.dtype.kind in "UOT"
    whole = not shape or text or shape[0] <= rows
    return group.create_array(
        name,
        shape=shape,
        dtype=str if text else like.dtype,
        chunks=(tuple(max(1, n) for n in shape) if whole else (rows, *rest)),
        shards=None if whole else (many, *rest),
        compressors=[ZstdCodec(), Crc32cCodec()],
        # Not zero, so that other readers too can see what is lost.
        fill_value=np.nan if like.dtype.kind == "f" else None,
        dimension_names=[str(dim) for dim in like.dims],
        attributes=_plain(like.attrs),
        chunk_key_encoding={"name": "default", "separator": "."},  # fewer folders
        config={"write_empty_chunks": True},  # what is absent is an error
    )


def _row_bytes(like: xr.Variable) -> int:
    return like.dtype.itemsize * int(np.prod(like.shape[1:]))


def _plain(attributes: Mapping[Any, Any]) -> dict[str, Any]:
    """Attributes as JSON has them: numbers of NumPy become those of Python."""
    text = json.dumps(dict(attributes), default=lambda given: given.item())
    return json.loads(text)


def write_dataset(folder: Path, data: xr.Dataset) -> None:
    """Store a dataset that is in memory."""
    others = [str(name) for name in data.coords if name not in data.dims]
    about = {"coordinates": " ".join(others)} if others else {}
    arrays = Arrays(folder, {**data.attrs, **about})
    arrays.create(data.variables, {})
    for name, variable in data.variables.items():
        if variable.ndim:
            arrays.append(str(name), variable.values)
        else:
            arrays.group[str(name)][...] = variable.values  # pyright: ignore
    arrays.close()


# --- reading --------------------------------------------------------------------------


class WholeStore(LocalStore):
    """Files of which none may be absent: Zarr would put the fill value there."""

    async def get(self, key, prototype=None, byte_range=None):
        """Read a file or a part of it; a block that is not there is an error."""
        found = await super().get(key, prototype, byte_range)
        name = key.rsplit("/", 1)[-1]
        if found is None and (name == "c" or name.startswith("c.")):
            raise damaged(self.root / key, "is missing")
        return found


def open_arrays(folder: Path) -> xr.Dataset:
    """Open arrays that were written here; they are read when used."""
    try:
        data = xr.open_zarr(WholeStore(folder, read_only=True), chunks=None)
    except (OSError, ValueError, KeyError) as error:
        words = " ".join(str(error).split())
        raise damaged(folder, f"cannot be opened ({words})") from None
    return _with_plain_text(data)


def _with_plain_text(data: xr.Dataset) -> xr.Dataset:
    """Text as NumPy has it by default, as in a dataset that was never stored."""
    for name, variable in data.variables.items():
        if variable.dtype.kind in "OT":
            text = np.array(variable.values.tolist(), str)
            plain = {name: (variable.dims, text, variable.attrs)}
            is_label = name in data.coords
            data = data.assign_coords(plain) if is_label else data.assign(plain)
    return data

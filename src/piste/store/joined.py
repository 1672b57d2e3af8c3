"""Stored parts as one dataset, without reading them.

``xarray.concat`` reads everything that it joins. A sweep may have more than fits in
memory, of which a reader wants one cell at a time.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import xarray as xr
from xarray.backends import BackendArray
from xarray.core import indexing

SMALL = 2**22
"""Bytes of an array that is read at once: many small reads would take longer."""


def join_parts(parts: Sequence[xr.Dataset], along: str) -> xr.Dataset:
    """Join datasets along a dimension that each has; arrays are read when they are used.

    Parts whose other axes differ are read and filled up, as ``xarray.concat`` does; a
    coordinate that only some of them have (the time of a flow) is NaN in the others.
    """
    if not all(_is_alike(parts[0], part, along) for part in parts):
        filled = _with_all_coordinates(parts)
        return xr.concat(filled, along, join="outer", combine_attrs="drop")
    joined = {
        name: _join([part.variables[name] for part in parts], along)
        for name in parts[0].variables
    }
    coords = {name: joined[name] for name in parts[0].coords}
    data = {name: given for name, given in joined.items() if name not in coords}
    return xr.Dataset(data, coords)


def _with_all_coordinates(parts: Sequence[xr.Dataset]) -> list[xr.Dataset]:
    """Give every part the coordinates of all others, as NaN where it has none."""
    every = {name: given for part in parts for name, given in part.coords.items()}

    def missing(part: xr.Dataset) -> dict:
        return {
            name: (given.dims, np.full([part.sizes[d] for d in given.dims], np.nan))
            for name, given in every.items()
            if name not in part.coords
        }

    return [part.assign_coords(missing(part)) for part in parts]


def _is_alike(first: xr.Dataset, other: xr.Dataset, along: str) -> bool:
    """Whether nothing but what lies along a dimension sets two parts apart."""
    # Shapes, types and shared values are compared; what lies along is not read.
    if set(first.variables) != set(other.variables):
        return False
    pairs = ((given, other.variables[n]) for n, given in first.variables.items())
    return all(_same_axes(one, two, along) for one, two in pairs)


def _same_axes(one: xr.Variable, two: xr.Variable, along: str) -> bool:
    if one.dims != two.dims or one.dtype != two.dtype:
        return False
    if along not in one.dims:
        return one.equals(two)
    return one.dims[0] == along and one.shape[1:] == two.shape[1:]


def _join(parts: list[xr.Variable], along: str) -> xr.Variable:
    first = parts[0]
    if along not in first.dims:
        return first  # all are equal, as _same_axes has seen
    if sum(part.nbytes for part in parts) <= SMALL:
        return xr.Variable.concat(parts, along, combine_attrs="override")
    lazy = indexing.LazilyIndexedArray(_Joined(parts))
    # What was read stays with the dataset that it was read for.
    return xr.Variable(first.dims, indexing.MemoryCachedArray(lazy), first.attrs)


class _Joined(BackendArray):
    """Arrays one after the other along their first axis."""

    def __init__(self, parts: list[xr.Variable]):
        self.parts = parts
        self.ends = np.cumsum([len(part) for part in parts])
        self.shape = (int(self.ends[-1]), *parts[0].shape[1:])
        self.dtype = parts[0].dtype

    def __getitem__(self, key: indexing.ExplicitIndexer) -> Any:
        # xarray turns every other kind of index into an outer one before it asks.
        kind = indexing.IndexingSupport.OUTER
        return indexing.explicit_indexing_adapter(key, self.shape, kind, self._read)

    def _read(self, key: tuple) -> np.ndarray:
        """Read an outer product of indices: numbers, slices and lists of places."""
        rows, rest = np.arange(self.shape[0])[key[0]], key[1:]
        if np.ndim(rows) == 0:
            return self._row(int(rows), rest)
        # One array that is filled: a list of rows would be a second copy of all.
        like = self.parts[0][(slice(0, 0), *rest)]
        found = np.empty((len(rows), *like.shape[1:]), self.dtype)
        for place, row in enumerate(rows):
            found[place] = self._row(int(row), rest)
        return found

    def _row(self, row: int, rest: tuple) -> np.ndarray:
        # From the right: a row that equals an end is the first of the next part.
        part = int(np.searchsorted(self.ends, row, side="right"))
        before = int(self.ends[part - 1]) if part else 0
        return np.asarray(self.parts[part][(row - before, *rest)].values)

"""A result in parts: each on disk as a whole or not at all.

What is interrupted goes on with the first part that is missing. A part counts when the
manifest lists its files.
"""

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import xarray as xr

from .arrays import open_arrays, write_dataset
from .folders import BuildFolder, Fresh, ResultAddress, StoredResult, building
from .inputs import Inputs
from .manifest import PARTS, Manifest
from .sealed import list_files

Make = Callable[[int, str], xr.Dataset]
"""Makes the part of a number, for an attempt to make all anew, or none."""
After = Callable[[int, xr.Dataset], None]
"""Told the number of each part that is there, and the part."""


@dataclass(frozen=True)
class Parts:
    """A result in so many parts, and where it is."""

    root: Path
    name: str
    what: str
    """Digest of all that fixes the result."""
    about: Any
    """The same in plain data, for the reader."""
    inputs: Inputs
    count: int

    @property
    def place(self) -> ResultAddress:
        """Its address."""
        return ResultAddress(self.root, self.name, self.what, self.inputs, PARTS)

    def find(self) -> StoredResult | None:
        """The complete result, if it is there."""
        return self.place.find()

    def compute(
        self, make: Make, after: After, fresh: Fresh = False
    ) -> list[xr.Dataset]:
        """Make the parts that are missing, one process at a time; return all of them.

        Their arrays are read when they are used: all of them may be more than fits.
        """
        if found := self.place.find_for(fresh):
            return self._read(found, after)
        with building(self.place, fresh) as site:
            # Another process may have ended it before the lock was ours.
            if found := self.place.find_for(fresh) or site.finish_again():
                return self._read(found, after)
            return self._read(self._build(site, make, after), _silent)

    def _build(self, site: BuildFolder, make: Make, after: After) -> StoredResult:
        begun = Manifest(self.name, self.what, self.about, self.inputs, PARTS)
        manifest = site.begin(begun)
        for index in range(self.count):
            if not _has(manifest, index):
                part = make(index, site.fresh)
                manifest = _store(site.folder, manifest, index, part)
            after(index, open_arrays(site.folder / _name(index)))
        return site.finish(manifest)

    def _read(self, found: StoredResult, after: After) -> list[xr.Dataset]:
        found.check()
        parts = []
        for index in range(self.count):
            part = open_arrays(found.folder / _name(index))
            parts.append(part.assign_attrs(notes=list(found.notes)))
            after(index, parts[-1])
        return parts


def _name(index: int) -> str:
    return f"part-{index:03d}.zarr"


def _has(manifest: Manifest, index: int) -> bool:
    return any(name.startswith(f"{_name(index)}/") for name in manifest.files)


def _store(folder: Path, manifest: Manifest, index: int, data: xr.Dataset) -> Manifest:
    """Write a part, and only then list its files: without that it does not count."""
    path = folder / _name(index)
    write_dataset(path, data)
    files = {f"{path.name}/{name}": facts for name, facts in list_files(path).items()}
    manifest = dataclasses.replace(manifest, files=manifest.files | files)
    manifest.write(folder)
    return manifest


def _silent(index: int, part: xr.Dataset) -> None:
    pass

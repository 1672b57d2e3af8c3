"""Where a result is: found by its address, built aside, put in place when it is whole.

An address has two parts: the digest of what was run, and that of its inputs. A folder
``NAME-ADDRESS`` is complete; ``NAME-ADDRESS.partial`` is being built, also when
``--fresh`` is to replace a complete one, which stays as it is until then.
"""

import dataclasses
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from piste.errors import InputError

from .files import (
    NEW,
    delete,
    discard,
    exclusive_lock,
    make_folder,
    make_synced,
    put_in_place,
    sweep_up,
    sync_folder,
)
from .formats import FILE, refuse_other_formats
from .inputs import Inputs
from .manifest import Manifest, differences, environment, read_manifest
from .sealed import check_files, list_files

PARTIAL = ".partial"

Fresh = bool | str
"""Whether to make it again; a word of its own stands for one such attempt."""


@dataclass(frozen=True)
class StoredResult:
    """A complete result: where it is, what it says, and what must be said of it."""

    folder: Path
    manifest: Manifest
    notes: tuple[str, ...] = ()

    def check(self) -> None:
        """Refuse a result of which a byte is not as it was written."""
        if read_complete(self.folder, self.manifest.kind) != self.manifest:
            raise InputError(f"{self.folder}: was replaced meanwhile; open it again")
        check_files(self.folder, self.manifest.files)


@dataclass(frozen=True)
class ResultAddress:
    """The address of a result in a folder of results of one kind."""

    root: Path
    name: str
    """Name of a new folder; one that is there is found whatever its name."""
    what: str
    """Digest of what was run."""
    inputs: Inputs
    kind: str

    @property
    def address(self) -> str:
        """The end of a folder's name."""
        return f"{self.what[:8]}-{self.inputs.digest[:8]}"

    @property
    def lock(self) -> Path:
        """The file to lock while it is built."""
        return self.root / f".{self.address}.lock"

    def folder(self) -> Path:
        """Its folder when it is complete, whether it is there or not."""
        refuse_other_formats(self.root)
        # A result that was begun under another name is gone on with under that name.
        begun = sorted(self.root.glob(f"*-{self.address}{PARTIAL}"))
        found = self._candidates() or [_without_suffix(path) for path in begun]
        return found[0] if found else self.root / f"{self.name}-{self.address}"

    def find(self) -> StoredResult | None:
        """The complete result of this address; compares sizes, and reads no array."""
        refuse_other_formats(self.root)
        for folder in self._candidates():
            manifest = read_complete(folder, self.kind)
            # A folder's name has eight digits of each digest; the manifest has all.
            if manifest.what == self.what and self.inputs.answered_by(manifest.inputs):
                return StoredResult(
                    folder, manifest, self.inputs.notes() + manifest.notes()
                )
        return None

    def _candidates(self) -> list[Path]:
        """The folder of the address; of whatever data, if they cannot be read here."""
        if not self.inputs.missing:
            return sorted(self.root.glob(f"*-{self.address}"))
        found = sorted(self.root.glob(f"*-{self.what[:8]}-????????"))
        # Without the data nothing tells which of several results is theirs.
        if len(found) > 1:
            names = ", ".join(path.name for path in found)
            raise InputError(
                f"{self.inputs.missing}; there are results of several data: {names}"
            )
        return found

    def find_for(self, fresh: Fresh) -> StoredResult | None:
        """What may be served: anything, or what this very attempt has made anew."""
        if not fresh:
            return self.find()
        try:
            found = self.find()
        except InputError:  # it is to be replaced, whatever is wrong with it
            return None
        return found if found and found.manifest.fresh == fresh else None


def _without_suffix(partial: Path) -> Path:
    return partial.with_name(partial.name.removesuffix(PARTIAL))


def read_complete(folder: Path, kind: str) -> Manifest:
    """The manifest of a complete result of which no file is missing or cut short."""
    manifest = read_manifest(folder, kind)
    if not manifest.complete:
        raise InputError(f"{kind} {folder}: not complete; its command goes on with it")
    # Sizes alone, which are quick; digests are compared when a result is opened.
    check_files(folder, manifest.files, content=False)
    return manifest


@dataclass(frozen=True)
class BuildFolder:
    """Where a result is being built, by the one process that holds its lock."""

    folder: Path
    """Where it is built."""
    final: Path
    """Where it will be."""
    manifest: Manifest | None
    """What is known of what is there already."""
    fresh: str
    """Identifies the attempt of ``--fresh`` that replaces a result; empty without it."""

    def begin(self, manifest: Manifest) -> Manifest:
        """Make the folder, or note in which environment its building goes on."""
        if self.manifest is None:
            make_synced(self.folder)
            begun = dataclasses.replace(manifest, fresh=self.fresh)
        else:
            begun = self.manifest.resumed()
        # Resumed in the environment in which it was begun: there is nothing to note.
        if begun != self.manifest:
            begun.write(self.folder)
        return begun

    def finish(self, manifest: Manifest, without: tuple[str, ...] = ()) -> StoredResult:
        """List all files, and put the folder in place without some of its entries.

        Every file must have been flushed by whoever wrote it.
        """
        files = list_files(self.folder, without=(FILE, *without))
        manifest = dataclasses.replace(manifest, complete=True, files=files)
        # Before the folder moves: a process that ends in between is finished again.
        manifest.write(self.folder)
        return self._move(manifest, without)

    def finish_again(self, without: tuple[str, ...] = ()) -> StoredResult | None:
        """Repeat the last step of a process that was killed after it had all."""
        if self.manifest is None or not self.manifest.complete:
            return None
        return self._move(self.manifest, without)

    def _move(self, manifest: Manifest, without: tuple[str, ...]) -> StoredResult:
        for name in without:
            delete(self.folder / name)
        # The names in it must be on the disk before it gets its own.
        sync_folder(self.folder)
        put_in_place(self.folder, self.final)
        # As anybody else reads it: a tuple has become a list.
        manifest = read_complete(self.final, manifest.kind)
        return StoredResult(self.final, manifest, manifest.notes())


Check = Callable[[Path, Manifest], None]
"""Refuses a folder that cannot be gone on with, because something in it is damaged."""


def _nothing_more(folder: Path, manifest: Manifest) -> None:
    pass


@contextmanager
def building(
    place: ResultAddress, fresh: Fresh = False, check: Check = _nothing_more
) -> Iterator[BuildFolder]:
    """Hold the lock of an address, and give the folder to build in or to go on with."""
    make_folder(place.root)
    with exclusive_lock(place.lock):
        # Looked up under the lock: another process may have finished it meanwhile.
        final = place.folder()
        partial = final.with_name(final.name + PARTIAL)
        sweep_up(place.root, partial)
        manifest = _kept(partial, place.kind, check, fresh)
        # What is resumed keeps the word of the attempt that began it.
        attempt = manifest.fresh if manifest else _attempt(fresh)
        yield BuildFolder(partial, final, manifest, attempt)


def _attempt(fresh: Fresh) -> str:
    return secrets.token_hex(4) if fresh is True else fresh or ""


def _kept(partial: Path, kind: str, check: Check, fresh: Fresh) -> Manifest | None:
    manifest = resumable(partial, kind, check, fresh)
    if manifest is None:
        discard(partial)
    return manifest


def resumable(
    partial: Path, kind: str, check: Check = _nothing_more, fresh: Fresh = False
) -> Manifest | None:
    """The manifest of what can be gone on with, if there is anything.

    Damage is an error, unless all is to be made anew.
    """
    # A file that was still being written when its process ended counts for nothing.
    begun = partial.is_dir() and [p for p in partial.iterdir() if p.suffix != NEW]
    if not begun:
        return None
    try:
        manifest = read_manifest(partial, kind)
        _check_all(partial, manifest, check)
    except InputError:
        if not fresh:
            raise
        return None
    return manifest if not fresh or begun_by(manifest, fresh) else None


def _check_all(partial: Path, manifest: Manifest, check: Check) -> None:
    check_files(partial, manifest.files)
    # A complete manifest lists every file, so that all have been checked.
    if not manifest.complete:
        check(partial, manifest)


def begun_by(manifest: Manifest, fresh: Fresh) -> bool:
    """Whether a partial result was begun to replace one, in the same environment."""
    # --fresh goes on with what an earlier one began, unless the environment changed.
    if fresh is True:
        same = not differences(manifest.environment, environment())
        return bool(manifest.fresh) and same
    return manifest.fresh == fresh

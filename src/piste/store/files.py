"""Files and folders that are whole or absent, also after a crash or a loss of power.

A file is written aside, flushed to the disk and renamed; then its folder is flushed,
because a rename is a change of the folder. A folder is deleted in two steps: renamed to
a name that nobody reads, then emptied.
"""

import errno
import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import filelock

from piste.errors import field_error

NEW = ".new"
"""Ending of a file that is being written."""
TRASH = ".trash"
"""Ending of what is being deleted."""


def write_atomically(path: Path, *pieces: bytes | memoryview) -> None:
    """Write a file aside, flush it, then rename it: it is whole or absent."""
    aside = path.with_name(path.name + NEW)
    with open(aside, "wb") as file:
        for piece in pieces:
            file.write(piece)
        file.flush()
        os.fsync(file.fileno())
    os.replace(aside, path)
    sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Flush the names in a folder to the disk."""
    if os.name == "nt":  # folders cannot be opened there
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno != errno.EINVAL:  # a file system that has no such thing
            raise
    finally:
        os.close(descriptor)


def make_synced(folder: Path) -> None:
    """Make a folder, and flush its name; its parent must be there."""
    folder.mkdir(exist_ok=True)
    sync_folder(folder.parent)


def sync_tree(folder: Path) -> None:
    """Flush all files of a folder, then the folders, the inner ones first."""
    for inner, _, names in os.walk(folder, topdown=False):
        for name in sorted(names):
            with open(os.path.join(inner, name), "rb+") as file:
                os.fsync(file.fileno())
        sync_folder(Path(inner))


# --- deleting and replacing -----------------------------------------------------------


def discard(folder: Path) -> None:
    """Delete a folder; nobody ever sees half of it under its name."""
    if os.path.lexists(folder):
        trash = _to_trash(folder)
        sync_folder(folder.parent)
        delete(trash)


def put_in_place(built: Path, final: Path) -> None:
    """Give a whole folder its name; what had the name before is deleted afterwards.

    A crash between the two renames leaves nothing under the name and the new folder
    whole under the old one: the next process repeats the second.
    """
    trash = _to_trash(final) if os.path.lexists(final) else None
    os.rename(built, final)
    sync_folder(final.parent)
    if trash is not None:
        delete(trash)


def _to_trash(path: Path) -> Path:
    trash = path.with_name(f".{path.name}.{secrets.token_hex(4)}{TRASH}")
    os.rename(path, trash)
    return trash


def delete(path: Path) -> None:
    """Delete a file or folder that nobody reads any more; what resists stays."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def sweep_up(root: Path, partial: Path) -> None:
    """Remove what killed processes left: trash, and files that were being written.

    Only for the process that holds the lock of the partial folder. Trash may go at any
    time, whoever made it.
    """
    for trash in root.glob(f".*{TRASH}"):
        delete(trash)
    for aside in partial.rglob(f"*{NEW}"):
        delete(aside)


# --- locks ----------------------------------------------------------------------------


@contextmanager
def exclusive_lock(path: Path) -> Iterator[None]:
    """Hold a lock that the system releases even when the process is killed."""
    lock = filelock.FileLock(path)
    try:
        lock.acquire(timeout=0)
    except filelock.Timeout:
        running = "another process is already running this experiment"
        raise field_error("out", path.parent, running) from None
    try:
        yield
    finally:
        try:
            path.unlink(missing_ok=True)
        finally:
            lock.release()


def make_folder(path: Path) -> None:
    """Make a folder that can be written, or say in one line why not."""
    try:
        missing = [folder for folder in (path, *path.parents) if not folder.exists()]
        for folder in reversed(missing):
            make_synced(folder)
        path.mkdir(exist_ok=True)
        probe = path / ".piste-can-write"
        probe.touch()
        probe.unlink()
    except OSError as error:
        expected = f"must be a folder that can be written ({error.strerror})"
        raise field_error("out", path, expected) from None

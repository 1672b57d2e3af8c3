"""A process that ends at any operation on files, and a disk that forgets.

`Disk` watches everything below one folder. It numbers the operations that change files
(opening for writing, writing, flushing, renaming, deleting, making folders), and ends the
process at one of them: before it, or halfway through a write. From then on every
operation fails, as it would for a process that is dead.

It also keeps what a loss of power would leave: names and content count only once they
were flushed. `surviving` writes that state to another folder.
"""

import builtins
import io
import os
import shutil
from collections.abc import Callable
from pathlib import Path

from piste.errors import InputError


class Crash(BaseException):
    """The end of the process; no handler of ordinary errors sees it."""


def crash() -> None:
    raise Crash


CHANGES = ("replace", "rename", "link", "unlink", "remove", "rmdir", "mkdir", "fsync")
WRITING = set("wax+")


class Disk:
    """Numbers the operations below a folder, and ends the process at one of them."""

    def __init__(
        self, root: Path, stop_at: int = -1, half: bool = False, end=crash
    ) -> None:
        self.root, self.stop_at, self.half = str(root.resolve()), stop_at, half
        self.end: Callable[[], None] = end
        self.operations: list[str] = []
        self.dead = False
        self.real = {name: getattr(os, name) for name in (*CHANGES, "open")}
        self.real_open = io.open
        self._births: dict[int, int] = {}
        self._content: dict[tuple[int, int], bytes] = {}
        self._names: dict[tuple[int, int], dict[str, tuple[int, int]]] = {}
        self._assume_flushed(Path(self.root))

    # --- watching -----------------------------------------------------------------

    def __enter__(self) -> "Disk":
        for name in CHANGES:
            setattr(os, name, self._watched(name))
        os.open = self._os_open
        io.open = builtins.open = self._open
        return self

    def __exit__(self, *_) -> None:
        for name, function in self.real.items():
            setattr(os, name, function)
        io.open = builtins.open = self.real_open

    def _watched(self, name: str):
        real = self.real[name]

        def operation(target, *rest, **options):
            if not self._is_here(target, options):
                return real(target, *rest, **options)
            self._count(f"{name} {self._label(target, options)}")
            found = real(target, *rest, **options)
            if name == "fsync":
                self._flushed(target)
            if name == "mkdir":
                self._born(os.stat(target))
                self._names[self._key(os.stat(target))] = {}
            return found

        return operation

    def _os_open(self, path, flags, *rest, **options):
        if flags & os.O_CREAT and self._is_here(path, options):
            self._count(f"open {self._label(path)}")
        return self.real["open"](path, flags, *rest, **options)

    def _open(self, file, mode="r", *rest, **options):
        if not (WRITING & set(mode)) or not self._is_here(file, {}):
            return self.real_open(file, mode, *rest, **options)
        if "+" not in mode:  # that is how files are opened to be flushed
            self._count(f"open {self._label(file)}")
        found = self.real_open(file, mode, *rest, **options)
        if "w" in mode:
            self._born(os.stat(file))
        return _File(self, found, self._label(file))

    def _is_here(self, target, options: dict) -> bool:
        return self._path(target, options).startswith(self.root)

    def _path(self, target, options: dict) -> str:
        path = _path_of(target) if isinstance(target, int) else os.fspath(target)
        if options.get("dir_fd") is not None:
            path = os.path.join(_path_of(options["dir_fd"]), path)
        return os.path.abspath(path)

    def _label(self, target, options: dict | None = None) -> str:
        return os.path.relpath(self._path(target, options or {}), self.root)

    def _count(self, label: str) -> None:
        if self.dead or len(self.operations) == self.stop_at:
            self.dead = True
            self.end()
        self.operations.append(label)

    # --- what a loss of power leaves --------------------------------------------------

    def _assume_flushed(self, folder: Path) -> None:
        for inner, _, names in os.walk(folder):
            self._remember_names(inner)
            for name in names:
                path = os.path.join(inner, name)
                self._content[self._key(os.stat(path))] = Path(path).read_bytes()

    def _key(self, found: os.stat_result) -> tuple[int, int]:
        """A file system gives the number of a deleted file to a new one."""
        return found.st_ino, self._births.get(found.st_ino, 0)

    def _born(self, found: os.stat_result) -> None:
        self._births[found.st_ino] = self._births.get(found.st_ino, 0) + 1

    def _flushed(self, descriptor: int) -> None:
        path = _path_of(descriptor)
        if os.path.isdir(path):
            self._remember_names(path)
        else:
            with self.real_open(path, "rb") as file:
                self._content[self._key(os.stat(path))] = file.read()

    def _remember_names(self, folder: str) -> None:
        entries = {e.name: self._key(os.stat(e.path)) for e in os.scandir(folder)}
        self._names[self._key(os.stat(folder))] = entries

    def surviving(self, target: Path) -> None:
        """Only what was flushed: names of folders that were, content of files that were."""
        self._restore(self._key(os.stat(self.root)), target)

    def _restore(self, folder: tuple[int, int], target: Path) -> None:
        target.mkdir(exist_ok=True)
        for name, key in self._names[folder].items():
            if key in self._names:
                self._restore(key, target / name)
            else:
                (target / name).write_bytes(self._content.get(key, b""))

    def surviving_names(self, target: Path) -> None:
        """All names as they are, but only the content that was flushed."""
        for inner, _, names in os.walk(self.root):
            copy = target / os.path.relpath(inner, self.root)
            copy.mkdir(exist_ok=True)
            for name in names:
                key = self._key(os.stat(os.path.join(inner, name)))
                (copy / name).write_bytes(self._content.get(key, b""))


class _File:
    """A file whose writes are counted, and may end halfway."""

    def __init__(self, disk: Disk, file, label: str):
        self._disk, self._file, self._label = disk, file, label

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._file.close()

    def __getattr__(self, name: str):
        return getattr(self._file, name)

    def write(self, content):
        disk = self._disk
        if disk.half and len(disk.operations) == disk.stop_at:
            self._file.write(bytes(content)[: len(bytes(content)) // 2])
            self._file.flush()
        disk._count(f"write {self._label}")
        return self._file.write(content)


def _path_of(descriptor: int) -> str:
    return os.readlink(f"/proc/self/fd/{descriptor}")


# --- damage ---------------------------------------------------------------------------


def flip(path: Path, place: float = 0.5) -> None:
    """Change one bit."""
    content = bytearray(path.read_bytes())
    content[int(place * (len(content) - 1))] ^= 1
    path.write_bytes(content)


def truncate(path: Path) -> None:
    """Lose the second half."""
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2])


def empty(path: Path) -> None:
    """Lose all content."""
    path.write_bytes(b"")


def remove(path: Path) -> None:
    """Lose the file."""
    path.unlink()


def replace_by_folder(path: Path) -> None:
    """A folder in place of the file."""
    path.unlink()
    path.mkdir()


DAMAGES = (flip, truncate, empty, remove, replace_by_folder)


def files_below(folder: Path) -> list[Path]:
    """All files of a folder, in a fixed order."""
    return sorted(path for path in folder.rglob("*") if path.is_file())


def assert_every_damage_is_named(
    folder: Path,
    ask: Callable[[], object],
    places: tuple[float, ...] = (0.0, 0.5, 1.0),
    every: int = 1,
) -> None:
    """Damage every file in every way: the answer is one line that names the file.

    ``every`` leaves out all but one in so many files.
    """
    for path in files_below(folder)[::every]:
        content = path.read_bytes()
        flips = [lambda p, at=at: flip(p, at) for at in places]
        for damage in (*flips, *DAMAGES[1:]):
            damage(path)
            words = _refusal(ask)
            assert str(path) in words or path.parent.name in words, (path, words)
            assert "\n" not in words
            if path.is_dir():
                shutil.rmtree(path)
            path.write_bytes(content)


def _refusal(ask: Callable[[], object]) -> str:
    try:
        ask()
    except InputError as error:
        return str(error)
    raise AssertionError("damaged results were served")

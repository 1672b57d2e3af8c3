"""Where the files of a data set are: a folder, the environment, or the user's cache.

The order is the folder given, then the folder in ``PISTE_DATA``, then the cache, which
is filled from public mirrors. Wherever they come from, original files are compared with
their sha256; tables and folders that a user made have none.
"""

import gzip
import hashlib
import io
import os
import shutil
import tempfile
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from piste.errors import InputError, field_error

VARIABLE = "PISTE_DATA"
TIMEOUT = 3, 15
"""Seconds to wait for a connection, and for the next bytes."""


@dataclass(frozen=True)
class File:
    """How to know an original file."""

    size: int
    sha256: str


@dataclass(frozen=True)
class Source:
    """The public files of a data set, and the mirrors that serve them."""

    name: str
    files: Mapping[str, File]
    mirrors: tuple[str, ...]
    """Addresses to which a file's name is added, tried in turn."""


def locate(source: Source, folder: str = "") -> Path:
    """The folder that holds all files of the data set, each as in the original."""
    if folder:
        return _given(source, "folder", folder)
    if os.environ.get(VARIABLE):
        return _given(source, VARIABLE, os.environ[VARIABLE])
    return _cached(source)


# --- a folder of the user's -----------------------------------------------------------


def _given(source: Source, field: str, folder: str) -> Path:
    """Check a folder that holds the files, itself or one level down."""
    path = Path(folder).expanduser()
    inner = path / source.name
    allowed = f"must hold {source.name}/ or {', '.join(source.files)}"
    if not path.is_dir():
        raise folder_error(field, folder, f"is not a folder; {allowed}")
    path = inner if inner.is_dir() else path
    for name, file in source.files.items():
        if not (path / name).is_file():
            where = f"{source.name}/ " if path == inner else ""
            raise folder_error(field, folder, f"{where}has no {name}; {allowed}")
        _verify(path / name, file)
    return path


def folder_error(field: str, folder: str, expected: str) -> InputError:
    """The error for a folder that a field of the task or a variable names."""
    if field == VARIABLE:  # no field of a value: its name is not to be spelt otherwise
        return InputError(f"{VARIABLE} = {folder}: {expected}")
    return field_error(field, Path(folder), expected)


def _verify(path: Path, file: File) -> None:
    try:
        size = path.stat().st_size
        found = _sha256(path) if size == file.size else ""
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror})") from None
    if size != file.size:
        fault = "truncated" if size < file.size else "altered"
        fault = f"is {fault} ({size} of {file.size} bytes)"
        raise InputError(f"{path}: {fault}; must be the original")
    if found != file.sha256:
        sums = f"sha256 {found[:8]}…, not {file.sha256[:8]}…"
        raise InputError(f"{path}: is altered ({sums}); must be the original")


def _sha256(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


# --- the user's cache -----------------------------------------------------------------


def _cached(source: Source) -> Path:
    """Fetch what the cache lacks: all of it, or the cache stays as it was."""
    # pooch brings requests along, which only a download needs.
    import pooch

    folder = Path(pooch.os_cache("piste")) / source.name
    missing = [name for name in source.files if not _is_kept(source, folder / name)]
    if missing:
        with tempfile.TemporaryDirectory() as aside:
            for name in missing:
                _download(source, name, aside, folder)
            _keep([Path(aside, name) for name in missing], folder)
    return folder


def _is_kept(source: Source, path: Path) -> bool:
    return path.is_file() and _sha256(path) == source.files[path.name].sha256


def _download(source: Source, name: str, aside: str, folder: Path) -> None:
    """Fetch one file from the first mirror that serves the original."""
    import pooch

    pooch.get_logger().setLevel("WARNING")
    failures = []
    for mirror in source.mirrors:
        try:
            pooch.retrieve(
                mirror + name,
                known_hash=f"sha256:{source.files[name].sha256}",
                path=aside,
                fname=name,
                downloader=pooch.HTTPDownloader(timeout=TIMEOUT),  # type: ignore
            )
            return
        except (OSError, ValueError) as error:
            failures.append(_reason(error))
    reasons = ", ".join(dict.fromkeys(failures))
    raise field_error(
        "dataset",
        source.name,
        f"{name} is not in the cache {folder} and cannot be downloaded ({reasons}); "
        f"give its folder by the field folder or by {VARIABLE}",
    )


def _reason(error: Exception) -> str:
    """Why a mirror failed; pooch raises a ValueError for a wrong checksum."""
    import requests

    if isinstance(error, requests.HTTPError) and error.response is not None:
        return f"HTTP status {error.response.status_code}"
    if isinstance(error, (requests.ConnectionError, requests.Timeout)):
        return "no network"
    if isinstance(error, requests.RequestException):
        return type(error).__name__
    altered = not isinstance(error, OSError)
    return "a mirror serves an altered file" if altered else str(error.strerror)


def _keep(files: list[Path], folder: Path) -> None:
    """Put files into the cache, each whole or not at all."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for file in files:
            _put(file, folder)
    except OSError as error:
        expected = f"give a folder by the field folder or by {VARIABLE}"
        raise InputError(f"cache {folder}: {error.strerror}; {expected}") from None


def _put(file: Path, folder: Path) -> None:
    part = folder / f".{file.name}.{os.getpid()}"
    try:
        shutil.copyfile(file, part)
        part.replace(folder / file.name)
    finally:
        part.unlink(missing_ok=True)


# --- reading, within limits -----------------------------------------------------------

LARGEST = 2**28
"""Bytes to which a compressed file may expand: eight times the largest that we know."""


class SizeLimitedReader(io.RawIOBase):
    """A stream that refuses to give more than so many bytes: a bomb, not data.

    A gzip file can be a thousandth of its content, so its size on disk says nothing.
    """

    def __init__(self, path: Path, stream: io.BufferedIOBase, largest: int = LARGEST):
        super().__init__()
        self._path, self._stream, self._left = path, stream, largest
        self._largest = largest

    def readable(self) -> bool:
        """Yes."""
        return True

    def read(self, size: int = -1) -> bytes:
        """The next bytes, at most so many; all that are left by default."""
        if size < 0:
            return b"".join(iter(lambda: self.read(2**20), b""))
        content = self._stream.read(size)
        self._left -= len(content)
        if self._left < 0:
            expected = f"must be at most {self._largest} bytes when expanded"
            raise InputError(f"{self._path}: {expected}")
        return content


def unzipped(path: Path, largest: int = LARGEST) -> bytes:
    """The content of a gzip file, or one line that says what is wrong with it."""
    check_file(path)
    try:
        with gzip.GzipFile(path) as stream:
            return SizeLimitedReader(path, stream, largest).read()
    except EOFError:
        raise InputError(f"{path}: is truncated; must be a whole gzip file") from None
    except (gzip.BadGzipFile, zlib.error) as error:
        raise InputError(f"{path}: is damaged ({error}); must be a gzip file") from None
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror})") from None


def check_file(path: Path) -> None:
    """Refuse what is there and no file: a pipe or a device may be read without end."""
    if path.exists() and not path.is_file():
        raise InputError(f"{path}: is not a file; must be one")

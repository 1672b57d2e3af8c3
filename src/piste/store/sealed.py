"""Content with a digest: arrays in one file, and lists of the files of a folder."""

import hashlib
import io
import json
import os
import stat
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from piste.errors import InputError

from .files import NEW, write_atomically

_DIGEST = hashlib.sha256
_LENGTH = 32

Files = dict[str, list]
"""Size and digest of every file, by its path in the folder."""


def damaged(path: Path, reason: str) -> InputError:
    """The error for a file that is not as it was written."""
    return InputError(
        f"{path}: {reason}; must be as piste wrote it (--fresh makes it again)"
    )


def read_whole(path: Path) -> bytes:
    """All bytes of a file, or one line that names it."""
    try:
        if path.exists() and not (path.is_file() or path.is_dir()):
            raise damaged(path, "is not a file")  # a pipe would wait for its writer
        return path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        raise damaged(path, "is missing") from None
    except OSError as error:
        raise damaged(path, f"cannot be read ({error.strerror})") from None


# --- arrays in one file ---------------------------------------------------------------


def seal(path: Path, arrays: Mapping[str, Any]) -> None:
    """Store arrays by name in one file, behind the digest of its content."""
    buffer = io.BytesIO()
    plain: Any = {name: np.asarray(array) for name, array in arrays.items()}
    np.savez(buffer, **plain)
    content = buffer.getbuffer()
    write_atomically(path, _DIGEST(content).digest(), content)


def unseal(path: Path) -> dict[str, np.ndarray]:
    """Read arrays that were sealed; every change of a byte is found."""
    content = read_whole(path)
    digest, content = content[:_LENGTH], memoryview(content)[_LENGTH:]
    if _DIGEST(content).digest() != digest:
        raise damaged(path, "is damaged")
    with np.load(io.BytesIO(content), allow_pickle=False) as file:
        return {name: file[name] for name in file.files}


# --- plain data -----------------------------------------------------------------------


def seal_json(path: Path, data: dict[str, Any]) -> None:
    """Store data as JSON that one can read, with a digest of the rest of it."""
    plain = json.loads(json.dumps(data, default=lambda given: given.item()))
    content = plain | {"digest": _json_digest(plain)}
    text = json.dumps(content, indent=2, ensure_ascii=False)
    write_atomically(path, text.encode())


def unseal_json(path: Path) -> dict[str, Any]:
    """Read what was sealed; data that never had a digest are returned as they are."""
    content = read_whole(path)
    try:
        data = json.loads(content)
    except (ValueError, RecursionError):
        raise damaged(path, "is damaged") from None
    if not isinstance(data, dict):
        raise damaged(path, "is damaged")
    digest = data.pop("digest", None)
    if digest is not None and digest != _json_digest(data):
        raise damaged(path, "is damaged")
    return data | ({} if digest is None else {"digest": digest})


def _json_digest(data: dict[str, Any]) -> str:
    text = json.dumps(data, sort_keys=True, ensure_ascii=False)
    return _DIGEST(text.encode()).hexdigest()


# --- the files of a folder ------------------------------------------------------------


def list_files(folder: Path, without: Iterable[str] = ()) -> Files:
    """Size and digest of every file below a folder, without some of its entries."""
    paths = sorted(path for path in folder.rglob("*") if not path.is_dir())
    names = {path.relative_to(folder).as_posix(): path for path in paths}
    return {
        name: [path.stat().st_size, file_digest(path)]
        for name, path in names.items()
        if name.split("/")[0] not in without and not name.endswith(NEW)
    }


def file_digest(path: Path) -> str:
    """The digest of a file's content, read piece by piece."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, _DIGEST).hexdigest()


def check_files(folder: Path, files: Files, content: bool = True) -> None:
    """Compare a folder with its list: sizes alone, or all bytes."""
    for name, (size, digest) in files.items():
        path = folder / name
        try:
            _check_size(path, os.stat(path), size)
            if content and file_digest(path) != digest:
                raise damaged(path, "is damaged")
        except (FileNotFoundError, NotADirectoryError):
            raise damaged(path, "is missing") from None
        except OSError as error:
            raise damaged(path, f"cannot be read ({error.strerror})") from None


def _check_size(path: Path, found: os.stat_result, size: int) -> None:
    if not stat.S_ISREG(found.st_mode):
        raise damaged(path, "is not a file")
    if found.st_size != size:
        raise damaged(path, f"has {found.st_size} of {size} bytes")

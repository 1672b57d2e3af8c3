"""Film reviews of IMDb, each positive or negative (Maas et al. 2011).

They are read from the original archive, from its extracted folders, or from two tables.
However they come, they are put into one order, so that a seed splits them alike.
"""

import csv
import functools
import gzip
import io
import os
import re
import tarfile
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from piste.errors import InputError, field_error, shown

from ._base import TextSet
from .cache import (
    VARIABLE,
    File,
    SizeLimitedReader,
    Source,
    check_file,
    folder_error,
    locate,
    unzipped,
)

ARCHIVE = "aclImdb_v1.tar.gz"
FOLDER = "aclImdb"
PARTS = ("train", "test")
LABELS = {"neg": 0, "pos": 1}

SOURCE = Source(
    name="imdb",
    files={
        ARCHIVE: File(
            size=84125825,
            sha256="c40f74a18d3b61f90feba1e17730e0d38e8b97c05fde7008942e91923d1658fe",
        )
    },
    mirrors=(
        "https://ai.stanford.edu/~amaas/data/sentiment/",
        "https://d2l-data.s3-accelerate.amazonaws.com/",
    ),
)

Review = tuple[str, int]

LONGEST_LINE = 2**20
"""Characters in a line of a table."""
LONGEST = 2**24
"""Bytes that a review may have, some thousand times the longest of the original."""
EXPANDED = 2**30
"""Bytes to which the archive may expand; the original has 0.3 GB."""


def load(folder: str = "") -> TextSet:
    """Load all reviews of a folder, of the one in ``PISTE_DATA``, or of the cache.

    A folder has (itself or in ``imdb/``) tables ``train.csv.gz`` and ``test.csv.gz`` with
    columns ``label`` (1 for positive) and ``text``, the folders ``aclImdb/``, or the
    original archive. The original has 25,000 reviews for training and for testing.
    """
    given = folder or os.environ.get(VARIABLE, "")
    if given:
        return _load(*_found("folder" if folder else VARIABLE, given))
    return _load("archive", locate(SOURCE) / ARCHIVE)


def _found(field: str, folder: str) -> tuple[str, Path]:
    """What a folder of the user's holds, and where."""
    top = Path(folder).expanduser()
    tables = " and ".join(f"{part}.csv.gz" for part in PARTS)
    allowed = f"must hold imdb/ or {tables}, {FOLDER}/ or {ARCHIVE}"
    if not top.is_dir():
        raise folder_error(field, folder, f"is not a folder; {allowed}")
    path = top / "imdb" if (top / "imdb").is_dir() else top
    if any((path / f"{part}.csv.gz").exists() for part in PARTS):
        return "tables", path
    for inner in (path / FOLDER, path):
        if (inner / "train").is_dir():
            return "folders", inner
    if (path / ARCHIVE).exists():
        return "archive", locate(SOURCE, str(path)) / ARCHIVE
    where = "imdb/ " if path != top else ""
    raise folder_error(field, folder, f"{where}has no reviews; {allowed}")


@functools.lru_cache(maxsize=1)
def _load(kind: str, path: Path) -> TextSet:
    parts = READERS[kind](path)
    train, test = (_ordered(parts[part]) for part in PARTS)
    return TextSet(*train, *test)


def _ordered(reviews: Iterable[Review]) -> tuple[tuple[str, ...], np.ndarray]:
    """Texts in alphabetical order, with their labels."""
    pairs = sorted(reviews)
    labels = np.array([label for _, label in pairs], np.int64)
    return tuple(text for text, _ in pairs), labels


def _checked(text: str, place: str) -> str:
    if not text.strip():
        raise InputError(f"{place}: the review is empty; must have text")
    return text


def _decoded(content: bytes, place: str) -> str:
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        byte = f"byte 0x{content[error.start]:02x} at {error.start}"
        raise InputError(f"{place}: is not UTF-8 ({byte}); must be UTF-8") from None


# --- tables ---------------------------------------------------------------------------


def _tables(path: Path) -> dict[str, list[Review]]:
    return {part: read_table(path / f"{part}.csv.gz") for part in PARTS}


def read_table(path: Path) -> list[Review]:
    """Read a compressed table with the columns ``label`` and ``text``."""
    rows = csv.reader(_lines(path, _decoded(unzipped(path), str(path))))
    try:
        header = next(rows, [])
        for name in ("label", "text"):
            if name not in header:
                found = shown(",".join(header)) or "nothing"
                expected = "must have columns label and text"
                raise InputError(f"{path}: has no column {name} ({found}); {expected}")
        reviews = [_row(path, rows.line_num, header, row) for row in rows]
    except csv.Error as error:
        raise InputError(f"{path}: line {rows.line_num}: {error}") from None
    if not reviews:
        raise InputError(f"{path}: has no reviews; must have one or more rows")
    return reviews


def _lines(path: Path, text: str) -> Iterator[str]:
    """The lines of a table; one without end would be a row of any number of fields."""
    for number, line in enumerate(io.StringIO(text, newline=""), 1):
        if len(line) > LONGEST_LINE:
            expected = f"must be at most {LONGEST_LINE}"
            raise InputError(
                f"{path}: line {number}: {len(line)} characters; {expected}"
            )
        yield line


def _row(path: Path, line: int, header: list[str], row: list[str]) -> Review:
    place = f"{path}: line {line}"
    if len(row) != len(header):
        raise InputError(f"{place}: has {len(row)} fields; must have {len(header)}")
    fields = dict(zip(header, row, strict=True))
    if fields["label"] not in ("0", "1"):
        fault = field_error("label", fields["label"], "must be 0 or 1")
        raise InputError(f"{place}: {fault}")
    return _checked(fields["text"], place), int(fields["label"])


# --- the extracted folders, and the archive -------------------------------------------


def _folders(path: Path) -> dict[str, list[Review]]:
    return {part: list(_reviews_below(path / part)) for part in PARTS}


def _reviews_below(folder: Path) -> Iterator[Review]:
    for name, label in LABELS.items():
        files = sorted((folder / name).glob("*.txt"))
        if not files:
            raise InputError(f"{folder / name}: has no reviews; must have .txt files")
        for file in files:
            yield _checked(_decoded(_content(file), str(file)), str(file)), label


def _content(file: Path) -> bytes:
    check_file(file)
    try:
        with file.open("rb") as stream:
            return SizeLimitedReader(file, stream, LONGEST).read()
    except OSError as error:
        raise InputError(f"{file}: cannot be read ({error.strerror})") from None


_MEMBER = re.compile(rf"{FOLDER}/(train|test)/(neg|pos)/[^/]+\.txt")


def read_archive(path: Path) -> dict[str, list[Review]]:
    """Read the labelled reviews of the archive, without extracting it."""
    check_file(path)
    parts: dict[str, list[Review]] = {part: [] for part in PARTS}
    try:
        with gzip.GzipFile(path) as stream:
            # A header can promise any size, so what is read is counted, too.
            limited: Any = SizeLimitedReader(path, stream, EXPANDED)
            with tarfile.open(fileobj=limited, mode="r|") as archive:
                for part, review in _reviews_in(archive, path):
                    parts[part].append(review)
    except (tarfile.TarError, EOFError, zlib.error, OSError) as error:
        raise InputError(f"{path}: is damaged ({error}); must be {ARCHIVE}") from None
    if not all(parts.values()):
        raise InputError(f"{path}: has no reviews; must be {ARCHIVE}")
    return parts


def _reviews_in(archive: tarfile.TarFile, path: Path) -> Iterator[tuple[str, Review]]:
    for member in archive:
        match = _MEMBER.fullmatch(member.name)
        file = archive.extractfile(member) if match else None
        if match and file:
            place = f"{path}: {member.name}"
            if member.size > LONGEST:
                expected = f"must be at most {LONGEST}"
                raise InputError(f"{place}: has {member.size} bytes; {expected}")
            text = _checked(_decoded(file.read(), place), place)
            yield match[1], (text, LABELS[match[2]])


READERS = {"tables": _tables, "folders": _folders, "archive": read_archive}

import csv
import gzip
import hashlib
import io
import os
import tarfile
from pathlib import Path

import numpy as np
import pytest

from piste.datasets import imdb
from piste.datasets.cache import File, Source
from piste.errors import InputError

DATA = Path(os.environ.get("PISTE_DATA", ""))
needs_imdb = pytest.mark.skipif(
    not (DATA / "imdb/train.csv.gz").is_file(),
    reason="PISTE_DATA names no folder with imdb/train.csv.gz",
)

TRAIN = [("A fine film, naïve.", 1), ('He said "no".<br />Twice.', 0), ("Dull", 0)]
TEST = [("Dull", 0), ("Two\nlines", 1)]
ALLOWED = (
    "must hold imdb/ or train.csv.gz and test.csv.gz, aclImdb/ or aclImdb_v1.tar.gz"
)


@pytest.fixture(autouse=True)
def fresh(monkeypatch):
    monkeypatch.delenv("PISTE_DATA", raising=False)
    imdb._load.cache_clear()


def message(call) -> str:
    with pytest.raises(InputError) as caught:
        call()
    assert "\n" not in str(caught.value)
    return str(caught.value)


# --- three ways to store the same reviews ---------------------------------------------


def write_table(path, rows, header=("label", "text")):
    text = io.StringIO(newline="")
    csv.writer(text).writerows([header, *rows])
    path.write_bytes(gzip.compress(text.getvalue().encode()))


def as_tables(folder):
    folder.mkdir(parents=True, exist_ok=True)
    for part, reviews in (("train", TRAIN), ("test", TEST)):
        rows = [(label, text) for text, label in reviews]
        write_table(folder / f"{part}.csv.gz", rows)


def files():
    """The paths in the original archive, and what is in them."""
    for part, reviews in (("train", TRAIN), ("test", TEST)):
        for number, (text, label) in enumerate(reviews):
            folder = "pos" if label else "neg"
            yield f"aclImdb/{part}/{folder}/{number}_7.txt", text.encode()
    yield "aclImdb/train/unsup/0_0.txt", b"no label"
    yield "aclImdb/README", b"about"


def as_folders(folder):
    for name, content in files():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    for part in ("train", "test"):
        for name in ("pos", "neg"):
            (folder / "aclImdb" / part / name).mkdir(parents=True, exist_ok=True)


def as_archive(folder, entries=None):
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "aclImdb_v1.tar.gz"
    with tarfile.open(path, "w:gz") as archive:
        for name, content in entries or files():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return path


def known(monkeypatch, path, mirrors=()):
    content = path.read_bytes()
    file = File(len(content), hashlib.sha256(content).hexdigest())
    monkeypatch.setattr(imdb, "SOURCE", Source("imdb", {path.name: file}, mirrors))


@pytest.mark.parametrize("inner", ["", "imdb"])
@pytest.mark.parametrize("write", [as_tables, as_folders, as_archive])
def test_all_ways_give_the_same_reviews(write, inner, tmp_path, monkeypatch):
    path = write(tmp_path / inner)
    if write is as_archive:
        known(monkeypatch, path)
    reviews = imdb.load(str(tmp_path))
    assert reviews.train_texts == tuple(sorted(text for text, _ in TRAIN))
    assert reviews.test_texts == tuple(sorted(text for text, _ in TEST))
    pairs = dict(TRAIN), dict(TEST)
    assert reviews.train_labels.tolist() == [pairs[0][t] for t in reviews.train_texts]
    assert reviews.test_labels.tolist() == [pairs[1][t] for t in reviews.test_texts]


def test_the_variable_names_a_folder_and_the_field_comes_first(monkeypatch, tmp_path):
    as_tables(tmp_path / "imdb")
    monkeypatch.setenv("PISTE_DATA", str(tmp_path))
    assert len(imdb.load().train_texts) == 3
    elsewhere = tmp_path / "nowhere"
    expected = f"folder = {elsewhere}: is not a folder; {ALLOWED}"
    assert message(lambda: imdb.load(str(elsewhere))) == expected


def test_without_a_folder_the_archive_is_fetched(monkeypatch, tmp_path):
    path = as_archive(tmp_path / "served")
    known(monkeypatch, path, ("http://127.0.0.1:9/",))
    cache = tmp_path / "cache"
    monkeypatch.setattr("pooch.os_cache", lambda name: cache / name)
    line = message(imdb.load)
    assert line.startswith("dataset = imdb: aclImdb_v1.tar.gz is not in the cache")
    (cache / "piste" / "imdb").mkdir(parents=True)
    path.rename(cache / "piste" / "imdb" / path.name)
    assert len(imdb.load().test_texts) == 2


def test_texts_that_occur_twice_are_counted(tmp_path):
    rows = [(1, "a"), (1, "a"), (0, "b"), (0, "c")]
    write_table(tmp_path / "train.csv.gz", rows)
    write_table(tmp_path / "test.csv.gz", [(0, "b"), (0, "b"), (0, "b"), (1, "a")])
    repeats = imdb.load(str(tmp_path)).repeats()
    assert (repeats.train, repeats.test, repeats.across) == (1, 2, 2)


# --- bad data -------------------------------------------------------------------------

ROWS = [(1, "good"), (0, "bad")]


def raw(path, content):
    path.write_bytes(gzip.compress(content))


TABLE_MISTAKES = {
    "label": (
        lambda path: write_table(path, [*ROWS, (2, "so so")]),
        "line 4: label = 2: must be 0 or 1",
    ),
    "label word": (
        lambda path: write_table(path, [("pos", "x")]),
        "line 2: label = pos: must be 0 or 1",
    ),
    "empty": (
        lambda path: write_table(path, [*ROWS, (1, " \n")]),
        "line 5: the review is empty; must have text",
    ),
    "no column": (
        lambda path: write_table(path, ROWS, ("label", "review")),
        "has no column text (label,review); must have columns label and text",
    ),
    "nothing": (
        lambda path: raw(path, b""),
        "has no column label (nothing); must have columns label and text",
    ),
    "no rows": (
        lambda path: write_table(path, []),
        "has no reviews; must have one or more rows",
    ),
    "fields": (
        lambda path: write_table(path, [(1, "a", "b")]),
        "line 2: has 3 fields; must have 2",
    ),
    "utf-8": (
        lambda path: raw(path, b"label,text\n1,caf\xe9\n"),
        "is not UTF-8 (byte 0xe9 at 16); must be UTF-8",
    ),
    "truncated": (
        lambda path: path.write_bytes(gzip.compress(os.urandom(500))[:300]),
        "is truncated; must be a whole gzip file",
    ),
    "not gzip": (
        lambda path: path.write_bytes(b"label,text\n"),
        "is damaged (Not a gzipped file (b'la')); must be a gzip file",
    ),
    "absent": (
        lambda path: path.unlink(missing_ok=True),
        "cannot be read (No such file or directory)",
    ),
}


@pytest.mark.parametrize("mistake", TABLE_MISTAKES)
def test_a_bad_table_is_one_line(tmp_path, mistake):
    as_tables(tmp_path)
    path = tmp_path / "test.csv.gz"
    write, expected = TABLE_MISTAKES[mistake]
    write(path)
    assert message(lambda: imdb.load(str(tmp_path))) == f"{path}: {expected}"


def test_an_altered_table_is_one_line(tmp_path):
    as_tables(tmp_path)
    path = tmp_path / "train.csv.gz"
    content = bytearray(path.read_bytes())
    content[-5] ^= 1  # in the checksum or size that ends the file
    path.write_bytes(bytes(content))
    line = message(lambda: imdb.load(str(tmp_path)))
    assert line.startswith(f"{path}: is damaged (")
    assert line.endswith("; must be a gzip file")


def test_an_unclosed_quote_is_one_line(tmp_path):
    as_tables(tmp_path)
    raw(tmp_path / "train.csv.gz", b'label,text\n1,"' + b"x" * 200_000)
    line = message(lambda: imdb.load(str(tmp_path)))
    assert line.startswith(f"{tmp_path / 'train.csv.gz'}: line ")


def test_an_empty_folder_is_one_line(tmp_path):
    expected = f"folder = {tmp_path}: has no reviews; {ALLOWED}"
    assert message(lambda: imdb.load(str(tmp_path))) == expected
    (tmp_path / "imdb").mkdir()
    expected = f"folder = {tmp_path}: imdb/ has no reviews; {ALLOWED}"
    assert message(lambda: imdb.load(str(tmp_path))) == expected


def test_bad_files_in_folders_are_one_line(tmp_path):
    as_folders(tmp_path)
    review = tmp_path / "aclImdb/train/neg/9_1.txt"
    review.write_bytes(b"\xff\xfe")
    expected = f"{review}: is not UTF-8 (byte 0xff at 0); must be UTF-8"
    assert message(lambda: imdb.load(str(tmp_path))) == expected
    review.write_bytes(b"\n")
    expected = f"{review}: the review is empty; must have text"
    assert message(lambda: imdb.load(str(tmp_path))) == expected
    review.unlink()
    for file in (tmp_path / "aclImdb/test/pos").iterdir():
        file.unlink()
    expected = f"{tmp_path}/aclImdb/test/pos: has no reviews; must have .txt files"
    assert message(lambda: imdb.load(str(tmp_path))) == expected


def test_a_bad_archive_is_one_line(tmp_path, monkeypatch):
    path = as_archive(tmp_path)
    content = path.read_bytes()
    known(monkeypatch, path)
    path.write_bytes(content[:-40])
    line = message(lambda: imdb.load(str(tmp_path)))
    sizes = f"{len(content) - 40} of {len(content)} bytes"
    assert line == f"{path}: is truncated ({sizes}); must be the original"
    path.write_bytes(content[:-1] + b"!")
    line = message(lambda: imdb.load(str(tmp_path)))
    assert line.startswith(f"{path}: is altered (sha256 ")
    known(monkeypatch, path)  # the checksum of a file that is no archive
    path.write_bytes(b"<html>")
    known(monkeypatch, path)
    assert message(lambda: imdb.load(str(tmp_path))).startswith(f"{path}: is damaged (")
    as_archive(tmp_path, [("aclImdb/README", b"about")])
    known(monkeypatch, path)
    expected = f"{path}: has no reviews; must be aclImdb_v1.tar.gz"
    assert message(lambda: imdb.load(str(tmp_path))) == expected


# --- the real reviews -----------------------------------------------------------------


@needs_imdb
def test_the_real_reviews():
    reviews = imdb.load(str(DATA))
    assert len(reviews.train_texts) == len(reviews.test_texts) == 25_000
    assert reviews.train_labels.sum() == reviews.test_labels.sum() == 12_500
    assert reviews.repeats().across == 123
    sizes = [len(text.encode()) for text in reviews.train_texts]
    assert np.median(sizes) == 979
    with pytest.raises(ValueError, match="read-only"):
        reviews.train_labels[0] = 1

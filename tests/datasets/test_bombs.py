"""Files that would fill the memory, or be read without end: one line, and soon."""

import gzip
import io
import os
import tarfile
import tracemalloc

import pytest

from piste.cli import main
from piste.datasets import cache, imdb
from piste.datasets.cache import SizeLimitedReader, unzipped
from piste.datasets.imdb import read_archive, read_table
from piste.datasets.mnist import read_idx
from piste.errors import InputError

MEGABYTE = gzip.compress(bytes(2**20))


def message(call) -> str:
    with pytest.raises(InputError) as caught:
        call()
    return str(caught.value)


@pytest.fixture
def bomb(tmp_path):
    """A gigabyte of zeros in a megabyte: members of a gzip file follow each other."""
    path = tmp_path / "bomb.gz"
    path.write_bytes(MEGABYTE * 1024)
    assert path.stat().st_size < 2**21
    return path


def test_a_bomb_is_refused_in_bounded_memory(bomb):
    tracemalloc.start()
    try:
        said = message(lambda: unzipped(bomb, largest=2**23))
        assert tracemalloc.get_traced_memory()[1] < 2**25
    finally:
        tracemalloc.stop()
    assert said == f"{bomb}: must be at most {2**23} bytes when expanded"


@pytest.mark.parametrize("size", [7, 8])
def test_the_limit_is_the_last_that_is_taken(tmp_path, size):
    path = tmp_path / "a.gz"
    path.write_bytes(gzip.compress(b"12345678"))
    if size == 8:
        assert unzipped(path, size) == b"12345678"
    else:
        assert "at most 7 bytes" in message(lambda: unzipped(path, size))


@pytest.mark.parametrize("reader", [read_table, lambda path: read_idx(path, rank=3)])
def test_tables_and_images(bomb, reader):
    assert "must be at most 268435456 bytes when expanded" in message(
        lambda: reader(bomb)
    )


def test_a_bomb_in_a_data_folder(tmp_path, monkeypatch, capsys, bomb):
    monkeypatch.setattr("piste.devices.one_device_per_core", lambda: None)
    imdb._load.cache_clear()
    data, out = tmp_path / "data", tmp_path / "out"
    data.mkdir()
    bomb.rename(data / "train.csv.gz")
    words = ["run", "kernels/imdb-desk", "--task.folder", str(data), "--out", str(out)]
    assert main(words) == 2
    shown = capsys.readouterr()
    assert shown.err.count("\n") == 1 and "when expanded" in shown.err
    assert not out.exists()


def archive(path, *members: tuple[str, int, bytes]):
    """A compressed archive whose headers promise sizes that may not be there."""
    plain = io.BytesIO()
    for name, size, content in members:
        header = tarfile.TarInfo(name)
        header.size = size
        plain.write(header.tobuf(tarfile.GNU_FORMAT) + content)
    path.write_bytes(gzip.compress(plain.getvalue()))
    return path


def test_a_member_that_promises_an_absurd_size(tmp_path):
    name = "aclImdb/train/pos/0_1.txt"
    path = archive(tmp_path / "a.tar.gz", (name, 2**62, b"x" * 512))
    assert f"{name}: has {2**62} bytes; must be at most" in message(
        lambda: read_archive(path)
    )


@pytest.mark.parametrize("name", ["other.txt", "././@LongLink"])
def test_an_archive_that_expands_without_end(tmp_path, monkeypatch, name):
    monkeypatch.setattr(imdb, "EXPANDED", 2**22)
    path = archive(tmp_path / "a.tar.gz", (name, 2**40, b""))
    path.write_bytes(path.read_bytes() + MEGABYTE * 100)
    if name == "././@LongLink":  # a header that holds a name, and is read as a whole
        header = tarfile.TarInfo(name)
        header.size, header.type = 2**40, tarfile.GNUTYPE_LONGNAME
        head = gzip.compress(header.tobuf(tarfile.GNU_FORMAT))
        path.write_bytes(head + MEGABYTE * 100)
    assert "must be at most 4194304 bytes when expanded" in message(
        lambda: read_archive(path)
    )


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("," * 2**21, "line 1: 2097152 characters; must be at most 1048576"),
        ("label,text\n1," + "," * 2**21, "line 2: 2097154 characters"),
        ("label,text\n1," + "a" * 200_000, "field larger than field limit (131072)"),
        ('label,text\n1,"' + "a\n" * 100_000, "field larger than field limit"),
        ("label,text\n" + "9" * 5000 + ",a", "label = 99999999999999999999…"),
        ("x" * 5000 + "\n1", "has no column label (xxxxxxxxxxxxxxxxxxxx…"),
    ],
    ids=["header", "row", "field", "lines", "label", "column"],
)
def test_absurd_tables(tmp_path, text, line):
    path = tmp_path / "a.csv.gz"
    path.write_bytes(gzip.compress(text.encode()))
    said = message(lambda: read_table(path))
    assert line in said and len(said) < 600


def test_a_review_that_is_a_pipe_or_too_long(tmp_path, monkeypatch):
    folder = tmp_path / "train" / "neg"
    folder.mkdir(parents=True)
    os.mkfifo(folder / "0_1.txt")  # opening it would wait for ever
    assert "0_1.txt: is not a file" in message(
        lambda: list(imdb._reviews_below(folder.parent))
    )
    (folder / "0_1.txt").unlink()
    (folder / "0_1.txt").write_bytes(b"x" * 11)
    monkeypatch.setattr(imdb, "LONGEST", 10)
    assert "0_1.txt: must be at most 10 bytes" in message(
        lambda: list(imdb._reviews_below(folder.parent))
    )


def test_a_table_that_is_a_pipe(tmp_path):
    os.mkfifo(tmp_path / "train.csv.gz")
    assert "is not a file" in message(lambda: read_table(tmp_path / "train.csv.gz"))


def test_a_file_of_another_size_is_not_read_to_be_refused(tmp_path, monkeypatch):
    path = tmp_path / "first.gz"
    with path.open("wb") as stream:
        stream.truncate(2**40)  # of zeros that take no room
    monkeypatch.setattr(cache, "_sha256", lambda path: pytest.fail("it was read"))
    source = cache.Source("tiny", {"first.gz": cache.File(3, "00")}, ())
    said = message(lambda: cache.locate(source, str(tmp_path)))
    assert "is altered (1099511627776 of 3 bytes); must be the original" in said


def test_what_is_limited_reads_on_as_it_should():
    stream = SizeLimitedReader(
        imdb.Path("x"), io.BufferedReader(io.BytesIO(b"abcdef")), 6
    )
    assert stream.readable() and stream.read(2) == b"ab" and stream.read() == b"cdef"

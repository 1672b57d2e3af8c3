"""Bad data and sizes of the real tasks as a person meets them: one line, exit code 2."""

import csv
import gzip
import io
from pathlib import Path

import pytest

from piste.cli import main
from piste.datasets import imdb

ROWS = [(1, "A fine film."), (0, "Dull"), (1, "Good"), (0, "Bad")]


@pytest.fixture(autouse=True)
def nothing_kept(monkeypatch):
    monkeypatch.setattr("piste.devices.one_device_per_core", lambda: None)
    monkeypatch.delenv("PISTE_DATA", raising=False)
    imdb._load.cache_clear()


def table(rows) -> bytes:
    text = io.StringIO(newline="")
    csv.writer(text).writerows([("label", "text"), *rows])
    return gzip.compress(text.getvalue().encode())


def reviews(folder: Path, train: bytes | None) -> Path:
    folder.mkdir()
    (folder / "test.csv.gz").write_bytes(table([(1, "Nice"), (0, "Poor")]))
    if train is not None:
        (folder / "train.csv.gz").write_bytes(train)
    return folder


def said(words, out: Path, capsys) -> str:
    assert main([*words, "--out", str(out)]) == 2
    shown = capsys.readouterr()
    assert shown.out == "" and shown.err.count("\n") == 1
    assert not out.exists()
    return shown.err


@pytest.mark.parametrize(
    ("train", "line"),
    [
        (None, "train.csv.gz: cannot be read"),
        (table(ROWS)[:-12], "train.csv.gz: is truncated; must be a whole gzip file"),
        (table(ROWS)[:-8] + bytes(8), "train.csv.gz: is damaged"),
        (table([*ROWS, (2, "So so")]), "label = 2: must be 0 or 1"),
        (table([*ROWS, (1, " ")]), "the review is empty; must have text"),
        (gzip.compress(b"label,text\n1,caf\xe9\n"), "is not UTF-8 (byte 0xe9"),
    ],
    ids=["missing", "truncated", "altered", "label", "empty", "not UTF-8"],
)
@pytest.mark.parametrize("command", ["run", "landscape"])
def test_bad_reviews(tmp_path, capsys, command, train, line):
    folder = reviews(tmp_path / "data", train)
    words = [command, "kernels/landscape-desk", "--task.folder", str(folder)]
    assert line in said(words, tmp_path / "out", capsys)


@pytest.mark.parametrize(
    ("options", "line"),
    [
        ([], "task.validation-samples = 2000: must be at most 3: imdb has 4 training"),
        (["--task.validation-samples", "2"], "task.batch = 32: must be at most 2"),
        (
            ["--task.validation-samples", "2", "--task.batch", "2"],
            "task.test-samples = 4000: must be at most 2: imdb has 2 test texts",
        ),
    ],
)
def test_more_reviews_than_there_are(tmp_path, capsys, options, line):
    folder = reviews(tmp_path / "data", table(ROWS))
    words = ["run", "kernels/imdb-desk", "--task.folder", str(folder), *options]
    assert line in said(words, tmp_path / "out", capsys)


def test_training_reviews_that_are_all_tested(tmp_path, capsys):
    folder = reviews(tmp_path / "data", table([(1, "Nice"), (0, "Poor")]))
    words = ["run", "kernels/imdb-desk", "--task.folder", str(folder)]
    line = said(words, tmp_path / "out", capsys)
    assert "imdb: no training text that is not tested too" in line


def test_bad_reviews_in_a_folder_that_the_user_named(tmp_path, capsys, monkeypatch):
    folder = reviews(tmp_path / "data", table([*ROWS, (2, "So so")]))
    monkeypatch.setenv("PISTE_DATA", str(folder))
    words = ["reproduce", "kernels", "--only", "imdb"]
    assert "label = 2: must be 0 or 1" in said(words, tmp_path / "out", capsys)


@pytest.mark.parametrize(
    ("preset", "options", "line"),
    [
        ("imdb-desk", ["--task.length", "0"], "task.length = 0: must be at least 1"),
        ("imdb-desk", ["--task.batch", "0"], "task.batch = 0: must be at least 1"),
        ("imdb-desk", ["--task.folder", "none"], "task.folder = none: is not a folder"),
        ("pathfinder-desk", ["--task.canvas", "8"], "task.canvas = 8: must be"),
        (
            "pathfinder-desk",
            ["--task.batch", "100001"],
            "task.batch = 100001: must be at",
        ),
        ("pathfinder-desk", ["--task.difficulty", "x"], "task.difficulty = x: must be"),
        ("imdb-desk", ["--model.embedding-scale", "0"], "embedding-scale = 0"),
    ],
)
def test_bad_sizes(tmp_path, capsys, preset, options, line):
    words = ["run", f"kernels/{preset}", *options]
    assert line in said(words, tmp_path / "out", capsys)

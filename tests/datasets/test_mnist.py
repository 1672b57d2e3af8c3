import gzip
import os
import struct
from pathlib import Path

import numpy as np
import pytest

from piste.datasets import load
from piste.datasets.mnist import SOURCE, read_idx
from piste.errors import InputError

DATA = Path(__file__).parents[2].parent / "shared" / "data"
needs_mnist = pytest.mark.skipif(
    not (DATA / "mnist").is_dir(), reason="the MNIST files are not in shared/data"
)
FILES = ", ".join(SOURCE.files)


@pytest.fixture(autouse=True)
def no_variable(monkeypatch):
    monkeypatch.delenv("PISTE_DATA", raising=False)


def write_idx(path, header, shape, content):
    lengths = struct.pack(f">{len(shape)}I", *shape)
    path.write_bytes(gzip.compress(bytes(header) + lengths + bytes(content)))


def message(call) -> str:
    with pytest.raises(InputError) as caught:
        call()
    assert "\n" not in str(caught.value)
    return str(caught.value)


# --- the parser -----------------------------------------------------------------------


def test_idx_arrays_are_read_in_c_order(tmp_path):
    path = tmp_path / "images.gz"
    write_idx(path, [0, 0, 8, 3], (2, 3, 2), range(12))
    expected = np.arange(12, dtype=np.uint8).reshape(2, 3, 2)
    np.testing.assert_array_equal(read_idx(path, rank=3), expected)


IDX_MISTAKES = {
    "magic": (
        lambda path: write_idx(path, [0, 0, 8, 1], (2,), [1, 2]),
        "begins with 00000801; must be 00000803 (IDX)",
    ),
    "type": (
        lambda path: write_idx(path, [0, 0, 13, 3], (1, 1, 1), [0] * 4),
        "begins with 00000d03; must be 00000803 (IDX)",
    ),
    "nothing": (
        lambda path: path.write_bytes(gzip.compress(b"")),
        "begins with nothing; must be 00000803 (IDX)",
    ),
    "header": (
        lambda path: write_idx(path, [0, 0, 8, 3], (2, 2), []),
        "has 12 bytes; must have a whole header",
    ),
    "too few": (
        lambda path: write_idx(path, [0, 0, 8, 3], (2, 3, 2), range(11)),
        "has 11 bytes of data; must be 2×3×2",
    ),
    "too many": (
        lambda path: write_idx(path, [0, 0, 8, 3], (2, 3, 2), range(13)),
        "has 13 bytes of data; must be 2×3×2",
    ),
    "truncated": (
        lambda path: path.write_bytes(gzip.compress(os.urandom(500))[:300]),
        "is truncated; must be a whole gzip file",
    ),
    "not gzip": (
        lambda path: path.write_bytes(b"<html>"),
        "is damaged (Not a gzipped file (b'<h')); must be a gzip file",
    ),
    "absent": (lambda path: None, "cannot be read (No such file or directory)"),
}


@pytest.mark.parametrize("mistake", IDX_MISTAKES)
def test_a_bad_idx_file_is_one_line(tmp_path, mistake):
    path = tmp_path / "images.gz"
    write, expected = IDX_MISTAKES[mistake]
    write(path)
    assert message(lambda: read_idx(path, rank=3)) == f"{path}: {expected}"


# --- folders --------------------------------------------------------------------------


@needs_mnist
@pytest.mark.parametrize("folder", [DATA, DATA / "mnist"], ids=["above", "itself"])
def test_the_real_files_are_read_from_a_folder(folder):
    images = load("mnist", str(folder))
    assert images.train_images.shape == (60000, 784)
    assert images.test_images.shape == (10000, 784)
    assert (images.train_images.min(), images.train_images.max()) == (0, 1)
    assert np.bincount(images.train_labels).tolist()[3::4] == [6131, 6265]
    assert np.isin(images.test_labels, [3, 7]).sum() == 2038


@needs_mnist
def test_the_variable_names_a_folder_and_the_field_comes_first(monkeypatch, tmp_path):
    monkeypatch.setenv("PISTE_DATA", str(DATA))
    assert load("mnist").train_labels[:5].tolist() == [5, 0, 4, 1, 9]
    assert message(lambda: load("mnist", str(tmp_path))).startswith("folder = ")


def test_a_wrong_folder_is_one_line(monkeypatch, tmp_path):
    allowed = f"must hold mnist/ or {FILES}"
    nowhere = tmp_path / "nowhere"
    expected = f"folder = {nowhere}: is not a folder; {allowed}"
    assert message(lambda: load("mnist", str(nowhere))) == expected
    monkeypatch.setenv("PISTE_DATA", str(nowhere))
    expected = f"PISTE_DATA = {nowhere}: is not a folder; {allowed}"
    assert message(lambda: load("mnist")) == expected


def test_a_missing_file_is_one_line(tmp_path):
    allowed = f"must hold mnist/ or {FILES}"
    first = "train-images-idx3-ubyte.gz"
    expected = f"folder = {tmp_path}: has no {first}; {allowed}"
    assert message(lambda: load("mnist", str(tmp_path))) == expected
    (tmp_path / "mnist").mkdir()
    expected = f"folder = {tmp_path}: mnist/ has no {first}; {allowed}"
    assert message(lambda: load("mnist", str(tmp_path))) == expected


@needs_mnist
@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (lambda content: content[:4000], "is truncated (4000 of 4542 bytes)"),
        (
            lambda content: content[:-1] + b"!",
            "is altered (sha256 816c0993…, not f7ae60f9…)",
        ),
    ],
    ids=["truncated", "altered"],
)
def test_a_file_that_differs_from_the_original_is_one_line(tmp_path, change, expected):
    *others, last = SOURCE.files
    for name in others:
        (tmp_path / name).symlink_to(DATA / "mnist" / name)
    content = (DATA / "mnist" / last).read_bytes()
    (tmp_path / last).write_bytes(change(content))
    line = message(lambda: load("mnist", str(tmp_path)))
    assert line == f"{tmp_path / last}: {expected}; must be the original"


def test_images_and_labels_must_match(tmp_path):
    from piste.datasets.mnist import _load

    images = tmp_path / "train-images-idx3-ubyte.gz"
    labels = tmp_path / "train-labels-idx1-ubyte.gz"
    write_idx(images, [0, 0, 8, 3], (2, 28, 28), [0] * 2 * 784)
    write_idx(labels, [0, 0, 8, 1], (3,), [1, 2, 3])
    expected = f"{labels}: has 3 labels; must be one for each of 2 images"
    assert message(lambda: _load(tmp_path)) == expected
    write_idx(images, [0, 0, 8, 3], (3, 8, 7), [0] * 3 * 56)
    assert message(lambda: _load(tmp_path)) == (
        f"{tmp_path}: has 8×7 images; must be 28×28"
    )

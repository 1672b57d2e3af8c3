"""Zarr as others read it: attributes, text, checksums, few files, nothing filled in."""

import json

import numpy as np
import pytest
import xarray as xr
import zarr

from piste.store import Store, arrays
from piste.store.arrays import Arrays, open_arrays, write_dataset
from support.faults import files_below

PART = xr.Dataset(
    {
        "loss": (("cell", "step"), np.arange(6.0).reshape(2, 3), {"symbol": "$L$"}),
        "alone": ((), 3.5),
        "count": (("cell",), np.zeros(2, int)),
    },
    {
        "step": [0, 1, 2],
        "kernel": ("cell", ["softmax", "gaußian"]),
        "seed": ("cell", [0, 1]),
    },
    {"seconds": np.float64(1.5), "labels": ["a", "b"], "nested": {"n": np.int64(3)}},
)


def test_a_plain_reader_sees_what_was_written(tmp_path):
    write_dataset(tmp_path / "part.zarr", PART)
    plain = xr.open_zarr(tmp_path / "part.zarr")  # a warning would be an error here
    assert plain.attrs == {"seconds": 1.5, "labels": ["a", "b"], "nested": {"n": 3}}
    assert set(plain.coords) == {"step", "kernel", "seed"}
    xr.testing.assert_equal(plain.drop_vars("kernel"), PART.drop_vars("kernel"))
    assert plain.kernel.values.tolist() == ["softmax", "gaußian"]
    assert plain.loss.attrs == {"symbol": "$L$"}


def test_it_comes_back_as_it_was(tmp_path):
    write_dataset(tmp_path / "part.zarr", PART)
    back = open_arrays(tmp_path / "part.zarr").load()
    xr.testing.assert_identical(back, PART.assign_attrs(nested={"n": 3}))
    for name in PART.variables:
        assert back[name].dtype == PART[name].dtype


def test_text_has_a_type_of_the_specification(tmp_path):
    """Fixed-length text has none, and other readers refuse it."""
    write_dataset(tmp_path / "part.zarr", PART)
    about = json.loads((tmp_path / "part.zarr/kernel/zarr.json").read_text())
    assert about["data_type"] == "string"
    assert about["codecs"][0]["name"] == "vlen-utf8"


def test_every_block_has_a_checksum_and_is_written(tmp_path):
    write_dataset(tmp_path / "part.zarr", PART)
    root = json.loads((tmp_path / "part.zarr/zarr.json").read_text())
    parts = root["consolidated_metadata"]["metadata"]
    assert set(parts) == set(PART.variables)
    for name, about in parts.items():
        assert "crc32c" in json.dumps(about["codecs"])
        own = json.loads((tmp_path / f"part.zarr/{name}/zarr.json").read_text())
        assert own == about
        # Zeros too: an absent block would be read as zeros.
        assert len(files_below(tmp_path / "part.zarr" / name)) == 2
    path = tmp_path / "part.zarr/loss/c.0.0"
    content = bytearray(path.read_bytes())
    content[6] ^= 1
    path.write_bytes(content)
    with pytest.raises(ValueError, match="checksum"):
        xr.open_zarr(tmp_path / "part.zarr").loss.load()


@pytest.mark.parametrize("lengths", [[1000], [7] * 142 + [6], [300, 0, 700]])
def test_rows_may_come_in_pieces_of_any_length(tmp_path, monkeypatch, lengths):
    for name, size in (("CHUNK", 800), ("SHARD", 3000), ("MEMORY", 6000)):
        monkeypatch.setattr(arrays, name, size)
    rows = np.random.RandomState(0).randn(1000, 5)
    names = {"wide": rows, "narrow": rows[:, 0]}
    like = {n: xr.Variable(("step", "x")[: r.ndim], r[:1]) for n, r in names.items()}
    group = Arrays(tmp_path / "a.zarr", {"name": "pieces"})
    group.create(like, {"step": 900})
    for name, values in names.items():
        for piece in np.split(values, np.cumsum(lengths)[:-1]):
            group.append(name, piece)
    group.close()
    back = open_arrays(tmp_path / "a.zarr")
    for name, values in names.items():
        np.testing.assert_array_equal(back[name], values[:900])  # the rest is dropped
    files = files_below(tmp_path / "a.zarr" / "wide")
    inner = zarr.open_array(tmp_path / "a.zarr" / "wide")
    assert inner.chunks == (20, 5) and len(files) == 1 + -(-900 // inner.shards[0])


def test_a_trajectory_opens_without_piste(tinier, tmp_path):
    run = Store(tmp_path).run(tinier, "tiny")
    plain = xr.open_zarr(run.folder / "trajectory.zarr")
    ours = run.trajectory()
    assert {**plain.attrs, "notes": []} == ours.attrs
    assert plain.attrs["experiment"] == run.manifest.experiment
    assert plain.attrs["form"] == "full" and plain.attrs["seed"] == 0
    assert set(plain.coords) == set(ours.coords)
    xr.testing.assert_equal(plain, ours)
    assert plain.step.attrs["meaning"] == "training steps taken"

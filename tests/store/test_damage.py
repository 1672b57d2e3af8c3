"""Whatever happens to a file of a run: one line that names it, and no other answer."""

import os

import pytest

from piste.api import open_run
from piste.cli import main
from piste.errors import InputError
from piste.store import Store
from piste.store.sealed import seal_json, unseal_json
from support.faults import (
    assert_every_damage_is_named,
    files_below,
    flip,
    remove,
)


@pytest.fixture(scope="module")
def store(tinier, tmp_path_factory) -> Store:
    store = Store(tmp_path_factory.mktemp("damage") / "runs")
    store.run(tinier, "tiny")
    return store


def test_every_file_of_a_complete_run(store, tinier):
    folder = store.find(tinier).folder
    assert_every_damage_is_named(folder, lambda: open_run(folder))


def test_every_way_to_ask(store, tinier):
    """Missing and cut files are seen by all; flipped bits by all that read content."""
    folder = store.find(tinier).folder
    asked = [
        lambda: store.find(tinier).trajectory(),
        lambda: store.run(tinier).trajectory(),
        lambda: open_run(folder).trajectory(),
    ]
    for ask in asked:
        assert_every_damage_is_named(folder, ask, places=(0.7,))


@pytest.mark.slow
def test_every_bit_of_small_files(store, tinier):
    folder = store.find(tinier).folder
    places = tuple(k / 400 for k in range(401))
    assert_every_damage_is_named(folder, lambda: open_run(folder), places)


def test_every_file_of_an_interrupted_run(tiny, tmp_path):
    def stop(step, loss):
        if step >= 15:
            raise KeyboardInterrupt

    store = Store(tmp_path)
    with pytest.raises(KeyboardInterrupt):
        store.run(tiny, "tiny", stop)
    (folder,) = tmp_path.glob("*.partial")
    names = [path.name for path in files_below(folder)]
    assert names == ["checkpoint.npz", "000000.npz", "000001.npz", "manifest.json"]
    assert_every_damage_is_named(folder, lambda: store.run(tiny, "tiny", stop))
    other = (folder / "chunks" / "000001.npz").read_bytes()
    (folder / "chunks" / "000000.npz").write_bytes(other)
    with pytest.raises(InputError, match="000000.npz: has the records of another"):
        store.run(tiny, "tiny", stop)


def test_a_file_that_cannot_be_read(store, tinier, monkeypatch):
    def denied(path):
        raise PermissionError(13, "Permission denied")

    folder = store.find(tinier).folder
    monkeypatch.setattr("piste.store.sealed.file_digest", denied)
    with pytest.raises(InputError, match=r"npz: cannot be read \(Permission denied\);"):
        open_run(folder)
    monkeypatch.setattr("pathlib.Path.read_bytes", denied)
    with pytest.raises(InputError, match=r"manifest.json: cannot be read \(Perm"):
        open_run(folder)


def test_an_absent_block_is_never_filled_in(store, tinier):
    """Also when it goes after the run was opened: arrays are read when used."""
    data = store.find(tinier).trajectory()
    (path,) = store.root.glob("*/trajectory.zarr/attention/c.0.0.0.0")
    content = path.read_bytes()
    path.unlink()
    with pytest.raises(ValueError, match="attention/c.0.0.0.0: is missing"):
        data.attention.load()
    path.write_bytes(content)
    assert data.attention.load().notnull().all()


@pytest.mark.parametrize("name", ["manifest.json", "checkpoint.npz", "step/c.0"])
def test_show_says_it_in_one_line(store, tinier, capsys, name):
    folder = store.find(tinier).folder
    (path,) = folder.rglob(name)
    content = path.read_bytes()
    for damage in (flip, remove):
        damage(path)
        assert main(["show", str(folder)]) == 2
        shown = capsys.readouterr()
        assert shown.out == "" and shown.err.count("\n") == 1
        assert path.name in shown.err
        path.write_bytes(content)
    assert main(["show", str(folder)]) == 0


@pytest.mark.parametrize(
    "change",
    [lambda data: data | {"odd": 1}, lambda data: data | {"inputs": {}, "name": 1}],
    ids=["more", "less"],
)
def test_facts_of_another_version_are_one_line(store, tinier, change):
    folder = store.find(tinier).folder
    path = folder / "manifest.json"
    content = path.read_bytes()
    data = change(unseal_json(path))
    data = {name: fact for name, fact in data.items() if name not in ("digest", "what")}
    seal_json(path, data)
    for ask in (lambda: open_run(folder), lambda: store.find(tinier)):
        with pytest.raises(InputError, match="has other facts than this version"):
            ask()
    path.write_bytes(content)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes here")
def test_a_manifest_that_is_a_pipe_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "manifest.json")
    with pytest.raises(InputError, match="manifest.json: is not a file"):
        open_run(tmp_path)

"""Runs on disk: complete or absent, found again, resumed to the same bits."""

import dataclasses
import json
import shutil

import numpy as np
import pytest
import xarray as xr

from piste.api import open_run
from piste.cli import main
from piste.errors import InputError
from piste.papers.kernels.probes import regression_probes
from piste.rules import GD
from piste.store import FORMAT, Store, run_in_memory
from piste.store.sealed import seal_json, unseal_json
from piste.training import Plan


class Crash(Exception):
    pass


def crash(*args):
    raise Crash


def crash_after(chunks: int):
    """A watch that fails after so many chunks, as a power cut would."""
    left = [chunks]

    def watch(step, loss):
        left[0] -= 1
        if left[0] == 0:
            raise Crash

    return watch


@pytest.fixture(scope="module")
def whole(tiny, tmp_path_factory):
    return Store(tmp_path_factory.mktemp("whole")).run(tiny, "tiny")


def assert_same_bits(first: xr.Dataset, second: xr.Dataset):
    assert set(first.variables) == set(second.variables)
    for name in first.variables:
        a, b = first[name].values, second[name].values
        assert a.dtype == b.dtype and a.tobytes() == b.tobytes(), name


def test_stored_run_has_every_record(whole, tiny):
    data = whole.trajectory()
    times = tiny.record.times(tiny.steps)
    assert data.step.values.tolist() == times.tolist()
    tested = times[tiny.record.tests(times.size)]
    assert data.test_step.values.tolist() == tested.tolist()
    assert data.attention.dims == ("test_step", "head", "query_token", "key_token")
    assert data.query_distance.dims == ("step",)
    assert data.query_distance.attrs["symbol"] == r"$\|W^Q_t - W^Q_0\|_F$"
    assert not any(np.isnan(data[name]).any() for name in data.data_vars)
    assert not list(whole.folder.parent.glob("*.partial"))
    assert not list(whole.folder.parent.glob("*.lock"))


def test_memory_and_disk_agree(whole, tiny):
    in_memory = run_in_memory(tiny)
    assert_same_bits(whole.trajectory(), in_memory)
    assert in_memory.attrs["digest"] == tiny.digest


@pytest.mark.parametrize("chunks", [[1], [2], [5], [1, 1, 1, 1, 1], [3, 2]])
def test_resumed_run_has_the_same_bits(whole, tiny, tmp_path, chunks):
    store = Store(tmp_path)
    for count in chunks:
        with pytest.raises(Crash):
            store.run(tiny, "tiny", crash_after(count))
        assert store.find(tiny) is None
        assert store.interrupted(tiny) is not None
    resumed = store.run(tiny, "tiny")
    assert_same_bits(whole.trajectory(), resumed.trajectory())


def test_torn_records_are_written_again(whole, tiny, tmp_path):
    """A crash between the records and the checkpoint may leave anything after it."""
    store = Store(tmp_path)
    with pytest.raises(Crash):
        store.run(tiny, "tiny", crash_after(2))
    (partial,) = tmp_path.glob("*.partial")
    assert len(list((partial / "chunks").iterdir())) == 2
    (partial / "chunks" / "000002.npz").write_bytes(b"half a bl")
    (partial / "chunks" / "000003.npz.new").write_bytes(b"")
    assert_same_bits(whole.trajectory(), store.run(tiny, "tiny").trajectory())
    assert len(list(tmp_path.iterdir())) == 1


def test_second_call_answers_from_the_store(whole, tiny):
    def never(step, loss):
        raise AssertionError("trained again")

    again = Store(whole.folder.parent).run(tiny, "another name", never)
    assert again.folder == whole.folder


def test_fresh_runs_again(tiny, tmp_path):
    store, calls = Store(tmp_path), []
    first = store.run(tiny, "tiny")
    before = first.trajectory().load()
    store.run(tiny, "other", lambda step, loss: calls.append(step), fresh=True)
    assert calls[-1] == tiny.steps
    assert_same_bits(before, store.find(tiny).trajectory())
    assert [path.name for path in tmp_path.iterdir()] == [first.folder.name]
    with pytest.raises(InputError, match="was replaced meanwhile; open it again"):
        first.trajectory()


def test_fresh_leaves_the_old_run_until_the_new_one_is_complete(tiny, tmp_path):
    store, steps = Store(tmp_path), []
    old = store.run(tiny, "tiny")
    with pytest.raises(Crash):
        store.run(tiny, "tiny", crash_after(3), fresh=True)
    assert store.find(tiny) == old
    assert_same_bits(old.trajectory(), run_in_memory(tiny))
    assert store.interrupted(tiny, fresh=True).steps < tiny.steps
    store.run(tiny, "tiny", lambda step, loss: steps.append(step), fresh=True)
    assert len(steps) == Plan.of(tiny).chunks - 3  # it went on
    assert store.find(tiny).manifest != old.manifest
    assert len(list(tmp_path.iterdir())) == 1


def test_fresh_begins_again_what_it_did_not_begin(tiny, tmp_path, monkeypatch):
    store, steps = Store(tmp_path), []
    with pytest.raises(Crash):
        store.run(tiny, "tiny", crash_after(3))
    assert store.interrupted(tiny) and not store.interrupted(tiny, fresh=True)
    with pytest.raises(Crash):
        store.run(tiny, "tiny", crash_after(2), fresh=True)
    with monkeypatch.context() as patch:  # other code would be mixed with its own
        patch.setattr("piste.store.manifest.source_digest", lambda: "edited")
        assert not store.interrupted(tiny, fresh=True)
        with pytest.raises(Crash):
            store.run(tiny, "tiny", crash_after(1), fresh=True)
    store.run(tiny, "tiny", lambda step, loss: steps.append(step), fresh=True)
    assert len(steps) == Plan.of(tiny).chunks


def test_damaged_checkpoint_is_refused_and_kept(whole, tiny, tmp_path):
    store = Store(tmp_path)
    for fresh in (False, True):
        with pytest.raises(Crash):
            store.run(tiny, "tiny", crash_after(2), fresh)
        (path,) = tmp_path.glob("*.partial/checkpoint.npz")
        content = bytearray(path.read_bytes())
        content[200] ^= 1
        path.write_bytes(content)
        for ask in (store.run, store.interrupted):
            with pytest.raises(InputError, match=r"npz: is damaged.*--fresh"):
                ask(tiny)
        assert store.interrupted(tiny, fresh=True) is None
        assert path.read_bytes() == content
    # What --fresh itself had begun is no reason to stop either.
    assert_same_bits(whole.trajectory(), store.run(tiny, fresh=True).trajectory())


def test_another_format_is_refused_and_kept(tiny, tmp_path):
    store = Store(tmp_path)
    run = store.run(tiny, "tiny")
    path = run.folder / "manifest.json"
    data = unseal_json(path)
    del data["digest"]
    seal_json(path, data | {"format": FORMAT + 1})
    with pytest.raises(InputError, match=f"format = {FORMAT + 1}"):
        store.run(tiny, "tiny")
    assert unseal_json(path)["format"] == FORMAT + 1


@pytest.mark.parametrize("suffix", ["", ".partial"])
def test_a_store_of_format_1_is_refused_in_one_line(tiny, tmp_path, suffix):
    folder = tmp_path / f"tiny-{tiny.digest[:8]}{suffix}"
    folder.mkdir()
    (folder / "manifest.json").write_text(json.dumps({"name": "tiny", "format": 1}))
    for fresh in (False, True):
        with pytest.raises(InputError, match="format = 1: .*--out") as caught:
            Store(tmp_path).run(tiny, fresh=fresh)
        assert "\n" not in str(caught.value)
    assert len(list(tmp_path.iterdir())) == 1


def put_other_format(folder, number: int) -> None:
    """A result of another piste, of an experiment that nobody here asks for."""
    folder.mkdir(parents=True)
    seal_json(folder / "manifest.json", {"name": "old", "format": number})


@pytest.mark.parametrize("suffix", ["", ".partial"])
@pytest.mark.parametrize("number", [2, 99])
def test_another_format_beside_new_runs_is_refused(
    whole, tiny, tmp_path, number, suffix
):
    """Also if it is of another experiment: it would be passed over in silence."""
    shutil.copytree(whole.folder, tmp_path / whole.folder.name)
    store = Store(tmp_path)
    assert store.has(tiny)
    put_other_format(tmp_path / f"old-0123abcd-4567cdef{suffix}", number)
    before = sorted(path.name for path in tmp_path.iterdir())
    asks = store.find, store.has, store.may_have, store.run, store.interrupted
    for ask in (*asks, lambda given: store.run(given, fresh=True)):
        with pytest.raises(InputError, match=f"format = {number}: .*--out") as caught:
            ask(tiny)
        assert "\n" not in str(caught.value)
    assert sorted(path.name for path in tmp_path.iterdir()) == before
    open_run(tmp_path / whole.folder.name)  # a run by itself is what it was
    with pytest.raises(InputError, match=f"format = {number}: "):
        open_run(tmp_path)


@pytest.mark.parametrize("content", ["[", '{"format": "x"}', "[]", '{"format": 2.5}'])
def test_a_manifest_of_something_else_is_no_other_format(
    whole, tiny, tmp_path, content
):
    shutil.copytree(whole.folder, tmp_path / whole.folder.name)
    for name in ("web-0123abcd-4567cdef", "my-page"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "manifest.json").write_text(content)
    (tmp_path / "my-page" / "manifest.json").write_text('{"format": 2}')
    assert Store(tmp_path).has(tiny)


@pytest.mark.parametrize(
    "words",
    [
        ["run", "signgd/stages", "--steps", "5", "--out", "."],
        ["reproduce", "signgd", "--quick", "--out", "."],
        ["verify", "signgd", "--out", "."],
        ["show", "runs"],
        ["show", "runs/old-0123abcd-4567cdef"],
    ],
)
def test_commands_refuse_another_format_in_one_line(
    tmp_path, monkeypatch, capsys, words
):
    monkeypatch.chdir(tmp_path)
    for folder in ("runs", "signgd-quick/sweeps"):
        put_other_format(tmp_path / folder / "old-0123abcd-4567cdef", 2)
    before = sorted(tmp_path.rglob("*"))
    assert main(words) == 2
    shown = capsys.readouterr()
    assert shown.out == "" and shown.err.count("\n") == 1
    assert "format = 2" in shown.err and "this one reads format 3" in shown.err
    assert sorted(tmp_path.rglob("*")) == before


def test_divergence_ends_the_run_at_its_step(tiny, tmp_path):
    wild = dataclasses.replace(tiny, rule=GD(learning_rate=1e200), form="full")
    run = Store(tmp_path).run(wild, "wild")
    assert 0 < run.manifest.diverged < wild.steps
    data = run.trajectory()
    assert int(data.step[-1]) <= run.manifest.diverged
    assert int(data.test_step[-1]) <= run.manifest.diverged
    assert_same_bits(data, run_in_memory(wild))


def test_one_process_at_a_time(tiny, tmp_path):
    store = Store(tmp_path)

    def second(step, loss):
        with pytest.raises(InputError, match="another process"):
            store.run(tiny, "tiny")

    store.run(tiny, "tiny", second)


def test_manifest_says_how_it_ran(whole, tiny):
    manifest = whole.manifest
    assert set(manifest.files) == {
        path.relative_to(whole.folder).as_posix()
        for path in whole.folder.rglob("*")
        if path.is_file() and path.name != "manifest.json"
    }
    assert len(manifest.files) < 40
    assert manifest.value() == tiny
    assert manifest.form == "full" and manifest.steps == tiny.steps
    assert {"piste", "jax", "numpy"} <= set(manifest.environment["versions"])


def test_crash_before_the_first_checkpoint_starts_again(
    whole, tiny, tmp_path, monkeypatch
):
    store = Store(tmp_path)

    with monkeypatch.context() as patch:
        patch.setattr("piste.store.checkpoint.save", crash)
        with pytest.raises(Crash):
            store.run(tiny, "tiny")
    assert list(tmp_path.glob("*.partial")) and store.interrupted(tiny) is None
    assert_same_bits(whole.trajectory(), store.run(tiny, "tiny").trajectory())


def test_records_of_other_probes_are_not_continued(tiny, tmp_path, monkeypatch):
    """A newer piste may measure more: it says so instead of joining both."""
    store = Store(tmp_path)
    with pytest.raises(Crash):
        store.run(tiny, "tiny", crash_after(1))
    form = "piste.papers.kernels.forms.regression"
    monkeypatch.setattr(
        f"{form}.regression_probes", lambda train: regression_probes("")
    )
    with pytest.raises(
        InputError, match="other things .*key_distance.*--fresh"
    ) as caught:
        store.run(tiny, "tiny")
    assert "\n" not in str(caught.value)
    monkeypatch.undo()
    assert_same_bits(store.run(tiny, "tiny").trajectory(), run_in_memory(tiny))


def test_another_name_resumes_the_same_run(whole, tiny, tmp_path):
    store, steps = Store(tmp_path), []
    with pytest.raises(Crash):
        store.run(tiny, "first-name", crash_after(3))
    run = store.run(tiny, "second-name", lambda step, loss: steps.append(step))
    assert len(steps) < Plan.of(tiny).chunks and run.folder.name.startswith(
        "first-name"
    )
    assert len(list(tmp_path.iterdir())) == 1
    assert_same_bits(whole.trajectory(), run.trajectory())


def test_a_partial_run_or_a_sweep_is_not_shown_as_a_run(tiny, tmp_path):
    with pytest.raises(Crash):
        Store(tmp_path).run(tiny, "tiny", crash_after(2))
    (partial,) = tmp_path.glob("*.partial")
    with pytest.raises(InputError, match="not complete"):
        open_run(partial)
    other = tmp_path / "other"
    other.mkdir()
    seal_json(other / "manifest.json", {"format": FORMAT, "kind": "parts"})
    with pytest.raises(InputError, match="must be that of a single run"):
        open_run(other)


def test_a_partial_run_that_was_renamed_is_not_complete(tiny, tmp_path):
    store = Store(tmp_path)
    with pytest.raises(Crash):
        store.run(tiny, "tiny", crash_after(2))
    (partial,) = tmp_path.glob("*.partial")
    renamed = partial.rename(partial.with_suffix(""))
    for ask in (lambda: store.find(tiny), lambda: open_run(renamed)):
        with pytest.raises(InputError, match="not complete"):
            ask()

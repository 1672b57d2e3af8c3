"""The process ends, or the power goes, at every operation on files.

Whatever the moment: the next call gives the same bits, and what was complete before is
served as it was until something else is complete.
"""

import dataclasses
import os
import shutil
from pathlib import Path

import numpy as np
import pytest
import xarray as xr

from piste.experiment import Experiment
from piste.store import Inputs, Parts, Store, runs
from piste.values import digest
from support.faults import Crash, Disk, files_below

SOME = 5
"""Moments that are tried by default; all of them with ``-m slow``."""


def bits(data: xr.Dataset) -> dict[str, bytes]:
    return {str(name): data[name].values.tobytes() for name in data.variables}


@pytest.fixture(autouse=True)
def no_waiting_for_the_disk(monkeypatch):
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)


class OneRun:
    def __init__(self, experiment: Experiment):
        self.experiment = experiment

    def make(self, root: Path, fresh: bool = False) -> dict[str, bytes]:
        store = Store(root / "runs")
        return bits(store.run(self.experiment, "tiny", fresh=fresh).trajectory())

    def stored(self, root: Path) -> dict[str, bytes] | None:
        found = Store(root / "runs").find(self.experiment)
        return None if found is None else bits(found.trajectory())

    def make_other(self, root: Path, patch: pytest.MonkeyPatch) -> dict[str, bytes]:
        """As another version would, with other losses."""

        def train(*args):
            for chunk in real(*args):
                chunk.records["train_loss"] = chunk.records["train_loss"] + 1
                yield chunk

        real = runs.train
        with patch.context() as patched:
            patched.setattr(runs, "train", train)
            return self.make(root)


class ThreeParts:
    """What sweeps, calculations and landscapes are made of."""

    added = 0.0

    def parts(self, root: Path) -> Parts:
        about = {"axes": [(0, 1), np.int64(2)]}
        return Parts(root / "sweeps", "three", digest("three"), about, Inputs(), 3)

    def part(self, index: int, attempt: str) -> xr.Dataset:
        loss = np.random.RandomState(index).randn(2, 3) + self.added
        kernels = ("cell", ["softmax", f"kernel {index}"])
        return xr.Dataset({"loss": (("cell", "step"), loss)}, {"kernel": kernels})

    def make(self, root: Path, fresh: bool = False) -> dict[str, bytes]:
        found = self.parts(root).compute(self.part, lambda index, part: None, fresh)
        return bits(xr.concat(found, "cell"))

    def stored(self, root: Path) -> dict[str, bytes] | None:
        return self.make(root) if self.parts(root).find() else None

    def make_other(self, root: Path, patch: pytest.MonkeyPatch) -> dict[str, bytes]:
        with patch.context() as patched:
            patched.setattr(self, "added", 1.0)
            return self.make(root)


@pytest.fixture(scope="module", params=["run", "parts"])
def subject(request, tinier):
    return OneRun(tinier) if request.param == "run" else ThreeParts()


class Moments:
    """A subject, its bits, and those of what is there before, if anything is."""

    def __init__(self, subject, folder: Path, fresh: bool, patch: pytest.MonkeyPatch):
        self.subject, self.folder, self.fresh = subject, folder, fresh
        self.truth = subject.make(folder / "truth")
        self.start = folder / "start"
        self.start.mkdir()
        self.before = subject.make_other(self.start, patch) if fresh else None
        assert self.before != self.truth
        shutil.copytree(self.start, folder / "counted")
        with Disk(folder / "counted") as disk:
            subject.make(folder / "counted", fresh)
        self.operations = disk.operations

    def check(self, moment: int, disks: tuple[str, ...]) -> None:
        """End the process at a moment, and go on from what each disk has."""
        is_write = self.operations[moment].startswith("write")
        for half in (False, True)[: 1 + is_write]:
            case = self.folder / "case"
            shutil.copytree(self.start, case / "as it was")
            disk = Disk(case / "as it was", moment, half)
            with disk, pytest.raises(Crash):
                self.subject.make(case / "as it was", self.fresh)
            disk.surviving(case / "what was flushed")
            disk.surviving_names(case / "all names")
            for name in disks:
                self.recover(case / name)
            shutil.rmtree(case)

    def recover(self, root: Path) -> None:
        served = self.subject.stored(root)
        assert served is None or served in (self.truth, self.before)
        assert self.subject.make(root) in (self.truth, self.before)
        assert self.subject.make(root, self.fresh) == self.truth
        if self.fresh or served is None:  # else nobody had the lock after the crash
            assert not [p for p in files_below(root) if p.suffix in (".new", ".lock")]
            for pattern in ("*.trash", "*.partial", "chunks"):
                assert not list(root.rglob(pattern))


DISKS = ("as it was", "what was flushed", "all names")


@pytest.mark.parametrize("fresh", [False, True], ids=["new", "fresh"])
def test_crash_at_some_operations(subject, tmp_path, fresh, monkeypatch):
    moments = Moments(subject, tmp_path, fresh, monkeypatch)
    count = len(moments.operations)
    for number in range(SOME):
        moments.check((2 * number + 1) * count // (2 * SOME), (DISKS[number % 3],))


@pytest.mark.slow
@pytest.mark.parametrize("fresh", [False, True], ids=["new", "fresh"])
def test_crash_at_every_operation(subject, tmp_path, fresh, monkeypatch):
    moments = Moments(subject, tmp_path, fresh, monkeypatch)
    for moment in range(len(moments.operations)):
        moments.check(moment, DISKS)


def test_records_are_flushed_before_the_checkpoint_that_stands_for_them(
    tinier, tmp_path
):
    """The order of SQLite: content, then its folder, and only then what points to it."""
    with Disk(tmp_path) as disk:
        Store(tmp_path / "runs").run(tinier, "tiny")
    done = [words.replace(".npz.new", ".npz") for words in disk.operations]
    (folder,) = {str(Path(w.split()[1]).parent) for w in done if "checkpoint" in w}
    for number in ("000000", "000001"):
        place = done.index(f"replace {folder}/chunks/{number}.npz")
        assert done[place - 1] == f"fsync {folder}/chunks/{number}.npz"
        assert done[place + 1] == f"fsync {folder}/chunks"
        rest = done[place + 2 : place + 8]
        assert [words.split()[0] for words in rest] == [
            "open",
            "write",
            "write",
            "fsync",
            "replace",
            "fsync",
        ]
        assert all("checkpoint.npz" in words for words in rest[:-1])


def test_an_error_of_the_disk_can_be_repaired(tinier, tmp_path):
    """A full disk is no crash: handlers run, and the next call goes on."""

    def full():
        raise OSError(28, "No space left on device")

    for moment in (15, 25, 60, 150):
        root = tmp_path / str(moment)
        root.mkdir()
        with Disk(root, moment, end=full), pytest.raises(OSError, match="No space"):
            Store(root).run(tinier, "tiny")
        assert Store(root).run(tinier, "tiny").manifest.steps == tinier.steps


def test_a_process_that_ends_after_its_last_write_trains_nothing_again(
    tinier, tmp_path
):
    with Disk(tmp_path) as disk:
        Store(tmp_path / "a").run(tinier, "tiny")
    last = max(n for n, words in enumerate(disk.operations) if "rename" in words)
    other = dataclasses.replace(tinier, seed=1)
    with Disk(tmp_path, last), pytest.raises(Crash):
        Store(tmp_path / "b").run(other, "tiny")
    assert list((tmp_path / "b").glob("*.partial"))
    calls = []
    Store(tmp_path / "b").run(other, "tiny", lambda step, loss: calls.append(step))
    assert not calls and not list((tmp_path / "b").glob("*.partial"))

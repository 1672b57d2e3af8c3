"""Every kind of study through one table: absent, interrupted, stored, described."""

import numpy as np
import pytest
import xarray as xr

from piste.landscape.comparison import Comparison
from piste.reproduction import (
    CalculationStudy,
    Evidence,
    LandscapeStudy,
    RunStudy,
    Study,
    SweepStudy,
)
from piste.sweeps import Sweep
from piste.values import option, value
from support.small import SEEDS
from support.small import SHORT_REGRESSION as SMALL

SURVEY = Comparison(points=5, models=2, directions=1, snapshots=3, steps_two=2)


@value
class Squares:
    """The squares of some numbers, two at a time."""

    count: int = option(default=4, minimum=1)

    def parts(self) -> int:
        return self.count // 2

    def part(self, index: int) -> xr.Dataset:
        numbers = np.arange(2 * index, 2 * index + 2)
        return xr.Dataset({"number": ("cell", numbers), "square": ("cell", numbers**2)})


KINDS = {
    "runs": RunStudy("kind", "two seeds", SEEDS),
    "sweep": SweepStudy(
        "kind", "two seeds", Sweep(SMALL, {"seed": range(2)}), ("train_loss",), batch=1
    ),
    "calculation": CalculationStudy("kind", "squares", Squares()),
    "landscape": LandscapeStudy("kind", "two models", SMALL, SURVEY),
}
COUNTS = {"runs": 2, "sweep": 2, "calculation": 4, "landscape": 2}


def numbers(evidence: Evidence) -> list[np.ndarray]:
    """All numbers that a study left."""
    parts = [evidence["kind"]] if "kind" in evidence._datasets else evidence["kind"]
    return [np.asarray(data) for part in parts for data in part.data_vars.values()]


class Stopped(Exception):
    """In the place of Ctrl-C."""


@pytest.mark.parametrize("kind", KINDS)
def test_a_study_is_absent_then_in_part_then_whole(kind, tmp_path):
    study: Study = KINDS[kind]
    whole = study.run(tmp_path / "whole")
    folder, told = tmp_path / "parts", []
    assert not study.is_stored(folder)

    def stop(done: int, loss: float) -> None:
        if done >= study.work() // 2:
            raise Stopped

    with pytest.raises(Stopped):
        study.run(folder, stop)
    assert not study.is_stored(folder)
    again = study.run(folder, lambda done, loss: told.append(done))
    assert study.is_stored(folder) and told == sorted(told)
    assert told[-1] == study.work() > 0
    for one, other in zip(numbers(whole), numbers(again), strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_stored_is_not_run_again(kind, tmp_path, monkeypatch):
    study = KINDS[kind]
    first = study.run(tmp_path)
    monkeypatch.setattr("piste.store.runs._train", None)
    monkeypatch.setattr("piste.store.parts.Parts._build", None)
    again = study.run(tmp_path)
    assert again.count("kind") == COUNTS[kind]
    assert again.seconds("kind") == first.seconds("kind") > 0


@pytest.mark.parametrize("kind", KINDS)
def test_a_study_says_what_it_is(kind, tmp_path):
    study = KINDS[kind]
    said = study.describe(study.run(tmp_path))
    assert (said.name, said.meaning) == (study.name, study.meaning)
    assert said.runs == COUNTS[kind] and said.precision == "float64"
    word = {"sweep": "over seed", "calculation": "count", "landscape": "landscape.p"}
    assert word.get(kind, "task.") in said.configuration
    assert "\nseed " not in said.configuration
    assert (said.form == "–") == (study.trains() == ())


@pytest.mark.parametrize("kind", KINDS)
def test_fresh_runs_again(kind, tmp_path):
    study, told = KINDS[kind], []
    study.run(tmp_path)
    study.run(tmp_path, lambda done, loss: told.append(done), fresh=True)
    assert len(told) > 1 and study.is_stored(tmp_path)


def test_no_one_asks_for_the_kind_of_a_study():
    """Outside the classes themselves: ``isinstance``, or a field that one kind has."""
    import pathlib
    import re

    import piste

    kind = r"isinstance\([^)]*(Study|xr\.Dataset)\b|study\.(sweep|calculation|settings)"
    root = pathlib.Path(piste.__file__).parent
    places = [
        f"{path.relative_to(root)}: {line.strip()}"
        for path in root.rglob("*.py")
        for line in path.read_text().splitlines()
        # What a stranger's function gives may be no study at all.
        if re.search(kind, line) and "not isinstance(study, Study)" not in line
        if path.name != "api.py"
    ]
    assert places == []

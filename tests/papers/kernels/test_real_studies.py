"""Studies of real tasks and landscapes at a small size."""

import dataclasses
import json

import numpy as np
import pytest

from piste.cli import main
from piste.experiment import Experiment, Schedule
from piste.landscape import Comparison, two_stage
from piste.models import Classifier
from piste.papers.kernels import presets, studies
from piste.reproduction import LandscapeStudy
from piste.tasks import Text
from piste.tasks.text import TEXTS
from support.small import REGRESSION, reviews

TINY = Classifier(layers=1, dimension=8, hidden=8, heads=2)


SURVEY = Comparison(points=5, models=2, directions=2, snapshots=4, steps_two=3)


@pytest.fixture(autouse=True)
def texts(monkeypatch):
    found = reviews()
    monkeypatch.setitem(TEXTS, "imdb", lambda folder: found)


def small(experiment: Experiment) -> Experiment:
    return dataclasses.replace(
        experiment,
        task=Text(frequent=20, length=6, validation_samples=8, batch=8),
        model=TINY,
        rule=dataclasses.replace(experiment.rule, learning_rate=0.02),
        steps=8,
        record=Schedule(every=4, chunk=2, test_every=2),
    )


@pytest.fixture
def shrunk(monkeypatch):
    """All real studies, on small data."""
    for name in ("imdb_desk", "pathfinder_desk", "landscape_desk"):
        made = small(getattr(presets, name)())
        monkeypatch.setattr(presets, name, lambda made=made: made)
    monkeypatch.setattr(studies, "IMDB_SEEDS", 1)
    settings = dataclasses.replace(SURVEY, models=1, directions=1)
    monkeypatch.setattr(studies, "SURVEY", settings)
    monkeypatch.setattr("piste.devices.one_device_per_core", lambda: None)


@pytest.mark.slow
def test_reproduce_the_real_tasks_from_end_to_end(shrunk, tmp_path, capsys):
    words = ["reproduce", "kernels", "--only", "imdb,landscape-text"]
    assert main([*words, "--out", str(tmp_path)]) == 0
    shown = capsys.readouterr().out
    assert "IMDb, 6 words" in shown and "non-convex points" in shown
    assert "Gaussian landscape smoother, IMDb" in shown
    folder = tmp_path / "kernels"
    figures = {path.stem for path in (folder / "figures").glob("*.png")}
    assert {"imdb", "landscape-text", "landscape-text-contours"} <= figures
    rows = json.loads((folder / "tables/real.json").read_text())["rows"]
    assert [(row["kernel"], row["seeds"]) for row in rows] == [
        ("softmax", 1),
        ("gaussian", 1),
    ]
    verdicts = json.loads((folder / "verdicts.json").read_text())
    assert all(verdict["figure"] in figures for verdict in verdicts)
    page = (folder / "report.html").read_text()
    assert "landscape.points" in page and "landscape-text" in page
    assert main([*words, "--out", str(tmp_path)]) == 0
    assert "already run" in capsys.readouterr().out


def test_a_study_of_landscapes_is_counted_stored_and_tidied_up(tmp_path, monkeypatch):
    base = dataclasses.replace(REGRESSION, steps=8)
    study = LandscapeStudy("surfaces", "two models", base, SURVEY)
    assert study.trains() == (base,) and not study.is_stored(tmp_path)
    seen = []
    evidence = study.run(tmp_path, lambda done, loss: seen.append(done))
    parts = evidence.surfaces("surfaces")
    assert len(parts) == 4 and seen == sorted(seen)
    assert seen[-1] == study.work() == 2 * (8 + 2 * 3) + 4 * 2 * 25
    assert study.is_stored(tmp_path)
    # The snapshots are large; the surfaces are what is kept.
    assert list((tmp_path / "landscape/stages").iterdir()) == []
    monkeypatch.setattr(two_stage, "train", None)
    monkeypatch.setattr("piste.landscape.survey.check", None)  # no data are needed
    again = study.run(tmp_path).surfaces("surfaces")
    np.testing.assert_array_equal(again[3].loss.values, parts[3].loss.values)
    assert again[3].attrs["seconds"] == parts[3].attrs["seconds"] > 0


def test_a_first_stage_is_the_stored_run_of_the_same_experiment():
    for made in (presets.pathfinder_desk(), presets.imdb_desk()):
        assert two_stage.in_full_form(made) == made

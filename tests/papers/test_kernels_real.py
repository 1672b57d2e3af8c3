"""IMDb, Pathfinder and landscapes: studies of small size, and verdicts by hand."""

import dataclasses
import json
import math

import numpy as np
import pytest
import xarray as xr

from piste.claims import Outcome, judge
from piste.cli import main
from piste.experiment import Experiment, Record
from piste.figures.classification import classification
from piste.figures.landscape import pairs
from piste.landscape import two_stage
from piste.landscape.survey import Comparison
from piste.landscape.tables import (
    HEADLINE,
    comparable,
    metrics_table,
    mismatch_of,
    paired_table,
)
from piste.models import Classifier
from piste.papers import Study
from piste.papers.kernels import (
    landscape_claims,
    real_claims,
    real_presets,
    real_studies,
)
from piste.papers.kernels.presets import KERNELS
from piste.run_study import is_stored, run_study
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
        record=Record(every=4, chunk=2, test_every=2),
    )


# --- the studies ----------------------------------------------------------------------


@pytest.fixture
def shrunk(monkeypatch):
    """All real studies, on small data."""
    for name in ("imdb_desk", "pathfinder_desk", "landscape_desk"):
        made = small(getattr(real_presets, name)())
        monkeypatch.setattr(real_presets, name, lambda made=made: made)
    monkeypatch.setattr(real_studies, "IMDB_SEEDS", 1)
    settings = dataclasses.replace(SURVEY, models=1, directions=1)
    monkeypatch.setattr(real_studies, "TEXT", settings)
    monkeypatch.setattr("piste.caching.keep_compiled_programs", lambda: None)
    monkeypatch.setattr("piste.devices.one_device_a_core", lambda: None)


@pytest.mark.slow
def test_reproduce_the_real_tasks_from_end_to_end(shrunk, tmp_path, capsys):
    words = ["reproduce", "kernels", "--only", "imdb,landscape-text"]
    assert main([*words, "--out", str(tmp_path)]) == 0
    shown = capsys.readouterr().out
    assert "IMDb, 128 words" in shown and "non-convex cells" in shown
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
    study = Study("surfaces", "two models", (base,), landscape=SURVEY)
    assert study.base is base and not is_stored(study, tmp_path)
    seen = []
    parts = run_study(study, tmp_path, lambda done, loss: seen.append(done))
    assert len(parts) == 4 and seen == sorted(seen)
    assert seen[-1] == study.steps == 2 * (8 + 2 * 3) + 4 * 2 * 25
    assert is_stored(study, tmp_path)
    # The snapshots are large; the surfaces are what is kept.
    assert list((tmp_path / "landscape/stages").iterdir()) == []
    monkeypatch.setattr(two_stage, "train", None)
    monkeypatch.setattr("piste.landscape.survey.check", None)  # no data are needed
    again = run_study(study, tmp_path, lambda done, loss: None)
    np.testing.assert_array_equal(again[3].loss.values, parts[3].loss.values)
    assert again[3].attrs["seconds"] == parts[3].attrs["seconds"] > 0


def test_a_first_stage_is_the_stored_run_of_the_same_experiment():
    for made in (real_presets.pathfinder_desk(), real_presets.imdb_desk()):
        assert two_stage.written_out(made) == made


# --- verdicts on the landscape --------------------------------------------------------


def surfaces(roughness: dict[str, float], model: int, centre=(0.3, 0.31)) -> xr.Dataset:
    """A bowl with ripples of a height, for either kernel; centres of given loss."""
    axis = np.linspace(-1, 1, 21)
    a, b = np.meshgrid(axis, axis, indexing="ij")
    ripples = np.cos(12 * a) * np.cos(12 * b) - 1
    bowls = [a**2 + b**2 + c for c in centre]
    loss = [
        bowl + roughness[kernel] * ripples
        for bowl, kernel in zip(bowls, KERNELS, strict=True)
    ]
    zeros = np.zeros((2, 3))
    arrays = {
        "loss": (("kernel", "first", "second"), np.array(loss)),
        "true_loss": (("kernel", "snapshot"), np.array([[1, 0.5, c] for c in centre])),
        "projected_loss": (("kernel", "snapshot"), zeros + 1),
        "step": (("kernel", "snapshot"), zeros.astype(int)),
        "explained_share": ("kernel", np.array([0.1, 0.1])),
        "centre": ("kernel", np.array([2, 2])),
    }
    about = {"model": model, "direction": 0, "labels": ["$W^Q$", "$W^K$"]}
    about["kernels"] = list(KERNELS)
    return xr.Dataset(arrays, {"first": axis, "second": axis}, about)


ROUGH, SMOOTH = {"softmax": 0.05, "gaussian": 0.0}, {"softmax": 0.0, "gaussian": 0.05}


@pytest.mark.parametrize(
    ("rough", "smooth", "outcome"),
    [
        (10, 0, Outcome.HOLDS),
        (9, 1, Outcome.HOLDS),
        (8, 2, Outcome.INCONCLUSIVE),
        (5, 5, Outcome.INCONCLUSIVE),
        (1, 9, Outcome.VIOLATED),
    ],
)
def test_smoother_is_what_a_sign_test_over_models_tells(rough, smooth, outcome):
    kinds = [ROUGH] * rough + [SMOOTH] * smooth
    parts = [surfaces(kind, model) for model, kind in enumerate(kinds)]
    (found,) = judge(landscape_claims.CLAIMS, {"landscape-text": parts})
    assert [verdict.outcome for verdict in found.verdicts] == [outcome] * 2
    for verdict in found.verdicts:
        assert verdict.numbers["lower"] == rough and verdict.numbers["higher"] == smooth
        assert f"lower in {rough}" in verdict.measured


def test_surfaces_of_different_loss_are_not_compared():
    near = surfaces(ROUGH, 0, centre=(0.3, 0.28))
    far = surfaces(SMOOTH, 1, centre=(0.3, 0.2))
    assert mismatch_of(near) == pytest.approx(0.02 / 0.3)
    assert comparable([near, far]) == [near]
    table = paired_table(metrics_table([near]))
    assert table["lower in models"].iloc[0] == "1 of 1"
    assert len(paired_table(metrics_table([]))) == 0


def test_too_few_models_are_not_judged():
    parts = [surfaces(ROUGH, model) for model in range(5)]
    parts += [surfaces(ROUGH, 5, centre=(0.3, 0.2))]
    (found,) = judge(landscape_claims.CLAIMS, {"landscape-images": parts})
    (verdict,) = found.verdicts
    assert verdict.outcome == Outcome.UNMET and verdict.measured.endswith("needs 6")


def test_the_picture_of_pairs_counts_models():
    parts = [surfaces(ROUGH, model) for model in range(3)] + [surfaces(SMOOTH, 3)]
    picture = pairs(metrics_table(parts), HEADLINE, "caption")
    titles = [axes.get_title() for axes in picture.figure.axes]
    assert titles == ["gaussian lower in 3 of 4 models"] * 2
    assert len(picture.data) == 2 * 4


# --- verdicts on training -------------------------------------------------------------


def trained(kernel: str, seed: int, losses, accuracies) -> xr.Dataset:
    steps = 100 * np.arange(len(losses))
    arrays = {
        "train_loss": ("step", np.array(losses)),
        "train_accuracy": ("step", np.linspace(0.5, 0.9, len(losses))),
        "validation_accuracy": ("test_step", np.array(accuracies) - 0.01),
        "test_accuracy": ("test_step", np.array(accuracies)),
    }
    model = {"kernel": kernel}
    about = {
        "experiment": {"model": model, "task": {"kind": "text"}},
        "seed": seed,
        "name": f"{kernel}-{seed}",
        "seconds": 1.0,
        "diverged": -1,
    }
    return xr.Dataset(arrays, {"step": steps, "test_step": steps}, about)


def runs(gaussian, softmax=(0.69, 0.5, 0.4)) -> list[xr.Dataset]:
    scores = (0.5, 0.8, 0.78)
    return [
        trained("softmax", 0, softmax, scores),
        trained("gaussian", 0, gaussian, scores),
    ]


def test_the_accuracy_is_chosen_by_validation():
    run = trained("softmax", 0, (0.7, 0.5, 0.4), (0.5, 0.8, 0.9))
    run = run.assign(validation_accuracy=("test_step", [0.5, 0.9, 0.8]))
    assert real_claims.chosen_accuracy(run) == 0.8


def test_faster_is_the_lower_mean_training_loss():
    claims = [c for c in real_claims.CLAIMS if "as fast, IMDb" in c.name]
    for last, outcome in ((0.3, Outcome.HOLDS), (0.6, Outcome.VIOLATED)):
        (found,) = judge(claims, {"imdb": runs((0.69, 0.5, last))})
        assert found.outcome == outcome


def test_a_run_that_diverged_is_never_the_faster_and_can_be_drawn():
    claims = [c for c in real_claims.CLAIMS if "as fast, IMDb" in c.name]
    cut = trained("gaussian", 0, (0.3, 0.2), (0.5, 0.5))
    cut.attrs["diverged"] = 100
    (found,) = judge(claims, {"imdb": [runs((0.7, 0.7, 0.7))[0], cut]})
    assert found.outcome == Outcome.VIOLATED
    both = [cut, trained("gaussian", 1, (0.5, 0.4, 0.3), (0.5,) * 3)]
    both = [run.assign(test_loss=run.test_accuracy) for run in both]
    lines = classification({"gaussian": both}, "caption").figure.axes[0].get_lines()
    np.testing.assert_allclose(lines[2].get_ydata(), (0.4, 0.3, 0.3))


def test_nothing_is_faster_where_nothing_is_learnt():
    claims = [c for c in real_claims.CLAIMS if "as fast, Pathfinder" in c.name]
    stuck = runs([math.log(2)] * 3, [math.log(2) + 0.001] * 3)
    (found,) = judge(claims, {"pathfinder": stuck})
    assert found.outcome == Outcome.UNMET


def test_pathfinder_says_how_many_leave_the_plateau():
    claims = [c for c in real_claims.CLAIMS if "leaves" in c.name]
    stuck = trained("gaussian", 1, [math.log(2)] * 3, (0.5, 0.5, 0.5))
    (found,) = judge(claims, {"pathfinder": [*runs((0.69, 0.5, 0.4)), stuck]})
    assert found.count(Outcome.HOLDS) == 2 and found.count(Outcome.VIOLATED) == 1
    assert found.verdicts[2].measured == "stays at ln 2"

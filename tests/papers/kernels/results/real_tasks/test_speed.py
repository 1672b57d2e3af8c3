"""IMDb, Pathfinder and landscapes: studies of small size, and verdicts by hand."""

import dataclasses
import json
import math

import numpy as np
import pytest
import xarray as xr

from piste.claims import Outcome, judge
from piste.cli import main
from piste.errors import InputError
from piste.experiment import Experiment, Schedule
from piste.figures.landscape import pairs
from piste.landscape import two_stage
from piste.landscape.comparison import Comparison
from piste.landscape.tables import (
    HEADLINE,
    comparable,
    metrics_table,
    mismatch_of,
    paired_table,
)
from piste.models import Classifier
from piste.papers.kernels import (
    captions,
    landscape_claims,
    real_claims,
    real_presets,
    real_runs,
    real_studies,
)
from piste.papers.kernels.figures.classification import classification
from piste.papers.kernels.figures.declared import FIGURES
from piste.papers.kernels.tables import TABLES
from piste.reproduction import LandscapeStudy, draw_figures, make_tables
from piste.tasks import Text
from piste.tasks.text import TEXTS
from support.evidence import evidence_of
from support.kernel_evidence import ROUGH, SMOOTH, curves, everything, real, surfaces
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
    assert "IMDb, 6 words" in shown and "non-convex cells" in shown
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
    for made in (real_presets.pathfinder_desk(), real_presets.imdb_desk()):
        assert two_stage.in_full_form(made) == made


# --- verdicts on the landscape --------------------------------------------------------


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
    (found,) = judge(landscape_claims.CLAIMS, evidence_of({"landscape-text": parts}))
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
    (found,) = judge(landscape_claims.CLAIMS, evidence_of({"landscape-images": parts}))
    for verdict in found.verdicts:
        assert verdict.outcome == Outcome.INCONCLUSIVE
        assert "two-sided sign test, p = 0.0625); 6 that all agree" in verdict.measured


def test_a_model_without_a_number_decides_nothing():
    parts = [surfaces(ROUGH, model) for model in range(7)]
    parts[3].loss[0, :, :] = np.nan  # but for the centre, which has its loss
    parts[3].loss[0, 10, 10] = 0.3
    (found,) = judge(landscape_claims.CLAIMS, evidence_of({"landscape-images": parts}))
    for verdict in found.verdicts:
        assert verdict.outcome == Outcome.INCONCLUSIVE
        assert "1 without a number" in verdict.measured
    picture = pairs(metrics_table(parts), HEADLINE, "caption")
    title = picture.figure.axes[0].get_title()
    assert title == "gaussian lower in 6 of 7 models, 1 without a number"


def test_surfaces_of_two_comparisons_are_not_pooled():
    parts = [surfaces(ROUGH, 0), surfaces(SMOOTH, 0)]
    with pytest.raises(InputError, match=r"surfaces \(model 0 twice\): must be of one"):
        judge(landscape_claims.CLAIMS, evidence_of({"landscape-images": parts}))


def test_the_picture_of_pairs_counts_models():
    parts = [surfaces(ROUGH, model) for model in range(3)] + [surfaces(SMOOTH, 3)]
    picture = pairs(metrics_table(parts), HEADLINE, "caption")
    titles = [axes.get_title() for axes in picture.figure.axes]
    assert titles == ["gaussian lower in 3 of 4 models"] * 2
    assert len(picture.data) == 2 * 4


# --- verdicts on training -------------------------------------------------------------


def trained(kernel: str, seed: int, losses, **changed) -> xr.Dataset:
    """A classifier with a training loss that stays at its last value; test loss alike."""
    run = curves(kernel, seed)
    losses = np.array([*losses, losses[-1], losses[-1]], float)
    steps = 100 * np.arange(losses.size)
    run = run.isel(step=slice(losses.size), test_step=slice(losses.size))
    series = {"train_loss": ("step", losses), "test_loss": ("test_step", losses)}
    run = run.assign(series).assign_coords(step=steps, test_step=steps)
    return run.assign_attrs(**changed)


def pairs_of(gaussian, softmax=(0.69, 0.5, 0.4), seeds=1) -> list[xr.Dataset]:
    both = {"softmax": softmax, "gaussian": gaussian}
    return [trained(k, seed, x) for seed in range(seeds) for k, x in both.items()]


def verdicts(name: str, **evidence):
    claims = [c for c in real_claims.CLAIMS if name in c.name]
    (found,) = judge(claims, evidence_of(evidence))
    return found.verdicts


def test_the_accuracy_is_chosen_by_validation():
    run = trained("softmax", 0, (0.7, 0.5, 0.4))
    run = run.assign(
        validation_accuracy=("test_step", [0.5, 0.9, 0.8, 0.8, 0.8]),
        test_accuracy=("test_step", [0.5, 0.8, 0.9, 0.9, 0.9]),
    )
    assert real_runs.chosen_accuracy(run) == 0.8
    run.validation_accuracy[2] = math.nan  # numpy would choose it
    assert math.isnan(real_runs.chosen_accuracy(run))


@pytest.mark.parametrize(
    ("seeds", "last", "outcome", "p"),
    [
        (3, 0.3, Outcome.INCONCLUSIVE, "p = 0.125"),
        (5, 0.3, Outcome.HOLDS, "p = 0.0312"),
        (5, 0.6, Outcome.VIOLATED, "p = 1"),
        (1, 0.3, Outcome.INCONCLUSIVE, "p = 0.5"),
    ],
)
def test_faster_is_told_by_one_test_over_the_seeds(seeds, last, outcome, p):
    for found in verdicts("fast, IMDb", imdb=pairs_of((0.69, 0.5, last), seeds=seeds)):
        assert found.outcome == outcome
        assert f"one-sided sign test, {p})" in found.measured
        told = "5 that all agree would decide" in found.measured
        assert told == (seeds < 5)


def test_test_losses_are_compared_beside_training_losses():
    runs = pairs_of((0.69, 0.5, 0.3), seeds=5)
    runs = [
        run.assign(test_loss=run.test_loss + (run.attrs["name"][0] == "g"))
        for run in runs
    ]
    train, test = verdicts("fast, IMDb", imdb=runs)
    assert train.instance == "training loss, 5 of 5 pairs"
    assert test.instance == "test loss, 5 of 5 pairs"
    assert (train.outcome, test.outcome) == (Outcome.HOLDS, Outcome.VIOLATED)


@pytest.mark.parametrize("how", ["diverged", "shorter", "not a number"])
def test_a_run_that_broke_off_decides_nothing(how):
    runs = pairs_of((0.69, 0.4, 0.3), seeds=6)
    broken = {
        "diverged": trained("gaussian", 5, (0.69, 0.4, 0.3), diverged=100),
        "shorter": trained("gaussian", 5, (0.69, 0.1)),
        "not a number": trained("gaussian", 5, (0.69, math.nan, 0.3)),
    }[how]
    found = verdicts("fast, IMDb", imdb=[*runs[:-1], broken])
    assert {v.outcome for v in found} == {Outcome.INCONCLUSIVE}
    assert "1 without a number" in found[0].measured


def test_runs_that_differ_in_more_than_kernel_and_seed_are_not_paired():
    runs = pairs_of((0.69, 0.5, 0.3), seeds=5)
    runs[3].attrs["experiment"] = runs[3].attrs["experiment"] | {"steps": 7}
    with pytest.raises(
        InputError, match="runs: differ in steps; must be equal but for"
    ):
        verdicts("fast, IMDb", imdb=runs)
    with pytest.raises(InputError, match="runs: differ in steps"):
        real_runs.real_table(evidence_of({"imdb": runs}))


def test_nothing_is_faster_where_nothing_is_learnt():
    stuck = pairs_of([math.log(2)] * 3, [math.log(2) + 0.001] * 3, seeds=6)
    found = verdicts("fast, Pathfinder", pathfinder=stuck)
    assert {v.outcome for v in found} == {Outcome.UNMET}


@pytest.mark.parametrize(
    ("losses", "outcome", "words"),
    [
        ((0.69, 0.5, 0.4), Outcome.HOLDS, "at step 100"),
        ((0.75, 0.69, 0.7), Outcome.VIOLATED, "stays at ln 2 from step 100 on"),
        (
            (0.693, 0.691, 0.694),
            Outcome.VIOLATED,
            "stays at ln 2 from step 0 on: 0.6910 to 0.6940",
        ),
        (
            (0.69, 0.9, 1.3),
            Outcome.VIOLATED,
            "the loss rises above ln 2: 1.3 at the end",
        ),
        (
            (0.69, 0.5, 0.5, 0.68),
            Outcome.VIOLATED,
            "is 0.5 to 0.69, and 0.68 at the end",
        ),
        ((0.69, math.nan, 0.4), Outcome.INCONCLUSIVE, "a loss at every record"),
        ((0.69, 0.69, math.nan), Outcome.INCONCLUSIVE, "is no number at step 200"),
        ((0.1, 0.1, 0.1), Outcome.INCONCLUSIVE, "a loss of guessing at first: 0.1"),
    ],
)
def test_pathfinder_says_where_the_loss_goes(losses, outcome, words):
    found, _ = verdicts("leaves", pathfinder=[trained("gaussian", 1, losses)])
    assert found.outcome == outcome and words in found.measured
    assert ("stays at ln 2" in found.measured) == (words[:5] == "stays")


def test_a_run_that_has_just_left_ln_2_does_not_tell():
    run = trained("gaussian", 1, (0.69, 0.69, 0.69, 0.5)).isel(step=slice(5))
    found, _ = verdicts("leaves", pathfinder=[run])
    assert found.outcome == Outcome.INCONCLUSIVE
    assert "too few records to tell: 2" in found.measured


def test_a_diverged_run_does_not_stay_at_ln_2():
    run = trained("softmax", 0, (0.69, 0.69), diverged=150)
    found, missing = verdicts("leaves", pathfinder=[run])
    assert (
        found.outcome == Outcome.INCONCLUSIVE
        and "diverged at step 150" in found.measured
    )
    assert (missing.instance, missing.measured) == ("gaussian", "no run")


def test_learnt_needs_both_kernels_and_a_start_without_knowledge():
    (found, missing) = verdicts("learnt", imdb=[curves("softmax", 0)])
    assert found.outcome == Outcome.HOLDS and found.margin is None
    assert missing.outcome == Outcome.INCONCLUSIVE
    known = curves("softmax", 0).assign(test_accuracy=("test_step", [0.9] * 6))
    found, _ = verdicts("learnt", imdb=[known])
    assert found.outcome == Outcome.INCONCLUSIVE


# --- figures --------------------------------------------------------------------------


def lines_of(picture) -> dict[str, np.ndarray]:
    """The labelled curves of the first panel."""
    lines = picture.figure.axes[0].get_lines()
    named = [line for line in lines if not line.get_label().startswith("_")]
    return {line.get_label(): line.get_ydata() for line in named}


def test_the_mean_is_over_seeds_as_far_as_all_of_them_go():
    cut = trained("gaussian", 0, (0.3, 0.2), diverged=100)
    both = [cut, trained("gaussian", 1, (0.5, 0.4, 0.3))]
    found = lines_of(classification(both, "caption"))
    np.testing.assert_allclose(found["gaussian"], (0.4, 0.3, 0.25, 0.25, math.nan))


def test_other_experiments_are_drawn_apart_and_named():
    runs = pairs_of((0.69, 0.5, 0.3), seeds=2)
    other = trained("softmax", 0, (1.0, 1.0, 1.0))
    other.attrs["experiment"] = other.attrs["experiment"] | {
        "rule": {"learning_rate": 3}
    }
    runs[0].attrs["experiment"] |= {"rule": {"learning_rate": 1}}
    for run in runs[1:]:
        run.attrs["experiment"] = run.attrs["experiment"] | {
            "rule": {"learning_rate": 1}
        }
    found = lines_of(classification([*runs, other], "caption"))
    assert list(found) == [
        "softmax, rule.learning-rate = 1",
        "gaussian, rule.learning-rate = 1",
        "softmax, rule.learning-rate = 3",
    ]
    np.testing.assert_allclose(
        found["softmax, rule.learning-rate = 1"], (0.69, 0.5, 0.4, 0.4, 0.4)
    )


def test_the_same_seed_twice_is_no_second_seed():
    run = trained("gaussian", 1, (0.5, 0.4, 0.3))
    with pytest.raises(InputError, match="seed = 1: equal runs"):
        classification([run, run], "caption")


def test_captions_speak_of_the_task_that_was_run():
    runs = pairs_of((0.69, 0.5, 0.3), seeds=3)
    assert captions.real(runs).startswith(
        "IMDb, 128 words (softmax, 3 seeds; gaussian, 3"
    )
    path = {"difficulty": "hard", "canvas": 32}
    runs[0].attrs["experiment"] = runs[0].attrs["experiment"] | {"task": path}
    assert captions.real(runs[:1]).startswith(
        "Pathfinder, hard, 32×32 (softmax, 1 seed)"
    )


def test_everything_can_be_drawn_and_tabulated():
    evidence = everything() | {"pair": [], "pathfinder": []}
    evidence["imdb"] = real(2)
    shown = {name: left for name, left in evidence.items() if name != "pair"}
    found = draw_figures(FIGURES, evidence_of(shown))
    assert {"promised", "region", "acceptance", "imdb", "landscape-text"} <= set(found)
    assert "2 seeds" in found["imdb"].caption
    assert (
        "one of 6 models (the median over 1 plane)" in found["landscape-text"].caption
    )
    surfaces = found["landscape-text-contours"].caption
    assert "direction in W^Q and one in W^K" in surfaces
    assert "model of seed 0, plane 0" in surfaces
    made = make_tables(TABLES, evidence_of(evidence))
    assert {"promised", "region", "real", "landscape-text"} <= set(made)
    assert "20 of 20 runs are within the bound per head" in made["promised"][0]
    assert "so 20 are tests of it" in made["promised"][0]

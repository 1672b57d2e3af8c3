"""Two-stage training, and the comparison of two kernels, on small models."""

import dataclasses
import json

import jax
import numpy as np
import pytest

from piste.errors import InputError
from piste.experiment import Experiment, Schedule
from piste.landscape import (
    equal_rise,
    planes,
    projection,
    stored,
    surface,
    survey,
    tables,
    two_stage,
)
from piste.landscape.comparison import Comparison
from piste.landscape.survey import Survey
from piste.papers.decision_lists.models import OneHot
from piste.papers.decision_lists.tasks import DecisionLists
from piste.registry import name_of
from piste.reproduction.landscapes import compare
from piste.rules import GD
from piste.store import Store, save_state
from piste.testing import assert_close
from piste.training import Plan, build, draw, fixed_loss, train
from piste.values import override
from support.contract_rows import collected
from support.faults import flip
from support.small import REGRESSION

LISTS = Experiment(
    task=DecisionLists(vocabulary=5, length=3, list_bound=2),
    model=OneHot(init_scale=0.5),
    rule=GD(0.5),
    steps=10,
    record=Schedule(dense=5, chunk=8),
)
TINY = Comparison(points=5, models=2, directions=2, snapshots=4, steps_two=12)


def test_two_stages_with_one_kernel_are_one_run():
    longer = dataclasses.replace(REGRESSION, steps=50)
    with jax.enable_x64(True):
        system = build(longer)
        *_, last = train(system, Plan.of(longer), system.start())
    stage = two_stage.two_stages(REGRESSION, ("softmax",), 30, 4)["softmax"]
    assert stage.steps.tolist() == [20, 23, 33, 50]
    assert_close(stage.snapshot(-1), last.state.params)


def test_the_second_stage_begins_where_the_first_ended():
    state = two_stage.first_stage(REGRESSION)
    stage = two_stage.second_stage(REGRESSION, state, "gaussian", 9, 3)
    assert_close(stage.snapshot(0), state.params)
    assert stage.system.form.kernel == "gaussian"
    truth = [stage.loss(point) for point in stage.snapshots()]
    assert_close(stage.losses, np.array(truth))
    assert stage.losses[-1] < stage.losses[0]


def test_targets_stay_those_of_the_first_kernel():
    hardest = override(REGRESSION, {"task.targets": "hardest"})
    system = two_stage.second_system(hardest, "gaussian")
    assert_close(system.form.data.targets, draw(hardest).data.targets)
    own = draw(override(hardest, {"model.kernel": "gaussian"})).data.targets
    assert np.abs(own - system.form.data.targets).max() > 1e-3


@pytest.mark.parametrize(
    ("experiment", "kind"),
    [
        *collected("LANDSCAPES"),
        pytest.param(LISTS, "random", marks=pytest.mark.slow),
        (LISTS, "pca"),
    ],
    ids=lambda given: given if isinstance(given, str) else name_of(given.model),
)
def test_every_model_has_its_landscapes(experiment, kind):
    stage = two_stage.two_stages(experiment, ("gaussian",), 8, 4)["gaussian"]
    params, key = stage.snapshot(-1), jax.random.key(0)
    plane = {
        "qk": lambda: planes.qk(params, key=key),
        "random": lambda: planes.random(params, key=key),
        "pca": lambda: planes.pca(stage.snapshots())[0],
        "hessian": lambda: planes.hessian(stage.loss, params, 12)[0],
    }[kind]()
    drawn = surface.compute(stage.loss, plane, 5, 0.5)
    assert_close(drawn.centre, float(stage.losses[-1]))
    corner = stage.system.form.loss_and_gradient(plane.at(0.5, -0.5))[0]
    assert_close(drawn.loss[-1, 0], np.asarray(corner))
    seen = projection.project(stage.loss, plane, stage.snapshots())
    assert_close(seen.true_loss, stage.losses)


def test_bad_stages(tmp_path):
    state = two_stage.first_stage(REGRESSION)
    with pytest.raises(InputError, match="steps-two = 0: must be at least 1"):
        two_stage.second_stage(REGRESSION, state, "softmax", 0)
    with pytest.raises(InputError, match="snapshots = 2: must be at least 3"):
        two_stage.second_stage(REGRESSION, state, "softmax", 5, 2)
    with pytest.raises(InputError, match="model.kernel = gausian: must be one of"):
        two_stage.second_stage(REGRESSION, state, "gausian", 5)
    wild = override(REGRESSION, {"rule": "gd", "rule.learning-rate": 1e30})
    with pytest.raises(InputError, match="first stage: ended at step"):
        two_stage.first_stage(wild, Store(tmp_path))
    with pytest.raises(InputError, match="kernels = .*must not have softmax"):
        Survey(REGRESSION, Comparison(kernels=("softmax",)), tmp_path)
    with pytest.raises(InputError, match="kernels = .*must name each of them once"):
        Comparison(kernels=("gaussian", "gaussian"))
    with pytest.raises(InputError, match="rises = .*must name each of them once"):
        Comparison(rises=(0.1, 0.1))
    with pytest.raises(InputError, match="rises = .*greater than 0"):
        Comparison(rises=(0.0,))
    with pytest.raises(InputError, match="plane = qk: there is no trained matrix"):
        survey.run(Survey(LISTS, TINY, tmp_path / "none"))
    assert not (tmp_path / "none").exists()
    with pytest.raises(InputError, match="points = 6: must be odd"):
        Comparison(points=6)
    theorem = OneHot(train="attention", start="permutation")
    lists = dataclasses.replace(LISTS, model=theorem)
    with pytest.raises(InputError, match="kernel = gaussian: has other parameters"):
        two_stage.second_system(lists, "gaussian")


def test_a_study_is_stored_and_goes_on_where_it_was_stopped(tmp_path, monkeypatch):
    whole = compare(Survey(REGRESSION, TINY, tmp_path / "whole"))
    table = whole.metrics
    assert len(table) == 2 * 2 * 2 and set(table.kernel) == {"softmax", "gaussian"}
    about = json.loads((whole.folder / "landscape.json").read_text())
    assert len(about["surfaces"]) == 8
    assert {p.suffix for p in (whole.folder / "figures").iterdir()} == {
        ".png",
        ".pdf",
        ".csv",
        ".txt",
    }
    # Stopped after the first surface of the second model, then run again.
    interrupted, real, calls = Survey(REGRESSION, TINY, tmp_path / "cut"), [], []
    real.append(surface.compute)

    def stop(*args, **options):
        calls.append(1)
        if len(calls) == 6:
            raise KeyboardInterrupt
        return real[0](*args, **options)

    monkeypatch.setattr(surface, "compute", stop)
    with pytest.raises(KeyboardInterrupt):
        survey.run(interrupted)
    monkeypatch.setattr(two_stage, "train", None)  # the stages are all there
    parts = survey.run(interrupted)
    assert len(calls) == 6 + 4
    for part, truth in zip(parts, whole.parts, strict=True):
        np.testing.assert_array_equal(part.loss.values, truth.loss.values)
        np.testing.assert_array_equal(part.coordinates, truth.coordinates)
    damaged = next((tmp_path / "cut/landscape/stages").glob("gaussian-seed=0-*/*"))
    damaged.write_bytes(damaged.read_bytes()[:-1])
    monkeypatch.setattr(two_stage, "train", train)
    again = survey.run(interrupted, fresh=True)  # what is damaged is trained again
    np.testing.assert_array_equal(again[0].loss.values, whole.parts[0].loss.values)
    # A fresh survey that is stopped goes on with the stages that it has made itself.
    calls.clear()
    with pytest.raises(KeyboardInterrupt):
        survey.run(interrupted, fresh=True)
    assert interrupted.parts().find()
    monkeypatch.setattr(two_stage, "train", None)
    anew = survey.run(interrupted, fresh=True)
    assert len(calls) == 6 + 4
    np.testing.assert_array_equal(anew[3].loss.values, whole.parts[3].loss.values)
    with pytest.raises(TypeError):  # but never with those of before
        survey.run(interrupted, fresh=True)


def test_a_second_stage_goes_on_to_the_same_bits(tmp_path, monkeypatch):
    whole = Survey(REGRESSION, TINY, tmp_path / "whole")
    truth = survey.run(whole)
    cut, calls = Survey(REGRESSION, TINY, tmp_path / "cut"), []

    def stop(*args):
        # Killed between a snapshot and the state after it, in the second stage.
        calls.append(1)
        if len(calls) == 6:
            raise KeyboardInterrupt
        save_state(*args)

    monkeypatch.setattr(stored, "save_state", stop)
    with pytest.raises(KeyboardInterrupt):
        survey.run(cut)
    assert not list((tmp_path / "cut/landscape").rglob("*.zarr"))
    monkeypatch.setattr(stored, "save_state", save_state)
    monkeypatch.setattr(
        stored.TrainingPhase, "of", kept := Kept(stored.TrainingPhase.of)
    )
    parts = survey.run(cut)
    assert kept.steps[0].tolist() == [20, 21, 25, 32]
    for one, two in zip(parts, truth, strict=True):
        np.testing.assert_array_equal(one.loss.values, two.loss.values)
        np.testing.assert_array_equal(one.true_loss.values, two.true_loss.values)


class Kept:
    """Remember the steps that stages are made of."""

    def __init__(self, real):
        self.real, self.steps = real, []

    def __call__(self, kernel, system, steps, params):
        self.steps.append(steps)
        return self.real(kernel, system, steps, params)


def test_a_damaged_stage_is_named(tmp_path):
    one = Survey(REGRESSION, TINY, tmp_path)
    survey.run(one)
    folder = one.stage(1, "gaussian").folder()
    other = Survey(REGRESSION, dataclasses.replace(TINY, plane="pca"), tmp_path)
    damaged = folder / "snapshot-001.npz"
    content = damaged.read_bytes()
    damaged.write_bytes(content[:-1])
    with pytest.raises(InputError, match="snapshot-001.npz: has .* bytes; must be"):
        survey.run(other)
    flip(damaged.write_bytes(content) and damaged)
    with pytest.raises(InputError, match="snapshot-001.npz: is damaged"):
        survey.run(other)


def test_work_is_counted_in_steps_and_points():
    assert TINY.parts() == 4
    # A model: 20 steps, then twice 12; a part: twice 25 points.
    assert [TINY.work(20, n) for n in range(5)] == [0, 94, 144, 238, 288]
    rises = dataclasses.replace(TINY, rises=(0.1, 0.2), swap=True)
    # Twice two surfaces of two kernels, and a search around either weights.
    points = 2 * (4 * 25 + 2 * equal_rise.POINTS)
    assert rises.work(20, 1) == 44 + points


def test_surfaces_at_equal_rise_around_trained_and_swapped_weights(tmp_path):
    settings = Comparison(
        points=5, models=1, directions=1, snapshots=3, steps_two=9,
        kernels=("gaussian", "gaussian-rows"), rises=(0.05, 1e6), swap=True,
    )  # fmt: skip
    (part,) = survey.run(Survey(REGRESSION, settings, tmp_path))
    assert tables.kernels_of(part) == ["softmax", "gaussian", "gaussian-rows"]
    table = tables.metrics_table([part]).set_index(["window", "weights", "kernel"])
    near, far = table.loc["rise 0.05"], table.loc["rise 1e+06"]
    target = 0.05 * part.attrs["initial_loss"]
    with jax.enable_x64(True):
        system = build(REGRESSION)
        initial = fixed_loss(system.form)(system.form.initial())
        assert_close(part.attrs["initial_loss"], float(initial))
    np.testing.assert_allclose(near.rise, target, rtol=0.15)
    assert far[["reach", "non_convex", "minima"]].isna().all().all()
    # Swapped: the weights of the first stage, with another kernel in place.
    state = two_stage.first_stage(REGRESSION)
    for kernel in tables.kernels_of(part):
        loss = fixed_loss(two_stage.second_system(REGRESSION, kernel).form)
        with jax.enable_x64(True):
            assert_close(near.centre_loss["swapped", kernel], float(loss(state.params)))

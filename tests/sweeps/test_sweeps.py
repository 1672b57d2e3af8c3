"""Sweeps: cells are runs, batches share a program, and a stopped sweep goes on."""

import dataclasses
import json

import numpy as np
import pytest

from piste.errors import InputError
from piste.rules import GD
from piste.store import read_manifest, run_in_memory
from piste.sweeps import Sweep, local, run_sweep, sweep_parts
from piste.sweeps.grid import static_part
from piste.training import batches, run_batch
from piste.values import override
from support.faults import assert_every_damage_is_named
from support.tiny import tiny

PROBES = ("train_loss", "test_loss")
AXES = {"task.noise_scale": (1.0, 3.0), "seed": range(3)}


def short(rule: str = "signgd", **changes):
    return tiny(rule, steps=40, **changes)


def test_cells_are_the_product_of_the_axes():
    cells = Sweep(short(), AXES).cells()
    assert len(cells) == 6 and [cell.index for cell in cells] == list(range(6))
    assert cells[4].experiment.task.noise_scale == 3.0 and cells[4].experiment.seed == 1


def test_fields_can_change_together():
    axes = {"rule.b1, rule.b2": ((0.0, 0.9), (0.9, 0.99))}
    cells = Sweep(short("adam"), axes).cells()
    assert [(c.experiment.rule.b1, c.experiment.rule.b2) for c in cells] == [
        (0.0, 0.9),
        (0.9, 0.99),
    ]


def test_a_cell_is_the_base_with_its_settings():
    axes = {
        "task.noise_scale, task.samples": ((1.0, 4), (3.0, 6)),
        "rule, rule.learning_rate": (("gd", 0.5), ("adam", 0.25), ("gd", 0.25)),
        "seed": (2, 0),
    }
    sweep = Sweep(short(), axes)
    cells = sweep.cells()
    assert len({cell.experiment.digest for cell in cells}) == 12
    for cell in cells:
        assert cell.experiment == override(sweep.base, cell.settings)
        assert set(cell.settings) == set(", ".join(axes).split(", "))
    first = Sweep(sweep.base, dict(reversed(axes.items()))).cells()
    assert {c.experiment for c in first} == {c.experiment for c in cells}


def test_a_list_of_cells_is_the_callers_own():
    sweep = Sweep(short(), AXES)
    sweep.cells().clear()
    for batch in sweep.batches(2):
        batch.clear()
    assert len(sweep.cells()) == 6
    assert [len(batch) for batch in sweep.batches(4)] == [4, 2]


@pytest.mark.parametrize(
    ("axes", "message"),
    [
        ({"seed": (0, -1)}, "seed = -1: must be at least 0"),
        ({"task.samples": (4, 0), "seed": (0, 1)}, "task.samples = 0: must be at"),
        ({"seed": (0, 1), "rule": ("gd", "nothing")}, "rule = nothing: must be one of"),
    ],
)
def test_a_mistake_in_a_cell_is_named(axes, message):
    with pytest.raises(InputError, match=message):
        Sweep(short(), axes).cells()


def test_batches_hold_one_program_each():
    sweep = Sweep(short(), {"task.samples": (4, 6), "seed": range(3)})
    batches = sweep.batches(2)
    assert [len(batch) for batch in batches] == [2, 1, 2, 1]
    for batch in batches:
        assert len({static_part(cell.experiment) for cell in batch}) == 1


@pytest.mark.parametrize("rule", ["signgd", "adam", "gd"])
def test_every_cell_is_the_run_of_its_experiment(rule, tmp_path):
    sweep = Sweep(short(rule), AXES)
    found = run_sweep(sweep, tmp_path, PROBES, batch=4)
    assert set(found.data_vars) == set(PROBES)
    for cell in sweep.cells():
        part = found.isel(cell=cell.index)
        assert float(part.noise_scale) == cell.experiment.task.noise_scale
        assert int(part.seed) == cell.experiment.seed
        alone = run_in_memory(cell.experiment)
        for name in PROBES:
            np.testing.assert_allclose(part[name], alone[name], rtol=1e-9, atol=1e-12)


def test_one_compilation_for_all_seeds_and_floats(tmp_path):
    before = run_batch._cache_size()
    axes = {"rule.learning_rate": (1e-3, 2e-3, 3e-3), "seed": range(3)}
    run_sweep(Sweep(short("lion"), axes), tmp_path, ("train_loss",), batch=4)
    assert run_batch._cache_size() == before + 1


def test_a_stopped_sweep_goes_on_where_it_stopped(tmp_path):
    sweep = Sweep(short(), AXES)

    class Stop(Exception):
        pass

    def stop(step, loss):
        if step > 100:
            raise Stop

    with pytest.raises(Stop):
        run_sweep(sweep, tmp_path / "a", PROBES, batch=2, watch=stop)
    (partial,) = (tmp_path / "a").glob("*.partial")
    assert len(list(partial.glob("part-*.zarr"))) == 1
    assert not list(partial.glob("*.new"))
    resumed = run_sweep(sweep, tmp_path / "a", PROBES, batch=2)
    whole = run_sweep(sweep, tmp_path / "b", PROBES, batch=2)
    for name in PROBES:
        assert resumed[name].values.tobytes() == whole[name].values.tobytes()


def test_a_cell_that_diverges_is_data(tmp_path):
    base = dataclasses.replace(short("gd", form="full"), rule=GD(learning_rate=0.5))
    sweep = Sweep(base, {"rule.learning_rate": (0.5, 1e200)})
    found = run_sweep(sweep, tmp_path, PROBES, batch=2)
    assert found.diverged.values[0] == -1 and found.diverged.values[1] > 0
    assert np.isfinite(found.train_loss[0]).all()


def test_a_batch_may_stop_when_all_losses_are_low(tmp_path):
    base = tiny("gd", steps=300)
    sweep = Sweep(base, {"seed": range(2)})
    whole = run_sweep(sweep, tmp_path / "a", PROBES, batch=2)
    level = float(whole.train_loss.isel(step=30).max())
    cut = run_sweep(sweep, tmp_path / "b", PROBES, batch=2, stop_below=level)
    measured = cut.train_loss.notnull()
    assert 0 < int(measured.sum()) < measured.size
    kept = cut.train_loss.where(measured, drop=True)
    np.testing.assert_array_equal(
        kept, whole.train_loss.isel(step=slice(kept.sizes["step"]))
    )
    assert float(kept.isel(step=-1).max()) <= level


def test_a_loss_that_underflows_to_zero_is_no_reason_to_stop(tmp_path, monkeypatch):
    def underflowed(*given):
        state, records = real(*given)
        return state, records | {"train_loss": 0 * records["train_loss"]}

    real = batches.run_batch
    monkeypatch.setattr(batches, "run_batch", underflowed)
    found = run_sweep(
        Sweep(tiny("gd", steps=300), {"seed": range(2)}), tmp_path, PROBES
    )
    assert not found.train_loss.any() and found.train_loss.notnull().all()


def test_fields_with_one_last_word_keep_their_full_names():
    """Of two fields that end alike neither may hide the other, nor an axis of ours."""
    fields = ["task.steps", "model.steps", "a.index", "rule.b2"]
    names = local.coordinate_names(fields, taken=["index"])
    assert list(names.values()) == ["task.steps", "model.steps", "a.index", "b2"]


def test_another_version_is_refused(tmp_path):
    sweep = Sweep(short(), {"seed": range(2)})
    parts = sweep_parts(sweep, tmp_path, PROBES, batch=2)
    folder = tmp_path / f"sweep-{parts.what[:8]}"  # an address of format 1
    folder.mkdir()
    (folder / "manifest.json").write_text(json.dumps({"format": 1, "axes": {}}))
    with pytest.raises(InputError, match="format = 1: written by another version"):
        run_sweep(sweep, tmp_path, PROBES, batch=2)


def test_other_ways_to_run_it_have_other_folders(tmp_path):
    sweep = Sweep(short(), AXES)
    ways = [
        sweep_parts(sweep, tmp_path, PROBES, batch=2),
        sweep_parts(sweep, tmp_path, PROBES[:1], batch=2),
        sweep_parts(sweep, tmp_path, PROBES, batch=4),
        sweep_parts(sweep, tmp_path, PROBES, batch=2, stop_below=0.1),
        sweep_parts(Sweep(short(), {"seed": range(2)}), tmp_path, PROBES, batch=2),
    ]
    assert len({way.place.folder() for way in ways}) == len(ways)


def test_fresh_builds_aside_and_replaces_all_at_once(tmp_path, monkeypatch):
    """An interrupted fresh sweep is no mixture of old and new parts."""
    sweep = Sweep(short(), AXES)
    real = local._run_cells
    monkeypatch.setattr(local, "_run_cells", lambda *args: real(*args) + 1)
    old = run_sweep(sweep, tmp_path, PROBES, batch=2)
    made = []

    def stop(cells, *rest):
        if len(made) == 2:
            raise KeyboardInterrupt
        made.append(cells)
        return real(cells, *rest)

    monkeypatch.setattr(local, "_run_cells", stop)
    with pytest.raises(KeyboardInterrupt):
        run_sweep(sweep, tmp_path, PROBES, batch=2, fresh=True)
    served = run_sweep(sweep, tmp_path, PROBES, batch=2)
    np.testing.assert_array_equal(served.train_loss, old.train_loss)
    monkeypatch.setattr(
        local, "_run_cells", lambda *args: made.append(1) or real(*args)
    )
    new = run_sweep(sweep, tmp_path, PROBES, batch=2, fresh=True)
    np.testing.assert_allclose(new.train_loss + 1, old.train_loss)
    assert len(list(tmp_path.iterdir())) == 1
    assert len(made) == 3  # the first two parts were kept


@pytest.mark.parametrize("every", [12, pytest.param(1, marks=pytest.mark.slow)])
def test_damage_is_one_line_that_names_the_file(tmp_path, every):
    """Every file of a complete and of an interrupted sweep, in every way."""
    sweep = Sweep(short(), {"seed": range(2)})

    def make():
        return run_sweep(sweep, tmp_path, PROBES[:1], batch=1)

    truth = make()
    (folder,) = tmp_path.iterdir()
    assert_every_damage_is_named(folder, make, places=(0.5,), every=every)
    partial = folder.rename(folder.with_name(folder.name + ".partial"))
    manifest = read_manifest(partial, "parts")
    dataclasses.replace(manifest, complete=False).write(partial)
    assert_every_damage_is_named(partial, make, places=(0.5,), every=every)
    np.testing.assert_array_equal(make().train_loss, truth.train_loss)


def test_parts_of_which_only_some_have_a_time_are_joined():
    import xarray as xr

    from piste.store import join_parts

    with_time = xr.Dataset(
        {"x": (("cell", "step"), [[1.0, 2.0]])},
        {"step": [0, 1], "time": (("cell", "step"), [[0.0, 0.5]])},
    )
    joined = join_parts([with_time, with_time.drop_vars("time")], "cell")
    np.testing.assert_array_equal(joined.time, [[0, 0.5], [np.nan, np.nan]])
    np.testing.assert_array_equal(joined.x, [[1, 2], [1, 2]])

"""Evidence is typed, read when it is used, and dropped by whoever used it."""

import numpy as np
import pytest
import xarray as xr

from piste.reproduction import (
    Contents,
    Evidence,
    Figure,
    RunStudy,
    SweepStudy,
    Table,
    draw_figures,
    make_tables,
    reproduce,
)
from piste.store import join_parts
from piste.store.arrays import open_arrays, write_dataset
from piste.sweeps import Sweep
from support.small import SEEDS, SHORT_REGRESSION


def in_memory(data: xr.Dataset) -> list[str]:
    """The arrays of a dataset that were read."""
    return [str(n) for n, part in data.variables.items() if part._in_memory]


@pytest.fixture(scope="module")
def evidence(tmp_path_factory) -> Evidence:
    study = RunStudy("runs", "two seeds", SEEDS)
    return study.run(tmp_path_factory.mktemp("runs"))


def test_a_run_is_read_when_it_is_used_and_by_its_reader_alone(evidence):
    run, other = evidence.runs("runs")[0], evidence.runs("runs")[0]
    axes = set(run.dims) & set(run.coords)
    assert set(in_memory(run)) <= axes | {"time", "layer"}
    run.train_loss.values  # noqa: B018
    assert "train_loss" in in_memory(run)
    assert "train_loss" not in in_memory(other)
    assert "train_loss" not in in_memory(evidence.runs("runs")[0])


def test_a_loop_over_runs_holds_one_of_them(evidence):
    for run in evidence.runs("runs"):
        float(run.train_loss.sum())
    kept = [in_memory(run) for run in evidence.runs("runs")._stored]
    assert not any("train_loss" in names for names in kept)


def big_parts(folder, count: int = 3) -> list[xr.Dataset]:
    rng = np.random.default_rng(0)
    parts = []
    for index in range(count):
        arrays = {"path": (("cell", "step"), rng.normal(size=(2, 400_000)))}
        coords = {
            "step": np.arange(400_000),
            "seed": ("cell", [2 * index, 2 * index + 1]),
        }
        write_dataset(folder / f"{index}.zarr", xr.Dataset(arrays, coords))
        parts.append(open_arrays(folder / f"{index}.zarr"))
    return parts


def test_the_cells_of_a_sweep_are_read_one_by_one(tmp_path):
    parts = big_parts(tmp_path)
    joined = join_parts(parts, "cell")
    assert in_memory(joined) == ["seed", "step"] or "path" not in in_memory(joined)
    whole = xr.concat([part.load() for part in big_parts(tmp_path)], "cell")
    for place in (0, 3, -1):
        cell = joined.isel(cell=place)
        np.testing.assert_array_equal(cell.path.values, whole.path[place].values)
    assert "path" not in in_memory(joined)
    picks = {
        "reversed": {"cell": slice(None, None, -1), "step": slice(5, 9)},
        "some": {"cell": [4, 1], "step": [0, 399_999]},
        "a mask": {"cell": np.array([True, False] * 3), "step": 7},
        "none": {"cell": [], "step": slice(0, 2)},
        "one number": {"cell": 5, "step": -1},
    }
    for pick in picks.values():
        xr.testing.assert_equal(joined.isel(pick).load(), whole.isel(pick))
    xr.testing.assert_equal(joined.load(), whole)


def test_parts_with_other_records_are_filled_up(tmp_path):
    one = xr.Dataset({"x": (("cell", "step"), [[1.0, 2.0]])}, {"step": [0, 1]})
    two = xr.Dataset({"x": (("cell", "step"), [[3.0]])}, {"step": [0]})
    joined = join_parts([one, two], "cell")
    np.testing.assert_array_equal(joined.x, [[1, 2], [3, np.nan]])


def test_a_sweep_in_batches_is_one_dataset_in_the_order_of_its_cells(tmp_path):
    axes = {"seed": range(3), "rule.learning_rate": (0.1, 0.2)}
    study = SweepStudy(
        "grid", "g", Sweep(SHORT_REGRESSION, axes), ("train_loss",), batch=2
    )
    data = study.run(tmp_path).dataset("grid")
    assert data.seed.values.tolist() == [0, 0, 1, 1, 2, 2]
    assert data.learning_rate.values.tolist() == [0.1, 0.2] * 3
    assert np.isfinite(data.train_loss.values).all()


def test_kinds_do_not_mix(evidence):
    cells = xr.Dataset({"x": ("cell", [1.0])}, attrs={"seconds": 2.0, "notes": ["old"]})
    both = evidence | Evidence(datasets={"cells": cells}, surfaces={"flat": [cells]})
    assert list(both) == ["runs", "cells", "flat"] and both.has("runs", "flat")
    with pytest.raises(KeyError, match="no dataset 'runs' in the evidence; there are"):
        both.dataset("runs")
    with pytest.raises(KeyError, match="no runs 'cells'"):
        both.runs("cells")
    assert both.notes() == ["cells: old", "flat: old"]
    assert [both.count(name) for name in both] == [2, 1, 1]


def test_numbers_of_runs_are_computed_once(evidence):
    seen = []

    def last(run: xr.Dataset) -> float:
        seen.append(run.attrs["seed"])
        return float(run.train_loss[-1])

    def total(found: Evidence) -> float:
        seen.append("all")
        return sum(found.of_each("runs", last))

    first = evidence.of_run("runs", 1, last)
    assert evidence.of_each("runs", last)[1] == first
    assert evidence.once(total) == evidence.once(total)
    assert seen == [1, 0, "all"]
    timeline = evidence.timeline("runs", 0)
    assert evidence.timelines("runs")[0] is timeline
    assert evidence.first_timeline("runs") is timeline
    assert evidence.first_timeline("nothing") is None


# --- figures and tables ---------------------------------------------------------------


def test_displays_are_skipped_without_their_evidence(evidence):
    import pandas as pd

    def rows(found: Evidence) -> pd.DataFrame:
        return pd.DataFrame({"runs": [found.count("runs")]})

    def caption(found: Evidence, table: pd.DataFrame) -> str:
        return f"{len(table)} row of {len(found)} study"

    tables = (
        Table("always", "no needs", rows),
        Table("some", caption, rows, needs=("runs",)),
        Table("either", "one is enough", rows, any_of=("absent", "runs")),
        Table("neither", "none is there", rows, any_of=("absent",)),
        Table("lacking", "one is not there", rows, needs=("runs", "absent")),
        Table("empty", "nothing to show", lambda found: None, needs=("runs",)),
    )
    made = make_tables(tables, evidence, [])
    assert list(made) == ["always", "some", "either"]
    assert made["some"][0] == "1 row of 1 study"
    figures = (
        Figure("absent", lambda found: 1 / 0, needs=("absent",)),  # type: ignore
        Figure("empty", lambda found: None),
    )
    assert draw_figures(figures, evidence, []) == {}


def test_stored_studies_that_nobody_asked_for_are_shown_too(tmp_path):
    one, two = (RunStudy(f"seed-{e.seed}", "one", (e,)) for e in SEEDS)
    contents = Contents("mine", (one, two))
    reproduce(contents, tmp_path, [two])
    results = reproduce(contents, tmp_path, [one])
    assert results.asked == ("seed-0",) and results.runs == 2
    assert [study.name for study in results.studies] == ["seed-0", "seed-1"]

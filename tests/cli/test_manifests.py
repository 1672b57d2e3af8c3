"""`piste show` of a run whose manifest somebody changed: one line that says where."""

import json

import pytest

from piste.api import open_run
from piste.cli import main
from piste.experiment import Experiment
from piste.store import Manifest
from piste.values import to_json

GOOD = {"name": "x", "experiment": to_json(Experiment()), "form": "exact"}


@pytest.fixture
def run(tmp_path):
    Manifest(**GOOD).write(tmp_path)
    return tmp_path


def change(run, **changes):
    path = run / "manifest.json"
    data = json.loads(path.read_text("utf-8")) | changes
    path.write_text(json.dumps(data), "utf-8")


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        ({"name": 5}, "name = 5: is of another type"),
        ({"experiment": []}, "experiment = []: is of another type"),
        ({"experiment": {"task": {"is": {}}}}, "task = {}: must be one of"),
        ({"experiment": {"steps": "many"}}, "steps = many: must be a whole number"),
        ({"environment": {}}, "environment = {}: has no device"),
        ({"environment": {"device": "cpu"}}, "has no piste"),
        ({"environment": {"device": "cpu", "versions": "x"}}, "has no piste"),
        ({"seconds": "x"}, "seconds = x: is of another type"),
        ({"seconds": True}, "seconds = True: is of another type"),
        ({"diverged": 1.5}, "diverged = 1.5: is of another type"),
        ({"ended": None}, "ended = None: is of another type"),
    ],
)
def test_what_is_of_another_type_is_named(run, capsys, changes, line):
    change(run, **changes)
    assert main(["show", str(run)]) == 2
    shown = capsys.readouterr()
    assert shown.out == "" and shown.err.count("\n") == 1
    assert f"run {run}: damaged manifest, " in shown.err and line in shown.err


def test_nesting_without_end(run, capsys):
    (run / "manifest.json").write_text("[" * 100_000, "utf-8")
    assert main(["show", str(run)]) == 2
    assert "nested too deeply" in capsys.readouterr().err


def test_a_good_one_is_opened_with_all_its_fields(run):
    experiment = {k: v for k, v in GOOD["experiment"].items() if k != "seed"}
    change(run, experiment=experiment)
    assert open_run(run).manifest.experiment == to_json(Experiment())

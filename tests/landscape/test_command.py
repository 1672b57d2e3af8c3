"""`piste landscape` as a person types it."""

import re

import pandas as pd
import pytest

from piste.cli import main

SMALL = [
    "landscape",
    "signgd/stages-quick",
    "--rule=adam",
    "--steps=8",
    "--task.samples=4",
    "--task.dimension=30",
    "--task.noise-coordinates=8",
    "--task.test-samples=5",
    "--model.key-width=4",
    "--model.value-width=2",
    "--points=5",
    "--models=1",
    "--directions=1",
    "--snapshots=3",
]


def test_from_end_to_end_and_again(tmp_path, capsys):
    words = [*SMALL, "--out", str(tmp_path)]
    assert main(words) == 0
    shown = capsys.readouterr().out
    assert re.search(r"plane explains \S+ % of the", shown)
    assert "true / projected loss" in shown and "matched to" in shown
    assert "non-convex points" in shown and "1 − R²" in shown
    (folder,) = (tmp_path / "landscape").glob("stages-quick-adam-*-qk-*")
    table = pd.read_csv(folder / "metrics.csv")
    assert table.kernel.tolist() == ["softmax", "gaussian"]
    assert main(words) == 0
    again = capsys.readouterr().out
    assert "left" not in again  # nothing is computed anew
    assert again.split("centre losses")[1] == shown.split("centre losses")[1]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--plane", "qq"], "plane = qq: must be one of qk, random, pca, hessian"),
        (["--points", "6"], "points = 6: must be odd"),
        (["--points", "many"], "points = many: must be a whole number"),
        (["--reach=-1"], "reach = -1.0: must be greater than 0"),
        (["--reach", "nan"], "reach = nan: must be a finite number"),
        (["--kernels", "gausian"], "kernels = gausian: each must be one of"),
        (["--kernels", "softmax"], "kernels = softmax: must not have softmax"),
        (["--rises", "0.1,much"], "rises = 0.1,much: each must be a number"),
        (["--rises", "0"], "rises = 0.0: each must be greater than 0"),
        (["--swap", "maybe"], "swap = maybe: must be true or false"),
        (["--steps-two", "-1"], "steps-two = -1: must be at least 0"),
        (["--models", "0"], "models = 0: must be at least 1"),
        (["--stepps", "3"], "no field 'stepps'"),
        (["--seed", str(2**63 - 1), "--models", "2"], "seed = 9223372036854775808"),
        (["--with", "none.py"], "with = none.py: is not a file"),
        (["--form", "exact", "--rule", "signgd"], "form = exact: does not hold"),
    ],
)
def test_mistakes_are_one_line_and_write_nothing(tmp_path, capsys, words, message):
    out = tmp_path / "results"
    assert main([*SMALL, *words, "--out", str(out)]) == 2
    shown = capsys.readouterr()
    assert shown.out == "" and shown.err.count("\n") == 1
    assert message in shown.err
    assert not out.exists()


def test_a_model_without_queries_has_no_such_plane(tmp_path, capsys):
    words = ["landscape", "decision-lists/empirics", "--out", str(tmp_path / "x")]
    assert main(words) == 2
    line = capsys.readouterr().err
    assert "plane = qk: there is no trained matrix 'query' among attention" in line
    assert "must be random, pca or hessian" in line and line.count("\n") == 1

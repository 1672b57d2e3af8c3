"""The words of a command: their order, their values, and names of runs."""

import re

import pytest

from piste.cli import main
from piste.cli.arguments import LONGEST_NAME, overrides, run_name, separated


def test_a_name_is_never_cut_within_a_part():
    long = {"task.noise": "y" * 60, "task.noise-scale": "0.123456789", "steps": "400"}
    assert run_name("stages", long) == (
        "stages-noise=" + "y" * 60 + "-noise-scale=0.123456789-and-1-more"
    )
    for count in range(1, 40):
        name = run_name("stages", {f"task.field-{k}": "400" for k in range(count)})
        parts = name.removeprefix("stages-").split("-and-")
        assert re.fullmatch(r"(field-\d+=400)(-field-\d+=400)*", parts[0])
        shown = parts[0].count("=400")
        assert parts[1:] == ([f"{count - shown}-more"] if shown < count else [])


def test_a_name_is_a_folder_on_every_system():
    odd = {"task.folder": '../a b/[1]\n\x1b\x00é:*?"<>|\\', "rule": "σ" * 500}
    name = run_name("stages", odd)
    assert re.fullmatch(r"[A-Za-z0-9.,+=_-]+", name)
    assert len(name) <= LONGEST_NAME + len("-and-99-more")


@pytest.mark.parametrize(
    "words",
    [
        ["run", "signgd/stages", "--steps", "x"],
        ["run", "--steps", "x", "signgd/stages"],
        ["run", "--steps=x", "signgd/stages"],
        ["run", "--out", "my results", "--steps", "x", "signgd/stages"],
    ],
)
def test_fields_may_stand_anywhere(capsys, words):
    assert main(words) == 2
    assert capsys.readouterr().err == "error: steps = x: must be a whole number\n"


def test_values_with_spaces_and_signs():
    own = ["--out"]
    words = ["--task.folder=my data", "--a", "-1", "--out", "x y", "p", "--b", "--c=2"]
    others, fields = separated(words, own)
    assert others == ["--out", "x y", "p"]
    assert fields == ["--task.folder=my data", "--a", "-1", "--b", "--c=2"]


def test_the_last_of_two_values_counts_however_it_is_spelt():
    words = ["--task.noise_scale=1", "--task.noise-scale", "2"]
    assert overrides(words) == {"task.noise-scale": "2"}


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["run", "signgd/stages", "--steps", "--seed", "3"], "steps: needs a value"),
        (["run", "signgd/stages", "--steps", "x", "--"], "steps = x: must be"),
        (["run", "signgd/stages", "--=5"], "no field ''"),
        (["run", "signgd/stages", "-x", "3"], "'-x': must be --field value"),
        (["run", "signgd/stages", "--fresh", "--resume"], "resume = True: must not be"),
        (["run", "signgd/stages", "--out"], "argument --out: expected one argument"),
        (["run"], "the following arguments are required: preset"),
        ([], "the following arguments are required: COMMAND"),
        (["reproduce", "signgd", "--only", ","], "only = ,: must be names with commas"),
        (["a\nb\x1b"], "invalid choice: 'a\\nb\\x1b'"),
        (["x" * 5000], " characters) (choose"),
        (["run", "x" * 5000], "(5000 characters)"),
        (["verify", "y\nz"], "no paper 'y\\nz'"),
    ],
)
def test_mistakes_are_one_line(capsys, words, line):
    assert main(words) == 2
    shown = capsys.readouterr()
    assert shown.out == "" and shown.err.count("\n") == 1
    assert line in shown.err and len(shown.err) < 1000

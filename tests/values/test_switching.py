"""Switching a class keeps what is valid in the new one, and says what it dropped."""

import pytest

import piste
from piste.cli import main
from piste.errors import InputError, InputWarning, field_error
from piste.experiment import Experiment
from piste.rules import GD, Adam
from piste.tasks import Pathfinder
from piste.values import change, from_json, override, value
from support.plain import DEFAULT, experiment


def test_text_becomes_images_of_as_many_samples():
    found = change(piste.preset("kernels/imdb-desk"), {"task": "pathfinder"})
    task = found.value.task
    assert isinstance(task, Pathfinder)
    assert (task.validation_samples, task.test_samples) == (2000, 4000)
    assert task.train_samples == Pathfinder().train_samples
    assert found.dropped == (
        "task = pathfinder: length = 128 of text is dropped (pathfinder has no such "
        "field)",
        "task = pathfinder: train-samples = 0 of text is dropped (must be at least 1)",
    )
    with pytest.warns(InputWarning, match="is dropped"):
        assert piste.preset("kernels/imdb-desk", task="pathfinder") == found.value


def test_what_is_given_anew_is_not_dropped():
    changes = {"task.train_samples": "50", "task": "pathfinder"}
    found = change(piste.preset("kernels/imdb-desk"), changes)
    assert found.value.task.train_samples == 50
    assert [said for said in found.dropped if "train-samples" in said] == []


def test_defaults_that_nobody_chose_are_not_mentioned():
    assert change(experiment(rule=Adam()), {"rule": "gd"}).dropped == ()
    (said,) = change(experiment(rule=Adam(b1=0.5)), {"rule": "gd"}).dropped
    assert said == "rule = gd: b1 = 0.5 of adam is dropped (gd has no such field)"


def test_the_same_class_again_changes_nothing():
    given = experiment(rule=Adam(b1=0.5))
    found = change(given, {"rule": "adam", "rule.b2": 0.5})
    assert found.value.rule == Adam(b1=0.5, b2=0.5) and found.dropped == ()


def test_a_value_that_is_put_whole_drops_nothing():
    found = change(experiment(rule=Adam(b1=0.5)), {"rule": GD(0.5)})
    assert found.value.rule == GD(0.5) and found.dropped == ()


def test_an_error_about_a_field_knows_it():
    with pytest.raises(InputError) as caught:
        override(DEFAULT, {"task.marker-radius": "-1"})
    error = caught.value
    assert (error.field, error.value) == ("task.marker_radius", -1.0)
    assert error.expected == "must be greater than 0"
    with pytest.raises(InputError) as caught:
        from_json(Experiment, {"rule": {"type": "adam", "b1": [1]}})
    assert (caught.value.field, caught.value.value) == ("rule.b1", [1])
    with pytest.raises(InputError) as caught:
        override(DEFAULT, {"rule": "adm"})
    assert (caught.value.field, caught.value.value) == ("rule", "adm")


def test_an_error_can_be_put_inside_another_value():
    error = field_error("samples", 0, "must be at least 1").inside("a_b").inside("c")
    assert str(error) == "c.a-b.samples = 0: must be at least 1"
    assert (error.field, error.value) == ("c.a_b.samples", 0)
    assert error.inside("") is error
    plain = InputError("no such thing").inside("the_task")
    assert str(plain) == "the-task: no such thing" and plain.field == ""


@value
class Word:
    word: str = "auto"


@pytest.mark.parametrize("given", [3, 2.5, True])
def test_a_word_must_be_one(given):
    with pytest.raises(InputError, match=f"^word = {given}: must be a word$"):
        Word(given)


WORDS = [
    *("--task", "token-regression", "--model", "kernel-layer", "--rule", "gd"),
    *("--task.sequences", "2", "--task.dimension", "3", "--model.width", "2"),
    *("--steps", "2", "--rate.warm-up", "0", "--model.heads", "1"),
    *("--rule.learning-rate", "0.01"),
]


def test_the_command_says_what_it_dropped_each_time(tmp_path, capsys, monkeypatch):
    words = ["run", "kernels/pathfinder-desk", *WORDS, "--out", str(tmp_path)]
    said = []
    for _ in range(2):  # trained, then from the store
        assert main(words) == 0
        said.append(capsys.readouterr().out)
    assert "already run" in said[1] and "already run" not in said[0]
    found = change(
        piste.preset("kernels/pathfinder-desk"),
        dict(zip([word[2:] for word in WORDS[::2]], WORDS[1::2], strict=True)),
    )
    for out in said:
        for sentence in found.dropped:
            assert f"note: {sentence}" in " ".join(out.split())


def test_a_mistake_is_one_line_without_notes(tmp_path, capsys):
    words = ["run", "kernels/imdb-desk", "--task", "pathfinder", "--task.batch", "0"]
    assert main([*words, "--out", str(tmp_path / "out")]) == 2
    shown = capsys.readouterr()
    assert (
        shown.out == "" and shown.err == "error: task.batch = 0: must be at least 1\n"
    )
    assert not (tmp_path / "out").exists()

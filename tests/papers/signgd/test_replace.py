"""Copies that need no reading are those that plain data would give."""

import dataclasses

import pytest

from piste.errors import InputError
from piste.experiment import Experiment, Schedule
from piste.papers.signgd import presets
from piste.registry import add_class
from piste.rules import RULES, Adam
from piste.values import _override, digest, from_json, override, to_json, value
from piste.values._replace import replaced

PLAIN = (
    {},
    {"seed": 3},
    {"seed": 0, "steps": 7},
    {"rule.b1": 0.5, "rule.b2": 0.25},
    {"rule.learning-rate": 1},
    {"task.noise_coordinates": 50, "task.dimension": 500},
    {"task.noise-coordinates": 10, "rule.eps": 0.0, "record.curvature": True},
    {"precision": "float32", "form": "full"},
)
READ = (
    {"seed": "3"},
    {"rule.b1": "0.5"},
    {"seed": 3.0},
    {"seed": -1},
    {"seed": True},
    {"seed": None},
    {"seed": 2**80},
    {"rule.b1": 2.0},
    {"rule.b1": float("nan")},
    {"rule.b1": True},
    {"rule": "adam", "rule.b1": 0.5},
    {"rule": "gd"},
    {"rule": "nothing"},
    {"rule": Adam(b1=0.25)},
    {"rule": {"type": "gd"}},
    {"rule": {"type": "gd"}, "rule.learning_rate": 0.5},
    {"rule.nothing": 1},
    {"nothing": 1},
    {"seed.nothing": 1},
    {"record": 5},
    {"record": Schedule(dense=5)},
    {"rate.warm_up": 5_000},
    {"task.noise_coordinates": 50_000},
    {"precision": "float16"},
    {"record.curvature": "yes"},
    {"record.curvature": "true"},
)


def adam() -> Experiment:
    return dataclasses.replace(presets.stages(), rule=Adam(b2=0.9))


def outcome(changes):
    """What a change gives: a value with all that tells it from others, or a message."""
    try:
        found = override(adam(), changes)
    except InputError as error:
        return str(error), error.field, error.value, error.expected
    return found, repr(found), digest(found)


@pytest.mark.parametrize("changes", PLAIN, ids=str)
def test_a_plain_change_is_made_without_reading(changes, monkeypatch):
    spelt = {name.replace("-", "_"): new for name, new in changes.items()}
    made = replaced(adam(), spelt)
    expected = from_json(Experiment, to_json(made))
    assert made == expected
    monkeypatch.setattr(_override, "from_json", None)
    assert override(adam(), changes) == expected


@pytest.mark.parametrize("changes", (*PLAIN, *READ), ids=str)
def test_every_change_is_as_plain_data_would_have_it(changes, monkeypatch):
    found = outcome(changes)
    monkeypatch.setattr(_override, "replaced", lambda given, changes: None)
    assert repr(found) == repr(outcome(changes))


def test_several_values_are_changed_too(monkeypatch):
    @value
    class Widths:
        widths: tuple[int, ...] = (1, 2)
        names: tuple[str, ...] = ()

    for new in ((), [3], (3, 4), "3,4", [3.0], (True,), 3):
        quick = replaced(Widths(), {"widths": to_json(new)})
        if quick is not None:
            monkeypatch.setattr(_override, "replaced", lambda given, changes: None)
            assert quick == override(Widths(), {"widths": new})
            monkeypatch.undo()
    assert replaced(Widths(), {"widths": [3, 4]}) == Widths((3, 4))
    assert replaced(Widths(), {"widths": [True]}) is None


def test_a_class_that_was_written_again_takes_the_place_of_the_old_one():
    old = adam()
    again = value(type("Adam", (Adam,), {"__module__": Adam.__module__}))
    before = RULES["adam"]
    try:
        add_class(RULES, "adam", again)
        assert type(override(old, {"seed": 1}).rule) is again
        assert type(override(old, {"rule.b1": 0.5}).rule) is again
    finally:
        add_class(RULES, "adam", before)
    assert type(override(old, {"seed": 1}).rule) is before

"""Values: checks, overrides and digests, each mistake answered by one exact line."""

import numpy as np
import pytest

from piste.errors import InputError
from piste.experiment import Experiment, Schedule
from piste.models import Classifier
from piste.rules import GD, RULES, Adam, Lion, SignGD
from piste.tasks import Pathfinder
from piste.values import digest, fields_of, from_json, override, to_json
from support.plain import DEFAULT, experiment

RULE_WORDS = ", ".join(sorted(RULES))


def test_override_reaches_every_depth_in_either_spelling():
    changed = override(DEFAULT, {"task.marker_radius": 3, "seed": "4"})
    assert changed.task.marker_radius == 3.0 and changed.seed == 4
    assert changed == override(DEFAULT, {"task.marker-radius": "3.0", "seed": 4})


def test_override_leaves_the_original_alone():
    before = DEFAULT
    override(before, {"task.train-samples": 7, "rule": "gd"})
    assert before == DEFAULT


def test_switching_the_class_keeps_shared_fields():
    base = experiment(rule=Adam(learning_rate=0.3, b1=0.5, b2=0.6, eps=0.1))
    assert override(base, {"rule": "lion"}).rule == Lion(0.3, b1=0.5, b2=0.6)
    assert override(base, {"rule": "gd"}).rule == GD(0.3)


def test_switching_works_in_any_order_with_the_new_class_fields():
    wanted = Adam(learning_rate=1e-4, b1=0.1, b2=0.2)
    for names in (["rule", "rule.b1", "rule.b2"], ["rule.b2", "rule.b1", "rule"]):
        settings = {"rule": "adam", "rule.b1": 0.1, "rule.b2": "0.2"}
        changed = override(DEFAULT, {name: settings[name] for name in names})
        assert changed.rule == wanted


def test_a_value_can_be_put_whole():
    assert override(DEFAULT, {"rule": GD(0.5)}).rule == GD(0.5)
    assert override(DEFAULT, {"record": Schedule(dense=3)}).record.dense == 3


MISTAKES = [
    ({"steps": 0}, "steps = 0: must be at least 1"),
    ({"steps": "many"}, "steps = many: must be a whole number"),
    ({"steps": 2.5}, "steps = 2.5: must be a whole number"),
    ({"steps": True}, "steps = True: must be a whole number"),
    ({"seed": -1}, "seed = -1: must be at least 0"),
    ({"task.train-samples": 0}, "task.train-samples = 0: must be at least 1"),
    ({"task.marker-radius": 0.0}, "task.marker-radius = 0.0: must be greater than 0"),
    ({"task.marker-radius": "wide"}, "task.marker-radius = wide: must be a number"),
    ({"task.marker-radius": True}, "task.marker-radius = True: must be a number"),
    (
        {"model.heads": 3},
        "model.dimension = 64: must be a multiple of heads = 3",
    ),
    (
        {"rule.learning-rate": "-0.1"},
        "rule.learning-rate = -0.1: must be greater than 0",
    ),
    (
        {"rule.learning_rate": float("nan")},
        "rule.learning-rate = nan: must be a finite number",
    ),
    (
        {"rule.learning_rate": 10**400},
        "rule.learning-rate = a whole number of about 400 digits: "
        "must be a finite number",
    ),
    ({"rule": "adam", "rule.b1": 1.0}, "rule.b1 = 1.0: must be less than 1"),
    (
        {"rule": "adm"},
        f"rule = adm: must be one of {RULE_WORDS}; did you mean 'adam'?",
    ),
    (
        {"rule": "adm", "rule.b1": 0.5},
        f"rule = adm: must be one of {RULE_WORDS}; did you mean 'adam'?",
    ),
    ({"rule": 3}, f"rule = 3: must be one of {RULE_WORDS}"),
    ({"precision": "float16"}, "precision = float16: must be one of float64, float32"),
    ({"precision": True}, "precision = True: must be a word"),
    (
        {"model.kernel": "cosine"},
        "model.kernel = cosine: must be one of gaussian, gaussian-mean, "
        "gaussian-rows, linear, none, softmax",
    ),
    ({"record": 3}, "record = 3: must have fields"),
    ({"stepss": 3}, "no field 'stepss'; did you mean 'steps'?"),
    (
        {"task.marker-radiu": 3},
        "no field 'task.marker-radiu'; did you mean 'task.marker-radius'?",
    ),
    ({"rule.b1": 0.5}, "no field 'rule.b1'"),
    ({"qqq": 1}, "no field 'qqq'"),
]


@pytest.mark.parametrize(("changes", "line"), MISTAKES)
def test_a_mistake_is_one_line_that_names_field_value_and_what_is_allowed(
    changes, line
):
    with pytest.raises(InputError) as caught:
        override(DEFAULT, changes)
    assert str(caught.value) == line
    assert "\n" not in line


def test_constructors_check_as_overrides_do():
    with pytest.raises(
        InputError, match="^train-samples = 2.5: must be a whole number$"
    ):
        Pathfinder(train_samples=2.5)  # type: ignore
    with pytest.raises(InputError, match="^hidden = 0: must be at least 1$"):
        Classifier(hidden=0)
    with pytest.raises(InputError, match="^learning-rate = fast: must be a number$"):
        GD(learning_rate="fast")  # type: ignore


def test_from_json_names_an_unknown_field_of_stored_data():
    data = to_json(DEFAULT) | {"stpes": 3}
    with pytest.raises(InputError, match="^no field 'stpes'; did you mean 'steps'[?]$"):
        from_json(Experiment, data)


def test_fields_of_can_be_given_back():
    given = experiment(rule=Adam(b1=0.2), steps=7)
    listed = fields_of(given)
    assert listed["rule"] == "adam" and listed["rule.b1"] == 0.2
    assert override(DEFAULT, listed) == given


def test_digests_are_stable_across_versions():
    assert digest(SignGD()) == "95901eef34c8"


def test_equal_values_have_equal_digests():
    spelled = experiment(rule=GD(1), seed=np.int64(3), task=Pathfinder(marker_radius=2))
    same = experiment(
        rule=GD(1.0), seed=3, task=Pathfinder(marker_radius=np.float64(2))
    )
    assert spelled == same and spelled.digest == same.digest
    assert type(spelled.rule.learning_rate) is float and type(spelled.seed) is int


def test_every_field_and_the_class_count_in_the_digest():
    changes = [
        {"seed": 1},
        {"steps": 3},
        {"rule": "gd"},
        {"rule": "adam"},
        {"rule": "lion"},
        {"rule.learning-rate": 0.2},
        {"task.brightness": 0.9 + 1e-15},
        {"model.kernel": "gaussian"},
        {"record.dense": 3},
        {"precision": "float32"},
        {"form": "full"},
    ]
    digests = {override(DEFAULT, change).digest for change in changes}
    assert len(digests | {DEFAULT.digest}) == len(changes) + 1

"""Values that nobody should give, and what the message shows of them."""

import pytest

from piste.errors import InputError, InputWarning, one_line, reason, shown
from piste.experiment import Experiment
from piste.rules import SignGD
from piste.values import from_json, override, to_json
from support.plain import DEFAULT, experiment


def message(call) -> str:
    with pytest.raises(InputError) as caught:
        call()
    text = str(caught.value)
    assert text.isprintable() and len(text) < 400
    return text


@pytest.mark.parametrize(
    ("data", "line"),
    [
        ({"task": {"type": {}}}, "task = {}: must be one of decision-lists"),
        ({"task": {"type": []}}, "task = []: must be one of decision-lists"),
        ({"task": {"type": None}}, "task = None: must be one of decision-lists"),
        ({"task": {}}, "task: must have a 'type', one of decision-lists"),
        ({"task": []}, "task = []: must be one of decision-lists"),
        ({"record": None}, "record = None: must have fields"),
        ({"record": [1]}, "record = [1]: must have fields"),
        ({"steps": None}, "steps = None: must be a whole number"),
        ({"steps": {}}, "steps = {}: must be a whole number"),
        ({"steps": [5]}, "steps = [5]: must be a whole number"),
        ({"precision": {}}, "precision = {}: must be a word"),
        ({"record": {"curvature": {}}}, "record.curvature = {}: must be true or false"),
        ({"type": "x"}, "no field 'type'"),
        ([], "value = []: must have fields"),
        (None, "value = None: must have fields"),
        ("text", "value = text: must have fields"),
    ],
)
def test_malformed_json_is_one_line(data, line):
    assert line in message(lambda: from_json(Experiment, data))


def test_a_class_that_is_none_with_a_field_of_it():
    changes = {"task": {"type": {}}, "task.samples": 5}
    assert "task = {}: must be one of" in message(lambda: override(DEFAULT, changes))


@pytest.mark.parametrize(
    "digits",
    ["9" * 30, "9" * 5000, "-" + "9" * 5000, "٣" * 5000],
    ids=["30", "5000", "negative", "arabic"],
)
def test_whole_numbers_that_no_machine_holds(digits):
    text = message(lambda: override(DEFAULT, {"steps": digits}))
    assert "must be at most 9223372036854775807" in text


@pytest.mark.parametrize("number", [10**30, 10**5000], ids=["30", "5000"])
def test_the_same_as_numbers(number):
    assert "must be at most" in message(lambda: experiment(steps=number))
    assert "must be at most" in message(lambda: override(DEFAULT, {"steps": number}))


def test_numbers_that_are_no_float():
    assert "must be a finite number" in message(lambda: SignGD(10**5000))
    changes = {"rule.learning_rate": 10**5000}
    assert "must be a finite" in message(lambda: override(DEFAULT, changes))
    assert SignGD(10**30).learning_rate == 1e30


def test_the_largest_number_is_still_one():
    assert override(DEFAULT, {"seed": str(2**63 - 1)}).seed == 2**63 - 1


@pytest.mark.parametrize(
    "text", ["a\nb", "a\x1b[31mb", "a\rb", "a\x00b", "a\u202eb", "a\u2028b", "a\x85b"]
)
def test_control_characters_are_escaped(text):
    for name, value in (("steps", text), (text, "1"), ("rule", text)):
        said = message(lambda name=name, value=value: override(DEFAULT, {name: value}))
        assert "\\" in said


def test_bytes_that_are_no_text_are_refused():
    changes = {"task": "text", "model": "classifier", "task.folder": "a\udcffb"}
    assert "task.folder = a\\udcffb: must be text in UTF-8" in message(
        lambda: override(DEFAULT, changes)
    )


def test_long_values_are_shortened_and_say_so():
    assert shown("x" * 61).endswith("(61 characters)") and len(shown("x" * 9999)) < 70
    assert shown("x" * 60) == "x" * 60
    long = one_line("short " + "y" * 301)
    assert long.startswith("short yyy") and "(301 characters)" in long


def test_a_value_that_cannot_be_shown():
    class Odd:
        def __str__(self):
            raise RuntimeError

    assert shown(Odd()) == "a Odd that cannot be shown (RuntimeError)"
    assert reason(RuntimeError()) == "RuntimeError"
    assert reason(ValueError("two\nlines")) == "ValueError: two lines"
    assert issubclass(InputWarning, UserWarning)


def test_an_experiment_as_html_is_escaped():
    changes = {"task": "text", "model": "classifier", "task.folder": "<b>&"}
    page = override(DEFAULT, changes)._repr_html_()
    assert "&lt;b&gt;&amp;" in page and "<b>" not in page


def test_plain_experiments_still_round_trip():
    assert from_json(Experiment, to_json(DEFAULT)) == DEFAULT

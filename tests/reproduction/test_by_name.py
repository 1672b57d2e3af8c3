"""Studies that run only when they are named, and are shown wherever they were run."""

import dataclasses

import pytest

from piste.reproduction import Contents, RunStudy, reproduce
from support.small import SEEDS

SHORT = RunStudy("short", "the first seed", SEEDS[:1])
LONG = RunStudy("long", "the second seed", SEEDS[1:], by_name=True)
CONTENTS = Contents("paper", (SHORT, LONG))


def test_a_study_by_name_is_not_run_by_default():
    assert CONTENTS.chosen() == [SHORT]
    assert CONTENTS.chosen(theory=True) == [SHORT]
    assert CONTENTS.chosen(["long"]) == [LONG]
    assert CONTENTS.chosen(["long", "short"]) == [SHORT, LONG]


def test_what_is_left_out_says_why():
    line = CONTENTS.left_out(CONTENTS.chosen())
    assert "only by name: long" in line and "left out" not in line
    assert CONTENTS.left_out([SHORT, LONG]) == ""
    absent = dataclasses.replace(CONTENTS, available=lambda wanted: [])
    assert "left out: short (no data" in absent.left_out(absent.chosen())


@pytest.mark.parametrize("before", [False, True])
def test_a_study_by_name_is_shown_where_it_has_been_run(before, tmp_path):
    if before:
        reproduce(CONTENTS, tmp_path, CONTENTS.chosen(["long"]))
    results = reproduce(CONTENTS, tmp_path, CONTENTS.chosen())
    assert [study.name for study in results.studies] == ["short"] + before * ["long"]
    assert results.asked == ("short",)

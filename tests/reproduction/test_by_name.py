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


def test_studies_that_are_skipped_are_listed_with_the_reason():
    line = CONTENTS.skipped_text(CONTENTS.chosen())
    assert "not run by default: long" in line and "skipped" not in line
    assert CONTENTS.skipped_text([SHORT, LONG]) == ""
    absent = dataclasses.replace(CONTENTS, available=lambda wanted: [])
    assert "skipped: short (data not available" in absent.skipped_text(absent.chosen())


@pytest.mark.parametrize("before", [False, True])
def test_a_study_by_name_is_shown_where_it_has_been_run(before, tmp_path):
    if before:
        reproduce(CONTENTS, tmp_path, CONTENTS.chosen(["long"]))
    results = reproduce(CONTENTS, tmp_path, CONTENTS.chosen())
    assert [study.name for study in results.studies] == ["short"] + before * ["long"]
    assert results.asked == ("short",)

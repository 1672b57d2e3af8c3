"""Some hundred odd commands and files; `python tools/fuzz.py --cases 10000` has more."""

import sys
from pathlib import Path

import pytest

TOOLS = str(Path(__file__).parents[2] / "tools")


@pytest.fixture
def fuzz(monkeypatch):
    monkeypatch.syspath_prepend(TOOLS)
    import fuzz

    monkeypatch.setattr(fuzz, "BUILT", 10**9)  # nothing is drawn here
    return fuzz


def test_every_odd_command_is_answered_in_one_line(fuzz):
    counts, failures = fuzz.fuzz(300)
    assert failures == [] and counts["cases"] == 300
    assert counts["exit 2"] > 150 and counts["exit 0"] > 5


def fails(error):
    def main(words):
        raise error

    return main


def says(text: str, code: int):
    def main(words):
        print(text, end="", file=sys.stderr)
        return code

    return main


def writes(words):
    Path("file").touch()
    return says("error: x\n", 2)(words)


@pytest.mark.parametrize(
    ("main", "fault"),
    [
        (fails(ValueError("no")), "traceback"),
        (fails(SystemExit(2)), "traceback"),
        (says("error: x\n", 1), "exit code 1"),
        (says("error: x\nand more\n", 2), "2 lines of error"),
        (says("", 2), "0 lines of error"),
        (says("error: \x1b[31mx\n", 2), "not printable"),
        (writes, "wrote ['file "),
    ],
)
def test_the_fuzzer_notices_faults(fuzz, monkeypatch, tmp_path, main, fault):
    import fuzz_cases

    kind = fuzz_cases.Kind("words", 1, lambda chance, folder: ["list"])
    monkeypatch.setattr(fuzz, "CASES", [kind])
    monkeypatch.setattr("piste.cli.main", main)
    assert fault in fuzz.run_case(0, tmp_path).fault


def test_a_case_is_the_same_again(fuzz, tmp_path):
    fuzz.prepare(tmp_path)
    first, again = (fuzz.run_case(7, tmp_path) for _ in range(2))
    assert first.kind == again.kind and first.code == again.code
    assert len(first.words) == len(again.words)

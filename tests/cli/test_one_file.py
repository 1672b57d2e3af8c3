"""Papers in one file: what is missing, broken or taken is one line, before any run."""

from pathlib import Path

import pytest

from piste.cli import main
from piste.cli.arguments import Parser
from piste.cli.papers import command_line
from piste.papers import bring_file, find_paper, papers, preset
from support.families import forgotten

HEAD = """
from piste.experiment import Experiment
from piste.papers.kernels.models import KernelLayer
from piste.papers import Paper, Preset
from piste.reproduction import RunStudy
from piste.rules import GD
from piste.papers.kernels.tasks import TokenRegression

PAPER = Paper(name={name!r}, title="T", authors="A", venue="V", link="L", summary="S",
              package={package}, presets={{"small-one": Preset("a small one", "1 s")}})
"""
PRESET = """
def small_one():
    task = TokenRegression(sequences=1, length=2, dimension=2)
    return Experiment(task, KernelLayer(heads=1), GD(), steps=1)
"""
STUDIES = """
def studies(quick):
    return [RunStudy("s", "m", (small_one(),))]
"""
OTHER = """
def studies(quick):
    run = Experiment(TokenRegression(), KernelLayer(), GD(), steps=1)
    return [RunStudy("s", "m", (run,))]
"""


def text(*parts: str, name: str = "mine", package: str = "__name__") -> str:
    return HEAD.format(name=name, package=package) + "".join(parts)


@pytest.fixture
def bring(tmp_path, monkeypatch):
    """Write a file, and give the words of a command that names it."""
    monkeypatch.chdir(tmp_path)

    def write(code: str, *words: str) -> list[str]:
        (tmp_path / "mine.py").write_text(code, "utf-8")
        return [words[0], "--with", "mine.py", *words[1:]]

    with forgotten():
        yield write


def test_presets_and_studies_are_enough(bring, tmp_path, capsys):
    code = text(PRESET, STUDIES)
    assert main(bring(code, "reproduce", "mine")) == 0
    page = (tmp_path / "results/mine/report.html").read_text("utf-8")
    assert "<pre>piste reproduce --with mine.py mine</pre>" in page
    assert main(bring(code, "run", "mine/small-one")) == 0
    assert main(bring(code, "list")) == 0
    assert "mine/small-one" in capsys.readouterr().out


def test_in_python(bring, tmp_path):
    bring(text(PRESET, STUDIES), "list")
    bring_file(tmp_path / "mine.py")
    assert list(papers()) == sorted(papers()) and "mine" in papers()
    assert preset("mine/small-one").steps == 1


BROKEN = {
    "no studies": (text(PRESET), "mine.py defines no 'studies', and has no module"),
    "no preset": (text(OTHER), "mine.py defines no 'small_one', and has no module"),
    "no claims": (text(PRESET, STUDIES, "CLAIMS = 3"), "'CLAIMS' is an int; must be a"),
    "no function": (text(PRESET, STUDIES, "lines = 3"), "'lines' is an int; must be"),
    "fails": (
        text(STUDIES, "small_one = dict\nstudies = lambda q: 1 / 0"),
        "fails (Zero",
    ),
    "ours": (
        text(PRESET, STUDIES, name="kernels"),
        "PAPER: name = kernels: is the name of",
    ),
    "no name": (
        text(PRESET, STUDIES, name="a/b"),
        "PAPER: name = a/b: must be of letter",
    ),
    "package": (text(PRESET, package="'mine'"), "package = mine: must be __name__"),
    "no paper": (
        "PAPER = 3",
        "with = mine.py: PAPER: is a int; must be a piste.papers.",
    ),
    "another": ("x = 3", "no paper 'mine'"),
    "syntax": ("x = (", "with = mine.py: cannot be imported (SyntaxError"),
}


@pytest.mark.parametrize("kind", BROKEN)
def test_a_broken_file_is_one_line_and_nothing_is_written(
    bring, tmp_path, capsys, monkeypatch, kind
):
    def never(*words, **named):
        raise AssertionError("it began to run")

    monkeypatch.setattr("piste.reproduction.RunStudy.run", never)
    code, fault = BROKEN[kind]
    assert main(bring(code, "reproduce", "mine")) == 2
    error = capsys.readouterr().err
    assert error.startswith("error: ") and error.count("\n") == 1 and fault in error
    assert [path.name for path in tmp_path.iterdir()] == ["mine.py"]
    assert "mine" not in papers() or "PAPER: " not in error


def test_a_page_names_a_file_that_brings_no_paper():
    words = ["reproduce", "--with", "a b.py", "kernels", "--quick", "--out", "out"]
    made = command_line(find_paper("kernels"), Parser().read(words)[1])
    assert made == "piste reproduce --with 'a b.py' kernels --quick --out out"


def test_the_skeleton_of_the_documents_is_a_paper(bring, capsys):
    text = (Path(__file__).parents[2] / "docs/extending.md").read_text("utf-8")
    section = text.split("## A paper\n")[1].split("\n## ")[0]
    code = section.split("```python\n")[1].split("```")[0]
    assert main(bring(code, "list")) == 0
    shown = capsys.readouterr().out
    assert "mine/small " in shown and "a few images, 20 steps" in shown
    find_paper("mine").check_parts()

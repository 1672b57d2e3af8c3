"""Papers of other packages: one that is broken is one warning, and all else works."""

import importlib
import itertools

import pytest

from piste.cli import main
from piste.errors import InputWarning
from piste.papers import papers

PAPER = """
from piste.papers import Paper, Preset
PAPER = Paper(name={name!r}, title="T", authors="A", venue="V", link="L", summary="S",
              package={package!r}, presets={{"small": Preset("a small one", "1 s")}})
"""
MAKES = """import dataclasses
from piste.papers.signgd.presets import stages
def small(): return {what}
"""

_numbers = itertools.count()


@pytest.fixture
def install(tmp_path, monkeypatch):
    """Install a package that brings papers, as pip would: metadata and a module."""
    monkeypatch.syspath_prepend(tmp_path)

    def put(name: str, code: str, point: str | None = None, **parts: str) -> str:
        package = f"plugin_{next(_numbers)}"
        about = tmp_path / f"{package}-1.0.dist-info"
        about.mkdir()
        (about / "METADATA").write_text(f"Name: {package}\nVersion: 1.0\n", "utf-8")
        value = point or f"{package}:PAPER"
        text = f"[piste.papers]\n{name} = {value}\n"
        (about / "entry_points.txt").write_text(text, "utf-8")
        (tmp_path / package).mkdir()
        code = code.format(name=name, package=package)
        for part, content in {"__init__": code, **parts}.items():
            (tmp_path / package / f"{part}.py").write_text(content, "utf-8")
        importlib.invalidate_caches()
        return package

    return put


def lists(capsys) -> tuple[str, list[str]]:
    """What `piste list` shows, and its warnings."""
    assert main(["list"]) == 0
    shown = capsys.readouterr()
    assert "signgd/stages " in shown.out and "kernels/" in shown.out
    return shown.out, shown.err.splitlines()


def test_a_good_one_is_listed(install, capsys):
    install("mine", PAPER)
    out, warned = lists(capsys)
    assert "mine/small" in out and warned == []


ODD = {
    "import": ("import nowhere_at_all", "cannot be imported (ModuleNotFoundError: "),
    "syntax": ("x = (", "cannot be imported (SyntaxError: "),
    "exit": ("raise SystemExit(3)", "cannot be imported (SystemExit: 3)"),
    "interrupt": ("raise KeyboardInterrupt", "cannot be imported (KeyboardInterrupt)"),
    "base": ("class E(BaseException): pass\nraise E('x')", "cannot be imported (E: x)"),
    "nothing": ("", "cannot be imported (AttributeError: "),
    "no paper": ("PAPER = 3", "is a int; must be a piste.papers.Paper"),
    "class": ("class PAPER: pass", "is a type; must be a piste.papers.Paper"),
    "title": (
        PAPER + "object.__setattr__(PAPER, 'title', None)",
        "title = None: must be text",
    ),
    "presets": (
        PAPER + "object.__setattr__(PAPER, 'presets', [])",
        "presets = []: must be a dict",
    ),
    "preset": (
        PAPER + "PAPER.presets['small'] = 3",
        "preset 'small': must be a piste.papers.Preset of two texts",
    ),
    "preset's name": (PAPER.replace('"small"', '"a/b"'), "preset 'a/b': must be of"),
    "another's name": (
        PAPER.replace("{name!r}", "'signgd'"),
        "name = signgd: must be its entry point's, mine",
    ),
    "lines": ("raise ValueError('a\\nb\\x1b[31m')", "(ValueError: a b\\x1b[31m)"),
}


@pytest.mark.parametrize("kind", ODD)
def test_a_broken_one_is_one_warning(install, capsys, kind):
    code, fault = ODD[kind]
    package = install("mine", code)
    out, warned = lists(capsys)
    assert "mine" not in out
    (line,) = warned
    assert line.startswith(f"warning: paper 'mine' of {package}: ")
    assert fault in line and line.endswith("; skipped")


@pytest.mark.parametrize("name", ["signgd", "kernels", "decision-lists"])
def test_no_plugin_takes_a_name_of_ours(install, capsys, name):
    install(name, PAPER)
    out, (line,) = lists(capsys)
    assert "a small one" not in out and f"{name}/" in out
    assert f"paper '{name}' of plugin_" in line
    assert "is the name of a paper of piste; must be another one; skipped" in line


def test_two_of_one_name_are_one_warning(install, capsys):
    first, second = install("mine", PAPER), install("mine", PAPER)
    out, (line,) = lists(capsys)
    assert "mine/" not in out
    assert f"is brought by {first} and {second}; must be by one; skipped" in line


@pytest.mark.parametrize("name", ["../up", "a b", "x[red]"])
def test_names_that_are_no_folders(install, capsys, name):
    install(name, PAPER)
    out, (line,) = lists(capsys)
    assert "a small one" not in out and "must be its entry point's" in line


def test_other_commands_work_beside_a_broken_one(install, capsys, tmp_path):
    install("mine", "raise SystemExit")
    out = tmp_path / "out"
    words = ["run", "signgd/stages", "--steps", "x", "--out", str(out)]
    assert main(words) == 2
    warned, error = capsys.readouterr().err.splitlines()
    assert warned.startswith("warning: paper 'mine'")
    assert error == "error: steps = x: must be a whole number"
    assert main(["run", "mine/small", "--out", str(out)]) == 2
    assert "error: no preset 'mine/small'" in capsys.readouterr().err
    assert not out.exists()


def test_in_python_it_is_a_warning_too(install):
    install("mine", "PAPER = 3")
    with pytest.warns(InputWarning, match="paper 'mine' of plugin_"):
        assert "signgd" in papers()


@pytest.mark.parametrize(
    ("parts", "fault"),
    [
        ({}, "defines no 'small', and has no module 'presets' that does"),
        ({"presets": "x = 1"}, "module 'presets' has no 'small', which it must have"),
        ({"presets": "x ="}, "module 'presets' cannot be imported (SyntaxError"),
        (
            {"presets": "import nowhere_at_all"},
            "module 'presets' cannot be imported (ModuleNotFoundError",
        ),
        ({"presets": MAKES.format(what="1 / 0")}, "fails (ZeroDivisionError"),
        ({"presets": MAKES.format(what="3")}, "gives a int; must give a piste."),
    ],
)
def test_presets_that_cannot_be_made(install, capsys, tmp_path, parts, fault):
    install("mine", PAPER, **parts)
    assert main(["run", "mine/small", "--out", str(tmp_path / "out")]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1 and fault in error
    assert not (tmp_path / "out").exists()


WHOLE = {
    "presets": MAKES.format(what="dataclasses.replace(stages(), steps=1)"),
    "studies": "from piste.reproduction import RunStudy\nfrom .presets import small\n"
    "def studies(quick): return (RunStudy('s', 'm', (small(),)),)\n",
    "claims": "CLAIMS = ()",
    "figures": "FIGURES = ()",
    "tables": "TABLES = ()",
    "summary": "def lines(tables): return []",
}


@pytest.fixture
def never_runs(monkeypatch):
    """Fail if anything begins to run."""

    def never(*words, **named):
        raise AssertionError("it began to run")

    monkeypatch.setattr("piste.reproduction.RunStudy.run", never)


STUDIES = "def studies(quick): {}\n"
BROKEN = {
    "studies absent": ({"studies": None}, "defines no 'studies', and has no module"),
    "studies empty": ({"studies": ""}, "module 'studies' has no 'studies'"),
    "claims empty": ({"claims": ""}, "module 'claims' has no 'CLAIMS'"),
    "figures empty": ({"figures": ""}, "module 'figures' has no 'FIGURES'"),
    "tables empty": ({"tables": ""}, "module 'tables' has no 'TABLES'"),
    "summary empty": ({"summary": ""}, "module 'summary' has no 'lines'"),
    "exit": ({"figures": "exit(3)"}, "'figures' cannot be imported (SystemExit: 3)"),
    "no function": ({"summary": "lines = 3"}, "'lines' is an int; must be a fun"),
    "no figures": ({"figures": "FIGURES = 3"}, "'FIGURES' is an int; must be a tuple"),
    "no table": ({"tables": "TABLES = [3]"}, "'TABLES' has an int; must be a piste.r"),
    "no claims": ({"claims": "CLAIMS = 3"}, "'CLAIMS' is an int; must be a tuple"),
    "no claim": ({"claims": "CLAIMS = [3]"}, "'CLAIMS' has an int; must be a piste.c"),
    "fails": (
        {"studies": STUDIES.format("return 1 / 0")},
        "studies(True) fails (ZeroDivisionError: division by zero)",
    ),
    "no study": (
        {"studies": STUDIES.format("return [3]")},
        "studies(True) gives an int; must give piste.reproduction.Study values",
    ),
    "nothing": (
        {"studies": STUDIES.format("return ()")},
        "studies(True) gives nothing; must give piste.reproduction.Study values",
    ),
}


@pytest.mark.parametrize("kind", BROKEN)
def test_broken_parts_are_found_before_anything_runs(
    install, capsys, never_runs, tmp_path, kind
):
    changes, fault = BROKEN[kind]
    parts = {name: code for name, code in (WHOLE | changes).items() if code is not None}
    install("mine", PAPER, **parts)
    out = tmp_path / "out"
    assert main(["reproduce", "mine", "--out", str(out)]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1 and fault in error
    assert error.startswith("error: paper 'mine': ") and not out.exists()


SMALL = (
    "from piste.experiment import Experiment\n"
    "from piste.papers.kernels.models import KernelLayer\n"
    "from piste.rules import GD\n"
    "from piste.papers.kernels.tasks import TokenRegression\n"
    "task = TokenRegression(sequences=1, length=2, dimension=2)\n"
    "def small(): return Experiment(task, KernelLayer(heads=1), GD(), steps=1)\n"
)


def test_claims_figures_tables_and_summary_may_be_left_out(
    install, capsys, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    install("mine", PAPER, presets=SMALL, studies=WHOLE["studies"])
    assert main(["reproduce", "mine"]) == 0
    shown = capsys.readouterr()
    assert "figures/ (0)   tables/ (0)" in shown.out and "Claims" not in shown.out
    page = (tmp_path / "results/mine/report.html").read_text("utf-8")
    assert "<h2>Run it again</h2>" in page
    for heading in ("Verdicts", "Figures", "Tables"):
        assert f"<h2>{heading}</h2>" not in page
    assert main(["verify", "mine"]) == 2
    assert capsys.readouterr().err == "error: paper 'mine': has no claims to judge\n"

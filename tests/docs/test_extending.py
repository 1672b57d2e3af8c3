"""The skeletons of docs/extending.md do what the page says, letter by letter."""

import importlib
import pkgutil
import re
import runpy
import shlex
from pathlib import Path

import pytest

import piste
from piste.brought import import_file
from piste.cli import main
from piste.cli.arguments import Parser, overrides
from piste.probes import OFTEN, RARELY, Probe
from piste.store import inputs_of
from piste.training.engine import CURVATURE
from piste.values import override
from support.families import forgotten

PAGE = (Path(__file__).parents[2] / "docs/extending.md").read_text("utf-8")
FILES = {
    name: text
    for text, name in re.findall(r"```python\n(# file: (\w+\.py)\n.*?)```", PAGE, re.S)
}
COMMANDS = {
    name: shlex.split(line)[1:]
    for line, name in re.findall(r"```sh\n(piste .*?--with (\w+\.py).*?)\n```", PAGE)
}
# What a run shows of what was brought, and an edit that makes it another run.
SHOWN = {
    "cosine.py": ("model.kernel *cosine", ("1e-12", "1e-9")),
    "heavy.py": ("rule *heavy", ("momentum=self.momentum", "momentum=0.1")),
    "averages.py": ("task *averages", (".mean(1)", ".sum(1)")),
    "linear.py": ("model *linear", ("sum() / 2", "sum()")),
    "smallest_margin.py": ("smallest_margin", (".min()", ".max()")),
    "halving.py": ("early .* the loss is above half", None),
    "falls.py": ("no worse .*holds", None),
}


@pytest.fixture(autouse=True)
def nothing_kept(monkeypatch):
    with forgotten():
        yield


def written(folder: Path, name: str, edit: tuple[str, str] | None = None) -> Path:
    text = FILES[name]
    if edit is not None:
        assert edit[0] in text
        text = text.replace(*edit)
    path = folder / name
    path.write_text(text, "utf-8")
    return path


def words_of(name: str, path: Path) -> list[str]:
    return [str(path) if word == name else word for word in COMMANDS[name]]


def test_every_file_has_a_command_and_a_row_here():
    assert set(FILES) == set(COMMANDS) == set(SHOWN) and len(FILES) >= 7
    # Nothing else claims to be code but the paper, which tests/examples runs.
    assert PAGE.count("```python") == len(FILES) + 1


@pytest.mark.parametrize("name", SHOWN)
def test_its_own_check_passes(name, tmp_path):
    assert 'if __name__ == "__main__":' in FILES[name]
    runpy.run_path(str(written(tmp_path, name)), run_name="__main__")


@pytest.mark.parametrize("name", SHOWN)
def test_the_command_runs_and_uses_it(name, tmp_path, capsys):
    out = tmp_path / "results"
    words = [*words_of(name, written(tmp_path, name)), "--out", str(out)]
    assert main(words) == 0, capsys.readouterr().err
    shown = capsys.readouterr().out
    (folder,) = (out / "runs").iterdir()
    measured = " ".join(piste.open_run(folder).trajectory())
    pattern, edit = SHOWN[name]
    assert re.search(pattern, f"{shown} {measured}"), shown
    assert bool(piste.open_run(folder).manifest.inputs.code) == (edit is not None)


def code_of(name: str, path: Path) -> str:
    """The part of a run's address that stands for the user's code."""
    _, options, rest = Parser().read(words_of(name, path))
    with forgotten():
        import_file(options.file)
        experiment = override(piste.preset(options.preset), overrides(rest))
        return inputs_of(experiment).code


@pytest.mark.parametrize("name", [name for name in SHOWN if SHOWN[name][1]])
def test_edited_code_has_another_address(name, tmp_path):
    first = code_of(name, written(tmp_path, name))
    assert first and code_of(name, written(tmp_path, name)) == first
    assert code_of(name, written(tmp_path, name, SHOWN[name][1])) != first


def test_an_edited_file_never_gets_the_old_answer(tmp_path, capsys):
    answers = []
    for edit in (None, None, SHOWN["heavy.py"][1]):
        path = written(tmp_path, "heavy.py", edit)
        with forgotten():
            assert main([*words_of("heavy.py", path), "--out", str(tmp_path)]) == 0
        answers.append("already run" in capsys.readouterr().out)
    assert answers == [False, True, False]
    assert len(list((tmp_path / "runs").iterdir())) == 2


def test_the_glossary_has_every_axis_of_our_probes():
    table = PAGE.partition("## Words for axes")[2]
    words = set(re.findall(r"^\| `(\w+)` \| \S", table, re.M))
    used = {OFTEN, RARELY, *CURVATURE.dims}
    for name in pkgutil.walk_packages(piste.__path__, "piste."):
        if name.name.rpartition(".")[2] not in ("probes", "classification"):
            continue
        for given in vars(importlib.import_module(name.name)).values():
            several = given.values() if isinstance(given, dict) else given
            several = several if isinstance(given, (dict, tuple)) else (given,)
            used |= {dim for p in several if isinstance(p, Probe) for dim in p.dims}
    assert used <= words and len(used) > 10

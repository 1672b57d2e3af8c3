"""The arrows between folders, read by import-linter from ``.importlinter``."""

import configparser
import os
import pathlib
import re
import shutil
import subprocess
import sys

import grimp
import pytest

ROOT = pathlib.Path(__file__).parents[2]
CONTRACT = ROOT / ".importlinter"
LINT = "import sys; from importlinter.cli import lint_imports_command; "
LINT += "sys.argv = ['lint-imports', *sys.argv[1:]]; lint_imports_command()"


def lint(source: pathlib.Path) -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, "-c", LINT, "--config", str(CONTRACT), "--no-cache"],
        env=os.environ | {"PYTHONPATH": str(source), "COLUMNS": "200"},
        cwd=source,
        capture_output=True,
        text=True,
    )


def layers() -> list[str]:
    parser = configparser.ConfigParser()
    parser.read(CONTRACT)
    listed = parser["importlinter:contract:arrows"]["layers"]
    return re.findall(r"piste\.(\w+)", listed)[::-1]


def test_imports_follow_the_arrows():
    result = lint(ROOT / "src")
    assert result.returncode == 0, result.stdout + result.stderr


def test_every_folder_has_its_place():
    folders = [path.parent.name for path in (ROOT / "src/piste").glob("*/__init__.py")]
    assert set(folders) <= set(layers())


def test_the_order_is_the_one_of_the_design():
    order = "tasks models rules probes experiment training store claims "
    order += "landscape sweeps figures reproduction papers report explorer cli"
    listed = layers()
    assert [name for name in listed if name in order.split()] == order.split()


WRONG = [
    ("tasks/__init__.py", "piste.models"),
    ("rules/descent.py", "piste.training"),
    ("probes/_base.py", "piste.experiment"),
    ("training/engine.py", "piste.testing"),
    ("figures/style.py", "piste.papers.signgd"),
    ("papers/kernels/tasks.py", "piste.papers.signgd.tasks"),
    ("values/_json.py", "piste.rules"),
]


@pytest.mark.parametrize(("module", "imported"), WRONG)
def test_an_arrow_the_other_way_is_caught(module, imported, tmp_path):
    shutil.copytree(ROOT / "src/piste", tmp_path / "piste")
    path = tmp_path / "piste" / module
    path.write_text(path.read_text() + f"\nimport {imported}\n")
    result = lint(tmp_path)
    assert result.returncode == 1, result.stdout + result.stderr
    assert "BROKEN" in result.stdout


GRAPH = grimp.build_graph("piste", cache_dir=None)
THEORIES = sorted(
    name for name in GRAPH.modules if re.fullmatch(r"piste\.papers\.\w+\.theory", name)
)


def test_some_paper_has_a_theory():
    assert THEORIES


@pytest.mark.parametrize("theory", THEORIES)
def test_theory_never_imports_what_trains(theory):
    """What is predicted must not come from what it is compared with."""
    forms = theory.replace(".theory", ".forms")
    for trains in (forms, "piste.training"):
        chains = GRAPH.find_shortest_chains(theory, trains)
        assert not chains, chains

"""The core knows no paper: a copy of piste without one imports, lists and tests itself."""

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAPER = "signgd"
FOLDERS = ("src", "tests", "docs", "examples", "benchmarks", "tools")
FILES = ("pyproject.toml", "README.md", "CHANGELOG.md")
LEFT_OUT = shutil.ignore_patterns(PAPER, "architecture", "__pycache__")
"""The paper, and the tests of the repository as a whole, such as this one."""

NAMES_IT = re.compile(rf"papers[./]{PAPER}|{PAPER}/|(reproduce|verify)\W+{PAPER}\b")
"""How a file names the paper; the word alone is also that of a rule."""
STILL_NAMED = {
    "attention/test_users_kernels.py": "commands that must refuse a kernel",
    "cli/test_arguments.py": "command lines, read or refused",
    "cli/test_cli.py": "command lines, run or refused",
    "cli/test_plugins.py": "presets beside the ones of broken packages",
    "cli/test_terminal.py": "a run in a terminal",
    "landscape/test_command.py": "the landscape of a preset",
    "store/test_inputs.py": "a task that reads images from disk",
    "store/test_kill.py": "a run that is killed",
    "store/test_memory.py": "a run whose memory is measured",
    "store/test_runs.py": "commands on folders that cannot be written",
}
"""Tests outside of the paper that run its presets, and what they do with them."""

IMPORT_ALL = """
import importlib, pkgutil, pathlib, sys
import piste
assert pathlib.Path(piste.__file__).is_relative_to(sys.argv[1]), piste.__file__
names = [m.name for m in pkgutil.walk_packages(piste.__path__, "piste.")]
for name in names:
    importlib.import_module(name)
print(*names, sep="\\n")
from piste.cli import main
sys.exit(main(["list"]))
"""
FAST = "test_fields_without_default or test_malformed or test_groups or test_by_name"
"""A few files of the core that take seconds, for every run of the tests."""


@pytest.fixture(scope="module")
def copy(tmp_path_factory) -> Path:
    return copied_to(tmp_path_factory.mktemp("copy"))


def copied_to(folder: Path) -> Path:
    """The repository without the paper, its tests and its entry point."""
    for name in FOLDERS:
        shutil.copytree(ROOT / name, folder / name, ignore=LEFT_OUT)
    for name in FILES:
        shutil.copy(ROOT / name, folder)
    # Found before that of the installed package, in whose place it comes.
    about = folder / "src/piste-0.1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Name: piste\nVersion: 0.1.0\n", "utf-8")
    (about / "entry_points.txt").write_text(entry_points(), "utf-8")
    return folder


def entry_points() -> str:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    points = project["entry-points"]["piste.papers"]
    kept = [f"{name} = {value}" for name, value in points.items() if name != PAPER]
    assert len(kept) == len(points) - 1
    return "\n".join(["[piste.papers]", *kept, ""])


def python(copy: Path, *words: str, **more: str) -> subprocess.CompletedProcess:
    """Run Python in the copy, with nothing of this checkout in sight."""
    told = os.environ | {"PYTHONPATH": str(copy / "src")} | more
    command = [sys.executable, *words]
    return subprocess.run(command, cwd=copy, env=told, capture_output=True, text=True)


def import_all(copy: Path) -> subprocess.CompletedProcess:
    return python(copy, "-c", IMPORT_ALL, str(copy))


def pytest_in(copy: Path, *words: str, **more: str) -> subprocess.CompletedProcess:
    # One process: workers of its own would take the cores of the tests around it.
    options = ["-n", "0", "-p", "no:cacheprovider", "--durations=0"]
    return python(copy, "-m", "pytest", *options, *words, **more)


def quickly(copy: Path, *words: str) -> subprocess.CompletedProcess:
    # The slow twin below checks annotations and explains failures; that takes far longer.
    return pytest_in(copy, "--assert=plain", *words, JAXTYPING_DISABLE="1")


def test_every_module_imports_and_papers_are_listed(copy):
    done = import_all(copy)
    assert done.returncode == 0, done.stderr
    files = (ROOT / "src/piste").rglob("*.py")
    paths = [file.relative_to(ROOT / "src").with_suffix("") for file in files]
    names = [".".join(path.parts) for path in paths if path.name != "__init__"]
    left = [name for name in names if not name.startswith(f"piste.papers.{PAPER}")]
    assert set(left) <= set(done.stdout.splitlines()) and len(left) < len(names)
    assert "kernels/" in done.stdout and f"{PAPER}/" not in done.stdout


def test_a_module_of_the_core_that_needs_the_paper_is_caught(tmp_path):
    copy = copied_to(tmp_path)
    module = copy / "src/piste/figures/style.py"
    text = f"{module.read_text('utf-8')}\nimport piste.papers.{PAPER}\n"
    module.write_text(text, "utf-8")
    done = import_all(copy)
    assert done.returncode == 1
    assert f"No module named 'piste.papers.{PAPER}'" in done.stderr


def test_all_other_tests_are_collected_and_some_pass(copy):
    """Every file is read before a few are run; one that cannot be ends it all."""
    done = quickly(copy, "-k", FAST)
    assert done.returncode == 0, done.stdout[-3000:]
    assert " passed" in done.stdout or "100%" in done.stdout


def test_a_test_of_the_core_that_needs_the_paper_is_caught(tmp_path):
    copy = copied_to(tmp_path)
    test = "tests/test_wrong.py"
    (copy / test).write_text(f"import piste.papers.{PAPER}\n", "utf-8")
    done = quickly(copy, "--collect-only", test)
    assert done.returncode != 0 and f"'piste.papers.{PAPER}'" in done.stdout


def naming() -> set[str]:
    """The tests outside of the paper's that name it."""
    return {
        path.relative_to(ROOT / "tests").as_posix()
        for path in (ROOT / "tests").rglob("*.py")
        if not {PAPER, "architecture"} & {part.name for part in path.parents}
        and NAMES_IT.search(path.read_text("utf-8"))
    }


def test_no_other_test_names_the_paper():
    assert naming() == set(STILL_NAMED)


@pytest.mark.slow
@pytest.mark.timeout(7200)
def test_the_core_passes_all_of_its_tests(copy):
    """Those that name the paper aside."""
    ignored = [f"--ignore=tests/{name}" for name in STILL_NAMED]
    done = pytest_in(copy, "-x", *ignored)
    assert done.returncode == 0, done.stdout[-3000:]

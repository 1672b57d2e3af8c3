"""Files that documents and docstrings name are there."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PIECE = "[A-Za-z0-9_.-]+"
NAMED = re.compile(
    rf"(?<![A-Za-z0-9_./-])(?:{PIECE}/)*[A-Za-z0-9_]+\.py\b"
    rf"|\b(?:src|tests|docs|piste)/(?:{PIECE}/)*[A-Za-z0-9_.-]*[A-Za-z0-9_]"
)
OF_THE_READER = {"mine.py"}
"""A file that a document tells its reader to write."""
WRITTEN_BY_READERS = "docs/extending.md"
"""Its skeletons are files that the reader writes, under names of their own."""

DOCUMENTS = [
    path
    for pattern in ("*.md", "docs/*.md", "src/**/*.md", "src/**/*.py")
    for path in sorted(ROOT.glob(pattern))
]


def bases(document: Path) -> list[Path]:
    """Folders from which a document may count: the tree, the package, its papers."""
    package = ROOT / "src" / "piste"
    papers = (package / "papers").glob("*/")
    return [ROOT, ROOT / "src", package, document.parent, *papers]


def missing(document: Path, text: str, files: set[str]) -> list[str]:
    """The paths named in a text that are nowhere."""
    wrong = []
    for name in NAMED.findall(text):
        bare = "/" not in name
        written = bare and str(document).endswith(WRITTEN_BY_READERS)
        known = (
            name in files if bare else any((b / name).exists() for b in bases(document))
        )
        if not (known or written or name in OF_THE_READER):
            wrong.append(f"{document.relative_to(ROOT)}: {name}")
    return wrong


def prose(path: Path) -> str:
    """All of a document, or the docstrings of a module."""
    text = path.read_text("utf-8")
    if path.suffix == ".md":
        return text
    kinds = ast.Module | ast.ClassDef | ast.FunctionDef
    nodes = (node for node in ast.walk(ast.parse(text)) if isinstance(node, kinds))
    return "\n".join(ast.get_docstring(node) or "" for node in nodes)


@pytest.fixture(scope="module")
def files() -> set[str]:
    folders = ("src", "tests", "examples", "benchmarks", "tools")
    return {path.name for name in folders for path in (ROOT / name).rglob("*.py")}


def test_every_path_that_is_named_exists(files):
    assert [w for path in DOCUMENTS for w in missing(path, prose(path), files)] == []


def test_a_path_that_is_gone_is_found(files):
    text = "`dynamics/stack_signs.py`, `gone.py`, docs/none and `training/engine.py`"
    found = missing(ROOT / "CHANGELOG.md", text, files)
    names = [line.split(": ")[1] for line in found]
    assert names == ["dynamics/stack_signs.py", "gone.py", "docs/none"]

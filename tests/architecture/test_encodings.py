"""Files are text in UTF-8 wherever piste runs, not in the encoding of the system."""

import ast
import pathlib

import pytest

ROOT = pathlib.Path(__file__).parents[2]
FILES = [p for part in ("src", "tools") for p in (ROOT / part).rglob("*.py")]


def names_encoding(call: ast.Call, place: int) -> bool:
    """Whether an argument says the encoding; binary files have none."""
    words = [a.value for a in call.args if isinstance(a, ast.Constant)]
    binary = any(isinstance(word, str) and "b" in word for word in words[:2])
    keys = {keyword.arg for keyword in call.keywords}
    return "encoding" in keys or len(call.args) > place or binary


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_every_text_file_is_opened_by_its_encoding(path):
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if not isinstance(node, ast.Call):
            continue
        name = getattr(node.func, "attr", getattr(node.func, "id", ""))
        places = {"read_text": 0, "write_text": 1}
        if name in places:
            assert names_encoding(node, places[name]), f"{path}:{node.lineno}"
        if isinstance(node.func, ast.Name) and name == "open":
            assert names_encoding(node, 3), f"{path}:{node.lineno}"

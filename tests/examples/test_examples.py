"""The examples run, and say what they promise."""

import runpy
from pathlib import Path

EXAMPLES = Path(__file__).parents[2] / "examples"


def test_first_look(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(EXAMPLES / "first_look.py"))
    shown = capsys.readouterr().out
    difference = float(shown.split("differs by ")[1].split()[0])
    assert difference < 1e-15
    assert (tmp_path / "overview.png").stat().st_size > 10_000


def test_landscape(capsys):
    runpy.run_path(str(EXAMPLES / "landscape.py"))
    shown = capsys.readouterr().out
    assert float(shown.split("explains ")[1].split()[0]) > 80
    for name in ("pca", "random", "hessian"):
        assert f"\n{name}" in shown

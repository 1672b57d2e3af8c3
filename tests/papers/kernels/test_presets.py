"""Presets of the paper, and a user's own kernel in one of them."""

import pytest

from piste.attention import KERNELS
from piste.cli import main
from piste.papers.kernels import PAPER, presets

pytestmark = pytest.mark.usefixtures("installed")


def test_every_preset_is_an_experiment_that_states_its_command():
    for name in PAPER.presets:
        preset = getattr(presets, name.replace("-", "_"))
        assert preset().steps > 0
        command = "landscape" if name.startswith("landscape") else "run"
        start = f"``piste {command} kernels/{name}``: "
        assert preset.__doc__.startswith(start)


KERNEL = """
from piste.attention import kernel
from piste.attention.kernels import squared_distances

@kernel("{name}")
def cauchy(queries, keys):
    return 1 / (1 + squared_distances(queries, keys))
"""


def test_a_kernel_from_a_file_of_ones_own(tmp_path, capsys):
    file = tmp_path / "mine.py"
    file.write_text(KERNEL.format(name="cauchy-of-mine"))
    words = ["--model.kernel", "cauchy-of-mine", "--steps", "3", "--out", str(tmp_path)]
    assert main(["run", "kernels/control", "--with", str(file), *words]) == 0
    shown = capsys.readouterr().out
    assert "cauchy-of-mine" in shown and "converged" in shown
    KERNELS.remove("cauchy-of-mine")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (None, "is not a file"),
        ("1 / 0", r"cannot be imported (ZeroDivisionError: division by zero)"),
        ("def", "cannot be imported (SyntaxError:"),
        ("raise SystemExit(3)", "cannot be imported (SystemExit: 3)"),
        (
            KERNEL.format(name="softmax"),
            "kernel = softmax: is the name of another one already",
        ),
    ],
)
def test_a_bad_file_is_one_line(tmp_path, capsys, text, message):
    file = tmp_path / "mine.py"
    if text is not None:
        file.write_text(text)
    assert main(["run", "kernels/control", "--with", str(file)]) == 2
    shown = capsys.readouterr().err
    assert shown.startswith(f"error: with = {file}: ") and shown.count("\n") == 1
    assert message in shown

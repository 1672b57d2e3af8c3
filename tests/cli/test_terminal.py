"""Signals, closed pipes, old terminals and full machines: one line, or none at all."""

import errno
import io
import os
import signal
import subprocess
import sys

import pytest

from piste import console
from piste.cli import listing, main
from piste.cli.terminal import explained, in_ascii, tidy
from piste.errors import SignalReceived

PISTE = [sys.executable, "-m", "piste.cli"]
SMALL = [
    "--steps=40",
    "--task.samples=4",
    "--task.dimension=50",
    "--task.noise-coordinates=10",
    "--task.test-samples=20",
    "--model.key-width=5",
    "--model.value-width=2",
    "--record.chunk=8",
]


def doing(monkeypatch, act):
    """Let `piste list` do something else."""
    monkeypatch.setattr(listing, "list_command", lambda options, rest: act())


# --- pipes ----------------------------------------------------------------------------


@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("word", ["list", "--help"])
def test_a_pipe_that_nobody_reads_ends_quietly(word, unbuffered):
    process = subprocess.Popen(
        [*PISTE, word],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=os.environ | {"PYTHONUNBUFFERED": unbuffered},
    )
    assert process.stdout and process.stderr
    process.stdout.close()
    said = process.stderr.read()
    process.stderr.close()
    assert process.wait() == 141 and said == b""


def test_tables_in_a_pipe_that_nobody_reads():
    class Closed(io.StringIO):
        def write(self, text):
            raise BrokenPipeError

    out = console.PlainConsole(file=Closed())
    with pytest.raises(BrokenPipeError):  # rich alone would leave with exit code 1
        out.print("x")


def test_no_standard_output_at_all(monkeypatch):
    monkeypatch.setattr(sys, "stdout", None)
    assert main(["list"]) == 0


# --- signals --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "code"), [("SIGINT", 130), ("SIGTERM", 143), ("SIGHUP", 129)]
)
def test_signals_are_one_line_and_their_own_exit_code(monkeypatch, capsys, name, code):
    number = getattr(signal, name)
    before = signal.getsignal(number)
    doing(monkeypatch, lambda: os.kill(os.getpid(), number))
    assert main(["list"]) == code
    shown = capsys.readouterr()
    assert shown.out == "" and shown.err == "\ninterrupted\n"
    assert signal.getsignal(number) is before


def test_a_signal_that_is_ignored_stays_so(monkeypatch, capsys):
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)  # as nohup does
    try:
        doing(monkeypatch, lambda: os.kill(os.getpid(), signal.SIGHUP) or 0)
        assert main(["list"]) == 0
    finally:
        signal.signal(signal.SIGHUP, before)


def interrupting(act):
    """What watches a run and acts after its first chunk."""
    return lambda bars, name, total: lambda step, loss: act()


def full_disk():
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "trajectory.zarr")


def no_memory():
    raise MemoryError("Unable to allocate 7.28 TiB for an array")


@pytest.mark.parametrize(
    ("act", "code", "line"),
    [
        (
            lambda: os.kill(os.getpid(), signal.SIGTERM),
            143,
            "\ninterrupted; what is complete is kept; the same command goes on\n",
        ),
        (
            full_disk,
            2,
            "error: trajectory.zarr: the disk is full; free some room, and the same "
            "command goes on from here\n",
        ),
        (
            no_memory,
            2,
            "error: out of memory (at 7.28 TiB); make a size of task or model smaller, "
            "or record.chunk, and the same command goes on\n",
        ),
    ],
    ids=["SIGTERM", "disk", "memory"],
)
def test_what_ends_a_run_lets_it_go_on(monkeypatch, capsys, tmp_path, act, code, line):
    out = tmp_path / "res[bold]and[red"
    words = ["run", *SMALL, "signgd/stages-quick", "--out", str(out)]
    with monkeypatch.context() as patched:
        patched.setattr("piste.console.watcher", interrupting(act))
        assert main(words) == code
    assert capsys.readouterr().err == line
    assert main(words) == 0
    shown = capsys.readouterr().out
    assert "resuming at step 7 of 40" in shown
    assert "res[bold]and[red" in shown.replace("\n", "")


def test_a_command_that_fails_leaves_no_empty_folders(tmp_path):
    old = tmp_path / "old"
    (old / "kept").mkdir(parents=True)
    new = tmp_path / "new" / "er"
    for place in (old, new):
        with pytest.raises(ZeroDivisionError), tidy(place):
            (place / "runs" / "x").mkdir(parents=True)
            raise ZeroDivisionError
    assert [str(p.relative_to(tmp_path)) for p in tmp_path.rglob("*")] == [
        "old",
        "old/kept",
    ]
    with pytest.raises(ZeroDivisionError), tidy(new):
        (new / "runs").mkdir(parents=True)
        (new / "runs" / "file").touch()
        raise ZeroDivisionError
    assert (new / "runs" / "file").exists()


# --- what the machine refuses ---------------------------------------------------------


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (MemoryError(), "out of memory; make a size of task or model smaller"),
        (
            RuntimeError("RESOURCE_EXHAUSTED: Out of memory allocating 8000 bytes."),
            "out of memory (at 8000 bytes); make",
        ),
        (OSError(errno.EDQUOT, "Quota", "x"), "x: the disk is full; free some room"),
        (OSError(errno.EACCES, "Permission denied", "x"), "x: Permission denied"),
        (OSError("no number"), "no number"),
    ],
)
def test_failures_of_the_machine_are_one_line(monkeypatch, capsys, error, line):
    def fail():
        raise error

    doing(monkeypatch, fail)
    assert main(["list"]) == 2
    shown = capsys.readouterr().err
    assert shown.startswith(f"error: {line}") and shown.count("\n") == 1


def test_a_fault_of_ours_is_not_hidden(monkeypatch):
    def fail():
        raise RuntimeError("no such thing")

    doing(monkeypatch, fail)
    with pytest.raises(RuntimeError):
        main(["list"])
    assert explained(RuntimeError("no such thing")) is None


@pytest.mark.parametrize("platform", ["cuda"])
def test_a_device_that_is_not_there(tmp_path, platform):
    words = [*PISTE, "run", "signgd/stages-quick", "--out", "out"]
    done = subprocess.run(
        words,
        env=os.environ | {"JAX_PLATFORMS": platform},
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    rule = "JAX finds no such device here; unset it, or set it to cpu"
    assert done.stderr == f"error: JAX_PLATFORMS = {platform}: {rule}\n"
    assert done.returncode == 2 and not list(tmp_path.iterdir())


# --- characters -----------------------------------------------------------------------


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8"])
def test_terminals_without_our_characters(encoding):
    done = subprocess.run(
        [*PISTE, "list"],
        env=os.environ | {"PYTHONIOENCODING": encoding},
        capture_output=True,
        check=True,
    )
    shown = done.stdout.decode(encoding)
    assert ("8x8 digits" if encoding == "ascii" else "8×8 digits") in shown


def test_errors_on_such_terminals(monkeypatch):
    lines = io.TextIOWrapper(io.BytesIO(), "ascii")
    monkeypatch.setattr(sys, "stderr", lines)
    assert main(["run", "σ ≤ ✓ 日"]) == 2
    lines.seek(0)
    assert "no preset 'sigma <= + \\u65e5'" in lines.read()


def test_every_sign_that_we_print_is_readable_in_ascii():
    text = "✓ ✗ ◐ ○ ? · − – … × ≤ ≥ ± → ∞ ½ ‖v‖ ⟨w, μ⟩ σ₀² λ Σ ∇ √ é"
    plain = "".join(map(in_ascii, text))
    assert plain.isascii() and "\\u" not in plain


def test_brackets_are_no_markup():
    out = console.PlainConsole(file=io.StringIO(), width=80)
    table = console.plain_table(
        ["W[a_k,a]"], [["[bold]x[/bold]"], [console.mark("✓", "[/a]")]]
    )
    out.print(console.bold("[red]", " [/red] :warning:"))
    out.print(table)
    shown = out.file.getvalue()  # type: ignore[attr-defined]
    for text in ("[red] [/red] :warning:", "W[a_k,a]", "[bold]x[/bold]", "✓ [/a]"):
        assert text in shown


def test_a_signal_says_its_number():
    assert SignalReceived(15).number == 15 and isinstance(
        SignalReceived(), KeyboardInterrupt
    )


def test_control_characters_do_not_reach_the_terminal():
    out = console.PlainConsole(file=io.StringIO(), width=80)
    odd = "a\x1b[31mb\rc"
    out.print(odd)
    out.print(console.plain_table([odd], [[odd], [console.mark("✓", odd)]]))
    out.print(console.bold(odd, odd + "\n"))
    out.print("two\nlines")
    shown = out.file.getvalue()  # type: ignore[attr-defined]
    assert "\x1b" not in shown and "\r" not in shown and "two\nlines" in shown
    assert shown.count("a\\x1b[31mb\\rc") == 6

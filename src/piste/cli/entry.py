"""Run one command: read its words, call it, and end in one line if it fails."""

import importlib
import sys
from collections.abc import Sequence
from pathlib import Path

from piste.devices import PLATFORMS, missing_platform
from piste.errors import InputError, field_error, one_line

from .arguments import Parser
from .terminal import CLOSED_PIPE, drop_output, explained, session, tidy

TRAINS = ("run", "reproduce", "landscape")
"""Commands that store what is complete, and go on with the rest."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; a mistake is one line and exit code 2."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    with session():
        try:
            return _ended(words)
        except BrokenPipeError:
            drop_output()
            return CLOSED_PIPE


def _ended(words: list[str]) -> int:
    """The exit code of a command, once all it has to say is said."""
    try:
        code = _run_command(words)
        print(end="", flush=True)
        return code
    except InputError as error:
        return _failed(str(error))
    except BrokenPipeError:
        raise
    except (OSError, RuntimeError, MemoryError) as error:
        line = explained(error)
        if line is None:
            raise
        return _failed(line)
    except KeyboardInterrupt as signal:
        kept = "what is complete is kept; the same command goes on"
        again = f"; {kept}" if words[:1] and words[0] in TRAINS else ""
        print(f"\ninterrupted{again}", file=sys.stderr)
        return 128 + getattr(signal, "number", 2)


def _failed(line: str) -> int:
    print(f"error: {one_line(line)}", file=sys.stderr)
    try:
        print(end="", flush=True)
    except OSError:
        drop_output()  # else Python would try again, and complain, as it ends
    return 2


COMMANDS = {
    "list": "listing",
    "run": "runs",
    "show": "runs",
    "reproduce": "papers",
    "verify": "papers",
    "landscape": "landscapes",
}
"""The module of each command: a function of its name there. Imported when it is used."""


def _run_command(words: list[str]) -> int:
    try:
        name, options, rest = Parser().read(words)
    except SystemExit as ended:  # argparse has said all there is to --help
        return int(ended.code or 0)
    if name != "list" and (asked := missing_platform()):
        expected = "JAX finds no such device here; unset it, or set it to cpu"
        raise field_error(PLATFORMS, asked, expected)
    module = importlib.import_module(f"piste.cli.{COMMANDS[name]}")
    command = getattr(module, f"{name}_command")
    with tidy(getattr(options, "out", Path())):
        return command(options, rest)

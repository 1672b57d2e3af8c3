"""A command and what is around it: signals, closed pipes, old terminals, full disks."""

import codecs
import contextlib
import errno
import os
import re
import signal
import sys
import threading
import unicodedata
import warnings
from collections.abc import Iterator
from pathlib import Path

from piste.errors import InputWarning, SignalReceived, one_line

SIGNALS = ("SIGINT", "SIGTERM", "SIGHUP")
"""What ends a command in the same orderly way: Ctrl-C, a shutdown, a lost connection."""
CLOSED_PIPE = 128 + 13
"""Exit code where nobody reads on, as of other programs that SIGPIPE ends."""


@contextlib.contextmanager
def session() -> Iterator[None]:
    """Everything that a command of the terminal needs, put back when it ends."""
    with _signals(), _readable_streams(), warnings.catch_warnings():
        shown = warnings.showwarning
        warnings.simplefilter("always", InputWarning)
        printed: set[str] = set()

        def show(message, category, *rest, **named):
            if not issubclass(category, InputWarning):
                return shown(message, category, *rest, **named)
            line = f"warning: {one_line(str(message))}"
            # Once in a command. A filter would not do: a library that is imported
            # meanwhile may put its own before it.
            if line not in printed:
                printed.add(line)
                print(line, file=sys.stderr)

        warnings.showwarning = show
        yield


@contextlib.contextmanager
def _signals() -> Iterator[None]:
    """Raise :class:`SignalReceived` for a signal, unless somebody else takes it."""
    free = (signal.SIG_DFL, signal.default_int_handler)
    numbers = [getattr(signal, name) for name in SIGNALS if hasattr(signal, name)]
    if threading.current_thread() is not threading.main_thread():
        numbers = []  # Python lets no other thread set them
    before = {n: h for n in numbers if (h := signal.getsignal(n)) in free}
    try:
        for number in before:
            signal.signal(number, _interrupt)
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _interrupt(number, frame):
    raise SignalReceived(number)


# --- characters that a terminal does not have -----------------------------------------

SIGNS = {
    **{"✓": "+", "✗": "x", "◐": "~", "○": "o", "●": "*", "▲": "^", "·": "-"},
    **{
        "−": "-",
        "–": "-",
        "—": "-",
        "…": "...",
        "’": "'",
        "‘": "'",
        "“": '"',
        "”": '"',
    },
    **{"×": "x", "≤": "<=", "≥": ">=", "±": "+-", "→": "->", "↑": "^", "∞": "inf"},
    **{"½": "1/2", "¼": "1/4", "‖": "||", "⟨": "<", "⟩": ">", "⌊": "[", "⌋": "]"},
    **{"∇": "grad ", "∂": "d", "√": "sqrt ", "∝": "~", "∈": " in ", "°": " degrees"},
}
"""Signs that piste prints, in ASCII."""


def in_ascii(character: str) -> str:
    r"""What stands for a character where there is only ASCII.

    >>> "".join(map(in_ascii, "✓ σ₀ ≤ ½, λ², é"))
    '+ sigma_0 <= 1/2, lambda^2, e'
    """
    if character.isascii() or character in SIGNS:
        return SIGNS.get(character, character)
    name = unicodedata.name(character, "")
    if letter := re.fullmatch(r"GREEK (SMALL|CAPITAL) LETTER (\w+)", name):
        word = letter[2].lower().replace("lamda", "lambda")
        return word.capitalize() if letter[1] == "CAPITAL" else word
    plain = unicodedata.normalize("NFKD", character).encode("ascii", "ignore").decode()
    raised = "_" if "SUBSCRIPT" in name else "^" if "SUPERSCRIPT" in name else ""
    return raised + plain if plain else f"\\u{ord(character):04x}"


def _replaced(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeEncodeError)
    return "".join(map(in_ascii, error.object[error.start : error.end])), error.end


codecs.register_error("piste-ascii", _replaced)


@contextlib.contextmanager
def _readable_streams() -> Iterator[None]:
    """Print what a terminal has no character for in ASCII, and never fail for it."""
    streams = [s for s in (sys.stdout, sys.stderr) if hasattr(s, "reconfigure")]
    before = [stream.errors for stream in streams]
    try:
        for stream in streams:
            stream.reconfigure(errors="piste-ascii")  # type: ignore[union-attr]
        yield
    finally:
        for stream, errors in zip(streams, before, strict=True):
            with contextlib.suppress(OSError, ValueError):
                stream.reconfigure(errors=errors)  # type: ignore[union-attr]


@contextlib.contextmanager
def tidy(folder: Path) -> Iterator[None]:
    """Leave no empty folders behind where a command fails before it stores anything."""
    before = set(_folders(folder))
    try:
        yield
    except BaseException:
        for place in sorted(set(_folders(folder)) - before, reverse=True):
            with contextlib.suppress(OSError):
                place.rmdir()  # only if it is empty
        raise


def _folders(folder: Path) -> list[Path]:
    """The folders around one, itself, and two levels within it."""
    with contextlib.suppress(OSError, ValueError):
        places = (folder, *folder.parents, *folder.glob("*"), *folder.glob("*/*"))
        return [place for place in places if place.is_dir()]
    return []


# --- when a command cannot go on ------------------------------------------------------


def drop_output() -> None:
    """Print nowhere from here on: who read it is gone, or the disk behind it is full."""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, sys.stdout.fileno())
        os.close(null)


def explained(error: Exception) -> str | None:
    """One line for a failure of the machine's, or nothing: then it is a fault of ours."""
    said = str(error)
    if isinstance(error, OSError):
        return _about_files(error)
    if isinstance(error, MemoryError) or _EXHAUSTED.search(said):
        asked = re.search(r"allocat\w* ([\d.]+ ?\w+)", said)
        amount = f" (at {asked[1]})" if asked else ""
        return f"out of memory{amount}; {SMALLER}, and the same command goes on"
    return None


_EXHAUSTED = re.compile(r"RESOURCE_EXHAUSTED|[Oo]ut of memory")
SMALLER = "make a size of task or model smaller, or record.chunk"


def _about_files(error: OSError) -> str:
    place = error.filename if error.filename is not None else "output"
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        expected = "free some room, and the same command goes on from here"
        return f"{place}: the disk is full; {expected}"
    return f"{place}: {error.strerror}" if error.strerror else str(error)

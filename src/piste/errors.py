"""The one exception that a user's mistake raises, and how its text is made safe."""

import difflib
import os
from collections.abc import Iterable
from typing import Any

LONGEST_VALUE = 60
"""Characters of a value that a message shows; a 5,000-digit number fills a screen."""
LONGEST_WORD = 300
"""The same for any other word of a message, such as a path."""


class InputError(ValueError):
    """A mistake in what the user gave: one line that names it and what is allowed.

    The command line prints it without a traceback and leaves with exit code 2. Whatever
    the message quotes, it stays one line of printable characters. An error about a field
    knows its name, its value and what is expected (:func:`field_error` words it).
    """

    def __init__(
        self, message: str, *, field: str = "", value: Any = None, expected: str = ""
    ):
        super().__init__(one_line(message))
        self.field = field
        """The dotted name of the field, in the spelling of Python; empty if none is."""
        self.value = value
        """What was given for it."""
        self.expected = expected
        """What is wrong and what is allowed, as the message says it."""

    def inside(self, path: str) -> "InputError":
        """The same error of a value that is itself a field of another one.

        >>> print(field_error("samples", 0, "must be at least 1").inside("task"))
        task.samples = 0: must be at least 1
        """
        if not path:
            return self
        if self.field:
            return field_error(f"{path}.{self.field}", self.value, self.expected)
        return InputError(f"{dashed(path)}: {self}")


def field_error(name: str, given: Any, expected: str) -> InputError:
    """The error for a field: its name, its value and what is expected.

    >>> print(field_error("rule.learning_rate", -1.0, "must be greater than 0"))
    rule.learning-rate = -1.0: must be greater than 0
    """
    message = f"{dashed(name) or 'value'} = {shown(given)}: {expected}"
    return InputError(message, field=name, value=given, expected=expected)


def dashed(name: str) -> str:
    """The command line's spelling of a field's name; variables keep theirs."""
    return name if name.isupper() else name.replace("_", "-")


class InputWarning(UserWarning):
    """Something that the user installed or named is skipped; the command goes on."""


class SignalReceived(KeyboardInterrupt):
    """A signal that ends a command: Ctrl-C, a shutdown, a closed terminal."""

    def __init__(self, number: int = 2):
        super().__init__()
        self.number = number
        """The number of the signal."""


def did_you_mean(word: str, allowed: Iterable[str]) -> str:
    """Return ``"; did you mean 'x'?"`` for the nearest allowed word, or nothing.

    >>> did_you_mean("stagse", ["stages", "adam"])
    "; did you mean 'stages'?"
    """
    if len(word) > LONGEST_VALUE:  # no word of ours is, and comparing takes long
        return ""
    near = difflib.get_close_matches(word, list(allowed), n=1, cutoff=0.5)
    return f"; did you mean '{near[0]}'?" if near else ""


def shown(given: Any) -> str:
    r"""A value as a message shows it: printable, and shortened if it is long.

    >>> shown("two\nlines"), shown(0.5), shown((1, 2))
    ('two\\nlines', '0.5', '1,2')
    >>> shown("9" * 5000)
    '99999999999999999999…99999999999999999999 (5000 characters)'
    """
    if isinstance(given, int) and abs(given) >= 10**100:
        # Python itself refuses to print the largest ones.
        digits = int(given.bit_length() * 0.30103)
        return f"a whole number of about {digits} digits"
    try:
        # Several values are shown as the command line takes them.
        several = isinstance(given, tuple)
        text = ",".join(map(shown, given)) if several else str(given)
    except Exception as error:  # a value that is nested too deeply, or a stranger's
        return f"a {type(given).__name__} that cannot be shown ({type(error).__name__})"
    # The end of a path tells it from others, so a path is shown in full.
    longest = LONGEST_WORD if isinstance(given, os.PathLike) else LONGEST_VALUE
    return _shortened(printable(text), longest)


def one_line(text: str) -> str:
    """Any text as one line of printable characters, its long words shortened."""
    words = printable(text).split(" ")
    return " ".join(_shortened(word, LONGEST_WORD) for word in words)


def reason(error: BaseException) -> str:
    """What an exception says, in one line, with its kind.

    >>> reason(ValueError("no good"))
    'ValueError: no good'
    """
    try:
        said = " ".join(str(error).split())
    except Exception:  # a stranger's exception
        said = ""
    kind = type(error).__name__
    return _shortened(printable(f"{kind}: {said}" if said else kind), LONGEST_WORD)


def printable(text: str, lines: bool = False) -> str:
    r"""Any text with its control characters escaped; ends of lines only if not kept.

    >>> printable("\x1b[31mred\n"), printable("two\nlines", lines=True)
    ('\\x1b[31mred\\n', 'two\nlines')
    """
    if lines:
        return "\n".join(map(printable, text.split("\n")))
    return text if text.isprintable() else "".join(map(_escaped, text))


def _escaped(character: str) -> str:
    # Controls move the cursor, formats turn the direction of the text, surrogates are
    # bytes that were no text, and line separators begin a line.
    if character.isprintable():
        return character
    return character.encode("unicode_escape").decode("ascii")


def _shortened(text: str, longest: int) -> str:
    if len(text) <= longest:
        return text
    part = longest // 3
    return f"{text[:part]}…{text[-part:]} ({len(text)} characters)"

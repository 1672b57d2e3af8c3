"""The one exception that a user's mistake raises."""

import difflib
from collections.abc import Iterable


class InputError(ValueError):
    """A mistake in what the user gave: one line that names it and what is allowed.

    The command line prints it without a traceback and leaves with exit code 2.
    """


def did_you_mean(word: str, allowed: Iterable[str]) -> str:
    """Return ``"; did you mean 'x'?"`` for the nearest allowed word, or nothing.

    >>> did_you_mean("stagse", ["stages", "adam"])
    "; did you mean 'stages'?"
    """
    near = difflib.get_close_matches(word, list(allowed), n=1, cutoff=0.5)
    return f"; did you mean '{near[0]}'?" if near else ""

"""Installed packages that bring papers: which there are, and what they add.

A package brings a paper by an entry point of the group ``piste.papers``. Ours do so too,
so the rest of piste names none of them. One that is broken is skipped with a warning; it
takes no name of ours and nothing else with it.
"""

import importlib
import signal
import sys
import warnings
from importlib.metadata import EntryPoint, entry_points
from importlib.util import find_spec

from piste.errors import InputWarning, SignalReceived, one_line, reason, shown

GROUP = "piste.papers"
OURS = "piste.papers."
"""How the modules of our own papers begin."""
MEMBERS = "members"
"""The module of a package that imports all that it adds to the families."""

_brought: set[EntryPoint] = set()
"""Those whose members have been imported, or could not be."""
_searched: set[tuple[str, ...]] = set()
"""The values of ``sys.path`` on which all packages have been found: a search takes 10 ms,
and families are asked for a name hundreds of times in a second."""


def paper_points() -> dict[str, EntryPoint]:
    """The entry points of all papers by name; a name belongs to one package."""
    found = {}
    for name, points in sorted(_by_name().items()):
        if len(points) > 1:
            packages = " and ".join(map(_package, points))
            skip_paper(points[0], f"is brought by {packages}; must be by one")
        else:
            found[name] = points[0]
    return found


def _by_name() -> dict[str, list[EntryPoint]]:
    """Entry points by name; ours keep their names to themselves."""
    points = sorted(entry_points(group=GROUP), key=lambda point: point.value)
    ours = {p.name: [p] for p in points if p.value.startswith(OURS)}
    others: dict[str, list[EntryPoint]] = {}
    for point in points:
        if point.value.startswith(OURS):
            continue
        if point.name in ours:
            skip_paper(point, "is the name of a paper of piste; must be another one")
        else:
            others.setdefault(point.name, []).append(point)
    return ours | others


def bring_members() -> None:
    """Import what installed papers add to the families, once in a process.

    Whoever looks for a member that is not there yet calls this first: importing all of it
    takes seconds, which a command that needs none of it must not wait for.
    """
    paths = tuple(sys.path)
    if paths in _searched:
        return
    for point in paper_points().values():
        if point not in _brought:
            _brought.add(point)  # before it is imported: what it imports may ask again
            _bring(point)
    _searched.add(paths)


def _bring(point: EntryPoint) -> None:
    try:
        importlib.import_module(point.module)
        name = f"{point.module}.{MEMBERS}"
        package = hasattr(sys.modules[point.module], "__path__")
        if package and find_spec(name) is not None:
            importlib.import_module(name)
    except BaseException as error:
        if is_from_user(error):
            raise
        skip_paper(point, f"cannot be imported ({reason(error)})")


def is_from_user(error: BaseException) -> bool:
    """Whether it is Ctrl-C, and not code that raises the same."""
    if isinstance(error, SignalReceived):
        return True
    plain = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    return isinstance(error, KeyboardInterrupt) and plain


def skip_paper(point: EntryPoint, fault: str) -> None:
    """Warn that a paper is not there, and why."""
    about = f"paper '{shown(point.name)}' of {_package(point)}: {fault}; skipped"
    warnings.warn(one_line(about), InputWarning, stacklevel=2)


def _package(point: EntryPoint) -> str:
    return point.dist.name if point.dist else point.value

"""Which papers there are: ours, those of other packages, and those of users' files.

An installed package brings a paper by an entry point (``installed.py``), a file by a value
``PAPER``, for this process alone.
"""

import re
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

from piste.brought import import_file
from piste.errors import (
    InputError,
    did_you_mean,
    field_error,
    reason,
    shown,
)
from piste.installed import OURS, is_from_user, paper_points, skip_paper

from ._base import Paper, Preset

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
"""Names of papers and presets: they are words of commands, and names of folders."""
TEXTS = ("name", "title", "authors", "venue", "link", "summary", "package", "main")

_FROM_FILES: dict[str, Paper] = {}
"""Papers of users' files by name, since this process began."""


def papers() -> dict[str, Paper]:
    """All papers, ours and everybody else's, in the order of their names."""
    found = _FROM_FILES.copy()
    for name, point in paper_points().items():
        if paper := _load(point):
            found[name] = paper
    return dict(sorted(found.items()))


def bring_file(path: Path | None) -> None:
    """Import a user's file; the paper that it defines, if it does, is known from now on.

    It cannot take the name of an installed one. Of two files with papers of one name the
    later counts.
    """
    module = import_file(path)
    paper = getattr(module, "PAPER", None)
    if module is None or paper is None:
        return
    try:
        _check(paper)
        _check_in_file(paper, module.__name__)
    except InputError as error:
        raise field_error("with", path, f"PAPER: {error}") from None
    _FROM_FILES[paper.name] = paper


def _check_in_file(paper: Paper, module: str) -> None:
    if paper.name in paper_points():
        expected = "is the name of an installed paper; choose another name"
        raise field_error("name", paper.name, expected)
    if paper.package != module:
        raise field_error("package", paper.package, "must be __name__ in a file")


def _load(point: EntryPoint) -> Paper | None:
    """The paper of an entry point, or a warning; whatever a stranger's code does."""
    try:
        paper = point.load()
        _check(paper, point.name)
        return paper
    except InputError as error:
        return skip_paper(point, str(error))
    except BaseException as error:
        if is_from_user(error):
            raise
        return skip_paper(point, f"cannot be imported ({reason(error)})")


def _check(paper: Any, point: str = "") -> None:
    """Refuse what is no paper: its fields are used in commands, folders and pages.

    An installed one must have the name of its entry point.
    """
    if not isinstance(paper, Paper):
        raise InputError(f"is a {type(paper).__name__}; must be a piste.papers.Paper")
    for field in TEXTS:
        if not isinstance(getattr(paper, field), str):
            raise field_error(field, getattr(paper, field), "must be text")
    if paper.name != (point or paper.name) or not NAME.fullmatch(paper.name):
        same = f"its entry point's, {shown(point)}, " if point else ""
        expected = f"must be {same}of letters, digits, . _ and -"
        raise field_error("name", paper.name, expected)
    if not isinstance(paper.presets, dict):
        raise field_error("presets", paper.presets, "must be a dict")
    for short, preset in paper.presets.items():
        _check_preset(short, preset)


def _check_preset(short: Any, preset: Any) -> None:
    if not isinstance(short, str) or not NAME.fullmatch(short):
        expected = "must be of letters, digits, . _ and -"
        raise InputError(f"preset '{shown(short)}': {expected}")
    texts = isinstance(preset, Preset) and (preset.meaning, preset.time)
    if not texts or not all(isinstance(text, str) for text in texts):
        raise InputError(
            f"preset '{short}': must be a piste.papers.Preset of two texts"
        )


def find_paper(name: str) -> Paper:
    """A paper by name, or an error that lists them."""
    known = papers()
    if name not in known:
        near = did_you_mean(name, known)
        raise InputError(f"no paper '{shown(name)}'{near} (piste list shows all)")
    return known[name]


def preset(name: str) -> Any:
    """The experiment of a preset, named ``paper/preset``."""
    known = {
        f"{paper.name}/{short}": (paper, short)
        for paper in papers().values()
        for short in paper.presets
    }
    if name not in known:
        near = did_you_mean(name, known)
        raise InputError(f"no preset '{shown(name)}'{near} (piste list shows all)")
    paper, short = known[name]
    paper.check_parts("presets")
    make = getattr(paper.part("presets"), short.replace("-", "_"))
    return make() if paper.package.startswith(OURS) else _made(name, make)


def _made(name: str, make: Any) -> Any:
    """What a stranger's function gives, if it is an experiment."""
    from piste.experiment import Experiment  # listing papers must stay fast

    try:
        made = make()
    except InputError:
        raise
    except Exception as error:
        raise InputError(f"preset '{name}': fails ({reason(error)})") from error
    if not isinstance(made, Experiment):
        expected = "must give a piste.experiment.Experiment"
        raise InputError(f"preset '{name}': gives a {type(made).__name__}; {expected}")
    return made

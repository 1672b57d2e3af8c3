"""Reproduce a paper: run its studies, judge its claims, draw and write."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from piste.caching import free_memory, return_freed_memory
from piste.claims import Judgements
from piste.figures import Picture
from piste.store import make_folder, refuse_other_formats
from piste.training import check_size, load_data

from ._study import ProgressCallback, Study, no_progress
from .contents import Contents
from .displays import Tables, draw_figures, make_tables
from .evidence import Evidence
from .writing import write_json, write_pictures, write_tables


@dataclass(frozen=True)
class Results:
    """What a reproduction found, and where it is."""

    folder: Path
    studies: tuple[Study, ...]
    """Those of which there is evidence: asked for now, or stored before."""
    asked: tuple[str, ...]
    """The names of those that were asked for."""
    evidence: Evidence
    judgements: Judgements
    pictures: dict[str, Picture]
    tables: Tables
    failures: tuple[str, ...]
    """What could not be drawn or listed, because code that was brought fails."""

    @property
    def runs(self) -> int:
        """Runs, cells and pairs of surfaces of all studies."""
        return sum(self.evidence.count(study.name) for study in self.studies)


def reproduce(
    contents: Contents,
    folder: Path,
    studies: Sequence[Study],
    fresh: bool = False,
    watch: Callable[[Study], ProgressCallback] = lambda study: no_progress,
) -> Results:
    """Run some studies of a paper, judge and draw everything, and write it.

    Other studies that are already stored are judged and drawn too.
    """
    check_data(studies, folder, fresh)
    make_folder(folder)
    return_freed_memory()
    evidence = Evidence()
    for study in studies:
        evidence |= study.run(folder, watch(study), fresh)
        free_memory()
    asked = tuple(evidence)
    for study in contents.studies:
        if study.name not in evidence and study.is_stored(folder):
            evidence |= study.run(folder)
    every = tuple(study for study in contents.studies if study.name in evidence)
    return _show(contents, folder, every, asked, evidence)


def _show(
    contents: Contents,
    folder: Path,
    studies: tuple[Study, ...],
    asked: tuple[str, ...],
    evidence: Evidence,
) -> Results:
    judgements = evidence.judged(contents.claims)
    failures: list[str] = []
    pictures = draw_figures(contents.figures, evidence, failures)
    tables = make_tables(contents.tables, evidence, failures)
    write_pictures(folder / "figures", pictures)
    write_tables(folder / "tables", tables)
    write_json(folder / "verdicts.json", [j.to_json() for j in judgements])
    return Results(
        folder,
        studies,
        asked,
        evidence,
        judgements,
        pictures,
        tables,
        tuple(failures),
    )


# --- before anything is run -----------------------------------------------------------


def check_formats(folder: Path) -> None:
    """Refuse a folder with stored results of another format, of whatever study."""
    for inner in sorted(folder.glob("*/")):
        refuse_other_formats(inner)


def to_run(studies: Sequence[Study], folder: Path, fresh: bool) -> list[Study]:
    """The studies of which something is left to run."""
    return [study for study in studies if fresh or not study.is_stored(folder)]


def check_data(studies: Sequence[Study], folder: Path, fresh: bool = False) -> None:
    """Refuse data that are missing or damaged before anything is run or written."""
    check_formats(folder)
    for study in to_run(studies, folder, fresh):
        # Seeds share their data, which are read once.
        for experiment in {e.task: e for e in study.trains()}.values():
            load_data(experiment)


def check_sizes(studies: Sequence[Study], folder: Path, fresh: bool = False) -> None:
    """Refuse what this machine cannot hold before anything is run or written."""
    for study in to_run(studies, folder, fresh):
        for experiment in study.trains():
            check_size(experiment, folder)


# --- what is stored -------------------------------------------------------------------


@dataclass(frozen=True)
class Verification:
    """The claims of a paper judged on what is stored, and what that was."""

    folder: Path
    evidence: Evidence
    judgements: Judgements

    def sentence(self) -> str:
        """Which runs were judged."""
        counts = {name: self.evidence.count(name) for name in self.evidence}
        parts = ", ".join(f"{name} ({count})" for name, count in counts.items())
        return f"judged in {self.folder}: {parts}"


def verify(choices: Sequence[tuple[Contents, Path]]) -> Verification | None:
    """Judge the claims of a paper on stored runs; trains and writes nothing.

    Of several reproductions the first of which something is stored is judged; None
    where nothing is.
    """
    for _, folder in choices:
        check_formats(folder)
    for contents, folder in choices:
        stored = [study for study in contents.studies if study.is_stored(folder)]
        if stored:
            evidence = Evidence()
            for study in stored:
                evidence |= study.run(folder)
            return Verification(folder, evidence, evidence.judged(contents.claims))
    return None

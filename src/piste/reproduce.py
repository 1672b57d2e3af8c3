"""Reproduce a paper: run its studies, draw, judge, and write one page about it."""

import json
import math
import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
import xarray as xr

from piste.brought import file_of
from piste.claims import Judgements, judge, stages
from piste.dynamics import choose_form, load_data
from piste.errors import InputError, did_you_mean, field_error
from piste.papers import Paper, Study
from piste.report import render
from piste.run_study import Watch, is_stored, run_study
from piste.store import environment, make_folder
from piste.values import fields_of

Evidence = dict[str, list[xr.Dataset] | xr.Dataset]
"""By study: trajectories of its runs, pairs of surfaces, or one dataset of a sweep."""


@dataclass(frozen=True)
class Results:
    """What a reproduction found, and where it is."""

    folder: Path
    judgements: Judgements
    tables: dict[str, tuple[str, pd.DataFrame]]
    pictures: int
    runs: int
    notes: list[str]
    """What must be said of stored results: other versions, data not compared."""


def reproduce(
    paper: Paper,
    root: Path,
    quick: bool = False,
    fresh: bool = False,
    only: Sequence[str] = (),
    watch: Callable[[Study], Watch] = lambda study: _silent,
    theory: bool = False,
    file: Path | None = None,
) -> Results:
    """Run, judge and draw everything of a paper, or ``only`` some studies of it.

    With ``theory`` only studies that need no dataset are run. ``file`` is the user's file
    that was imported for it, which the page names; by default the paper's own.

    The page then also shows the other studies that are already stored.
    """
    paper.check_parts()
    folder = result_folder(paper, root, quick)
    studies = chosen(paper, quick, only, theory)
    check_data(studies, folder, fresh)
    make_folder(folder)
    evidence = {s.name: run_study(s, folder, watch(s), fresh) for s in studies}
    asked = list(evidence)
    for study in paper.part("studies").studies(quick):
        if study.name not in evidence and is_stored(study, folder):
            evidence[study.name] = run_study(study, folder, _silent)
    every = [s for s in paper.part("studies").studies(quick) if s.name in evidence]
    command = command_line(paper, root, quick, only, theory, file)
    return _write(paper, folder, every, evidence, command, asked)


def command_line(
    paper: Paper,
    root: Path,
    quick: bool,
    only: Sequence[str],
    theory: bool,
    file: Path | None = None,
) -> str:
    """The command that makes the same page again."""
    file = file or file_of(paper.package)
    parts = ["piste", "reproduce"]
    parts += ["--with", str(file)] if file else []
    parts += [paper.name]
    parts += ["--quick"] if quick else []
    parts += ["--theory"] if theory else []
    parts += ["--only", ",".join(only)] if only else []
    parts += ["--out", str(root)] if root != Path("results") else []
    return shlex.join(parts)


def result_folder(paper: Paper, root: Path, quick: bool) -> Path:
    """Where the results of a paper are."""
    return root / (paper.name + ("-quick" if quick else ""))


def chosen(
    paper: Paper, quick: bool, only: Sequence[str], theory: bool = False
) -> Sequence[Study]:
    """The studies asked for by name; else those whose data can be had.

    With ``theory`` those among them that need no dataset.
    """
    part = paper.part("studies")
    studies = tuple(part.studies(quick))
    if theory:
        studies = [study for study in studies if study.theory]
    if not studies:
        raise InputError(f"theory: every study of {paper.name} needs a dataset")
    names = [study.name for study in studies]
    for name in only:
        if name not in names:
            near = did_you_mean(name, names)
            raise field_error("only", name, f"must be among {', '.join(names)}{near}")
    if only:
        return [study for study in studies if study.name in only]
    return getattr(part, "available", list)(studies)


def left_out(paper: Paper, quick: bool, studies: Sequence[Study]) -> str:
    """A line about the other studies: no data for them, or others in their place."""
    names = [study.name for study in studies]
    every = paper.part("studies").studies(quick)
    left = ", ".join(study.name for study in every if study.name not in names)
    words = "no data at hand, or others in their place; --only NAME runs one"
    return f"  left out: {left} ({words})\n\n" if left else ""


def check_data(studies: Sequence[Study], folder: Path, fresh: bool = False) -> None:
    """Refuse data that are missing or damaged before anything is run or written."""
    for study in studies:
        if study.calculation is None and (fresh or not is_stored(study, folder)):
            load_data(study.base)


def _silent(step: int, loss: float) -> None:
    pass


@dataclass(frozen=True)
class Verified:
    """The claims of a paper judged on what is stored, and what that was."""

    folder: Path
    runs: dict[str, int]
    """Runs or instances by study."""
    judgements: Judgements
    notes: list[str]
    """What must be said of the results that were judged."""

    def sentence(self) -> str:
        """Which runs were judged."""
        parts = ", ".join(f"{name} ({count})" for name, count in self.runs.items())
        return f"judged in {self.folder}: {parts}"


def verify(paper: Paper, root: Path) -> Verified:
    """Judge the claims of a paper on stored runs; trains and writes nothing.

    The whole reproduction is judged where it is stored, at least in part; the quick one
    only where there is nothing of the whole.
    """
    claims = paper.part("claims").CLAIMS
    if not claims:
        raise InputError(f"paper '{paper.name}': has no claims to judge")
    for quick in (False, True):
        folder = result_folder(paper, root, quick)
        studies = paper.part("studies").studies(quick)
        stored = [study for study in studies if is_stored(study, folder)]
        if stored:
            evidence = {s.name: run_study(s, folder, _silent) for s in stored}
            return Verified(
                folder,
                {name: _count(found) for name, found in evidence.items()},
                judge(claims, evidence),
                notes_of(evidence),
            )
    command = command_line(paper, root, False, (), False)
    about = f"has no complete runs of {paper.name}; {command} makes them"
    raise InputError(f"out = {root}: {about}")


def _write(
    paper: Paper,
    folder: Path,
    studies: Sequence[Study],
    evidence: Evidence,
    command: str,
    asked: Sequence[str],
) -> Results:
    judgements = judge(paper.part("claims").CLAIMS, evidence)
    pictures = paper.part("figures").pictures(evidence)
    tables = paper.part("tables").tables(evidence)
    for name, picture in pictures.items():
        picture.save(folder / "figures", name)
    _write_tables(folder / "tables", tables)
    _write_json(folder / "verdicts.json", [j.to_json() for j in judgements])
    notes = notes_of(evidence)
    page = render(
        paper,
        [stages(run) for run in _runs(evidence, paper.main)],
        judgements,
        pictures,
        tables,
        [_describe(study, evidence[study.name]) for study in studies],
        environment(),
        command,
        [study.name for study in studies if study.name not in asked],
        notes,
    )
    (folder / "report.html").write_text(page, "utf-8")
    count = sum(_count(evidence[study.name]) for study in studies)
    return Results(folder, judgements, tables, len(pictures), count, notes)


def notes_of(evidence: Evidence) -> list[str]:
    """What the stored results of some studies say of themselves, each sentence once."""
    every = [
        f"{name}: {note}"
        for name, found in evidence.items()
        for part in ([found] if isinstance(found, xr.Dataset) else found)
        for note in part.attrs.get("notes", ())
    ]
    return list(dict.fromkeys(every))


def _runs(evidence: Evidence, name: str) -> list[xr.Dataset]:
    found = evidence.get(name, [])
    return [] if isinstance(found, xr.Dataset) else found


def _count(found: list[xr.Dataset] | xr.Dataset) -> int:
    return found.sizes["cell"] if isinstance(found, xr.Dataset) else len(found)


def _write_json(path: Path, content: Any) -> None:
    text = json.dumps(_finite(content), indent=2, ensure_ascii=False, allow_nan=False)
    path.write_text(text, "utf-8")


def _finite(content: Any) -> Any:
    """Plain data without numbers that JSON does not have."""
    if isinstance(content, dict):
        return {name: _finite(part) for name, part in content.items()}
    if isinstance(content, (list, tuple)):
        return [_finite(part) for part in content]
    missing = isinstance(content, float) and not math.isfinite(content)
    return None if missing else content


def _write_tables(folder: Path, tables: dict[str, tuple[str, pd.DataFrame]]) -> None:
    folder.mkdir(exist_ok=True)
    for name, (caption, frame) in tables.items():
        frame.to_csv(folder / f"{name}.csv", index=False)
        rows = json.loads(str(frame.to_json(orient="records")))
        _write_json(folder / f"{name}.json", {"caption": caption, "rows": rows})


def _describe(study: Study, found: list[xr.Dataset] | xr.Dataset) -> dict[str, Any]:
    """What the page says of a study: its size, arithmetic, time and configuration."""
    settings = {k: v for k, v in fields_of(study.base).items() if k != "seed"}
    if study.landscape is not None:
        settings |= {f"landscape.{k}": v for k, v in fields_of(study.landscape).items()}
    if study.sweep is not None:
        settings |= {f"over {name}": list(v) for name, v in study.sweep.axes.items()}
    parts = [found] if isinstance(found, xr.Dataset) else found
    return {
        "name": study.name,
        "meaning": study.meaning,
        "runs": _count(found),
        "form": "–" if study.calculation else choose_form(study.base),
        "precision": "float64" if study.calculation else study.base.precision,
        "seconds": round(sum(part.attrs["seconds"] for part in parts), 1),
        "configuration": "\n".join(f"{name:<28}{v}" for name, v in settings.items()),
    }

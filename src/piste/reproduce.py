"""Reproduce a paper: run its studies, draw, judge, and write one page about it."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
import xarray as xr

from piste.claims import Judgement, detect, judge
from piste.errors import InputError
from piste.papers import Paper, Study
from piste.report import render
from piste.store import Run, Store, environment, make_folder
from piste.values import fields_of, word_of

Evidence = dict[str, list[xr.Dataset]]


@dataclass(frozen=True)
class Results:
    """What a reproduction found, and where it is."""

    folder: Path
    judgements: list[Judgement]
    tables: dict[str, tuple[str, pd.DataFrame]]
    pictures: int
    runs: int


def run_study(
    study: Study, store: Store, watch: Callable[[int, float], None], fresh: bool
) -> list[Run]:
    """Run all experiments of a study; ``watch`` is told the steps of the whole study."""
    runs, done = [], 0
    for experiment in study.experiments:
        name = f"{study.name}-seed={experiment.seed}"
        before = done
        run = store.run(
            experiment, name, lambda step, loss, b=before: watch(b + step, loss), fresh
        )
        done += experiment.steps
        watch(done, float(run.trajectory().train_loss[-1]))
        runs.append(run)
    return runs


def reproduce(
    paper: Paper,
    root: Path,
    quick: bool = False,
    fresh: bool = False,
    watch: Callable[[Study], Callable[[int, float], None]] = lambda study: _silent,
    on_stage: Callable[[str], None] = lambda words: None,
) -> Results:
    """Run, judge and draw everything of a paper under ``root/paper``."""
    folder = root / (paper.name + ("-quick" if quick else ""))
    make_folder(folder)
    store = Store(folder / "runs")
    studies = paper.part("studies").studies(quick)
    runs = {s.name: run_study(s, store, watch(s), fresh) for s in studies}
    on_stage("judging and drawing")
    return _write(paper, folder, quick, studies, runs, _evidence(runs))


def _evidence(runs: dict[str, list[Run]]) -> Evidence:
    return {name: [run.trajectory().load() for run in of] for name, of in runs.items()}


def _silent(step: int, loss: float) -> None:
    pass


def verify(paper: Paper, root: Path) -> list[Judgement]:
    """Judge the claims of a paper on runs that are already stored; writes nothing."""
    for quick in (False, True):
        store = Store(root / (paper.name + ("-quick" if quick else "")) / "runs")
        studies = paper.part("studies").studies(quick)
        found = {s.name: store.find_all(s.experiments) for s in studies}
        if all(len(found[study.name]) == len(study.experiments) for study in studies):
            return judge(paper.part("claims").CLAIMS, _evidence(found))
    raise InputError(
        f"out = {root}: has no complete runs of {paper.name}; "
        f"piste reproduce {paper.name} makes them"
    )


def _write(
    paper: Paper,
    folder: Path,
    quick: bool,
    studies: tuple[Study, ...],
    runs: dict[str, list[Run]],
    evidence: Evidence,
) -> Results:
    judgements = judge(paper.part("claims").CLAIMS, evidence)
    pictures = paper.part("figures").pictures(evidence)
    tables = paper.part("tables").tables(evidence)
    for name, picture in pictures.items():
        picture.save(folder / "figures", name)
    _write_tables(folder / "tables", tables)
    verdicts = [judgement.to_json() for judgement in judgements]
    (folder / "verdicts.json").write_text(
        json.dumps(verdicts, indent=2, ensure_ascii=False), "utf-8"
    )
    page = render(
        paper,
        detect(next(iter(evidence.values()))[0]),
        judgements,
        pictures,
        tables,
        [_describe(study, runs[study.name]) for study in studies],
        environment(),
        f"pip install . && piste reproduce {paper.name}"
        + (" --quick" if quick else ""),
    )
    (folder / "report.html").write_text(page, "utf-8")
    count = sum(len(of) for of in runs.values())
    return Results(folder, judgements, tables, len(pictures), count)


def _write_tables(folder: Path, tables: dict[str, tuple[str, pd.DataFrame]]) -> None:
    folder.mkdir(exist_ok=True)
    for name, (caption, frame) in tables.items():
        frame.to_csv(folder / f"{name}.csv", index=False)
        rows = json.loads(str(frame.to_json(orient="records")))
        content = {"caption": caption, "rows": rows}
        text = json.dumps(content, indent=2, ensure_ascii=False)
        (folder / f"{name}.json").write_text(text, "utf-8")


def _describe(study: Study, runs: list[Run]) -> dict[str, Any]:
    first = runs[0]
    settings = fields_of(first.experiment)
    lines = (f"{name:<28}{value}" for name, value in settings.items() if name != "seed")
    return {
        "name": study.name,
        "meaning": study.meaning,
        "runs": len(runs),
        "rule": word_of(first.experiment.rule),
        "form": first.manifest.form,
        "precision": first.experiment.precision,
        "seconds": round(sum(run.manifest.seconds for run in runs), 1),
        "configuration": "\n".join(lines),
    }

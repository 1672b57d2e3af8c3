"""Fill the page: everything inside one file, so that it opens from disk offline."""

import base64
import math
from importlib.resources import files
from pathlib import Path
from typing import Any

import jinja2
import pandas as pd

from piste.claims import Timeline, margin_text
from piste.figures import Picture
from piste.papers import Paper
from piste.reproduction import Results, tally
from piste.store import environment, write_atomically


def write_page(paper: Paper, results: Results, command: str) -> Path:
    """Write the page of a reproduction; ``command`` is the call that made it."""
    path = results.folder / "report.html"
    write_atomically(path, render(paper, results, command).encode())
    return path


def render(paper: Paper, results: Results, command: str) -> str:
    """The page of one reproduction, as HTML."""
    template = jinja2.Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True)
    source = files("piste.report").joinpath("page.html.jinja").read_text("utf-8")
    evidence, tables = results.evidence, results.tables
    timeline = evidence.first_timeline(paper.main)
    return template.from_string(source).render(
        paper=paper,
        bar=_bar(timeline) if timeline else [],
        timeline=timeline,
        judgements=results.judgements,
        tally=tally(results.judgements),
        figures={name: _figure(p) for name, p in results.pictures.items()},
        tables={name: (about, _rows(frame)) for name, (about, frame) in tables.items()},
        studies=[study.describe(evidence) for study in results.studies],
        environment=environment(),
        command=command,
        # Studies that were there already, from other calls.
        earlier=[s.name for s in results.studies if s.name not in results.asked],
        notes=evidence.notes(),
        number=number,
        margin=margin_text,
    )


def number(given: Any) -> str:
    """A cell of a table: few digits, and a dash for what is missing."""
    if isinstance(given, float):
        if not math.isfinite(given):
            return "–" if math.isnan(given) else "∞"
        return (
            f"{given:,.0f}"
            if given == int(given) and abs(given) < 1e7
            else f"{given:.3g}"
        )
    return str(given)


def _figure(picture: Picture) -> dict[str, str]:
    data = base64.b64encode(picture.png()).decode()
    return {"source": f"data:image/png;base64,{data}", "caption": picture.caption}


def _rows(frame: pd.DataFrame) -> dict[str, Any]:
    rows = [[number(cell) for cell in row] for row in frame.itertuples(index=False)]
    return {"head": list(frame.columns), "rows": rows}


def _bar(timeline: Timeline) -> list[dict[str, Any]]:
    """Widths of the stages on a logarithmic scale, as shares of a hundred."""
    widths = [
        {"stage": stage, "width": math.log1p(stage.end) - math.log1p(stage.start)}
        for stage in timeline.stages
    ]
    total = sum(part["width"] for part in widths) or 1.0
    return [part | {"width": 100 * part["width"] / total} for part in widths]

"""Fill the page: everything inside one file, so that it opens from disk offline."""

import base64
import math
from collections.abc import Sequence
from importlib.resources import files
from typing import Any

import jinja2
import pandas as pd

from piste.claims import Judgement, Outcome, Timeline, margin_text
from piste.figures import Picture
from piste.papers import Paper


def render(
    paper: Paper,
    timelines: Sequence[Timeline],
    judgements: Sequence[Judgement],
    pictures: dict[str, Picture],
    tables: dict[str, tuple[str, pd.DataFrame]],
    studies: Sequence[dict[str, Any]],
    environment: dict[str, Any],
    command: str,
    earlier: Sequence[str] = (),
    notes: Sequence[str] = (),
) -> str:
    """The page of one reproduction.

    ``command`` is the call that made it; ``earlier`` names the studies that were there
    already, from other calls; ``notes`` is what stored results say of themselves.
    """
    template = jinja2.Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True)
    source = files("piste.report").joinpath("page.html.jinja").read_text("utf-8")
    return template.from_string(source).render(
        paper=paper,
        bar=_bar(timelines[0]) if timelines else [],
        timeline=timelines[0] if timelines else None,
        judgements=judgements,
        tally=tally(judgements),
        figures={name: _figure(picture) for name, picture in pictures.items()},
        tables={name: (about, _rows(frame)) for name, (about, frame) in tables.items()},
        studies=studies,
        environment=environment,
        command=command,
        earlier=earlier,
        notes=notes,
        number=number,
        margin=margin_text,
    )


def tally(judgements: Sequence[Judgement]) -> str:
    """The verdicts counted: ``9 hold · 1 in part``."""
    words = {
        Outcome.HOLDS: "hold",
        Outcome.VIOLATED: "violated",
        Outcome.UNMET: "conditions unmet",
        Outcome.INCONCLUSIVE: "inconclusive",
    }
    parts = sum(judgement.in_part for judgement in judgements)
    whole = [judgement.outcome for judgement in judgements if not judgement.in_part]
    counts = [(whole.count(outcome), word) for outcome, word in words.items()]
    counts.insert(1, (parts, "in part"))
    return " · ".join(f"{count} {word}" for count, word in counts if count)


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

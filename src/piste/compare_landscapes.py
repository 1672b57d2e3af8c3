"""Compare the landscapes of two kernels: run the survey, measure, draw, write."""

import json
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
import xarray as xr
from rich.text import Text

from piste.console import bold
from piste.figures import landscape as figures
from piste.landscape.matched import ENOUGH
from piste.landscape.survey import Bars, Survey, run, silent
from piste.landscape.tables import (
    comparable,
    kernels_of,
    metrics_table,
    mismatch_of,
    paired_table,
    surface_of,
)
from piste.store import environment, write_atomically
from piste.values import to_json

HELD = {
    "qk": "a random direction in the query matrices and one in the key matrices, "
    "filter-normalised",
    "random": "two random directions, filter-normalised",
    "pca": "the two principal axes of the second stage",
    "hessian": "the two directions of largest curvature",
}
"""What a plane is, in words."""


@dataclass(frozen=True)
class Compared:
    """What a comparison found, and where it is."""

    folder: Path
    parts: list[xr.Dataset]
    metrics: pd.DataFrame
    """A row for each surface."""
    paired: pd.DataFrame
    """A row for each metric, over the pairs at matched loss."""


def compare(survey: Survey, bars: Bars = silent, fresh: bool = False) -> Compared:
    """Run a survey, or read it, and write its tables and figures."""
    parts = run(survey, bars, fresh)
    paired = paired_table(metrics_table(comparable(parts)))
    found = Compared(survey.folder, parts, metrics_table(parts), paired)
    _write(survey, found)
    return found


def _write(survey: Survey, found: Compared) -> None:
    folder = found.folder
    for name, table in (("metrics", found.metrics), ("paired", found.paired)):
        write_atomically(folder / f"{name}.csv", table.to_csv(index=False).encode())
    about = {
        "experiment": to_json(survey.experiment),
        "settings": to_json(survey.settings),
        "environment": environment(),
        "surfaces": _rows(found.metrics),
        "paired": _rows(found.paired),
    }
    text = json.dumps(about, indent=2, ensure_ascii=False)
    write_atomically(folder / "landscape.json", text.encode())
    for part in found.parts:
        if part.attrs["direction"] == 0:
            _draw(survey, part)


def _rows(table: pd.DataFrame) -> list[dict]:
    """Plain data; a number that is none becomes null."""
    return json.loads(str(table.to_json(orient="records")))


def _draw(survey: Survey, part: xr.Dataset) -> None:
    """Both pictures of one model's first plane."""
    model = part.attrs["model"]
    caption = (
        f"Loss on fixed training data, along {HELD[survey.settings.plane]}; model of seed "
        f"{model}, both kernels continued from the same weights, losses at the centres "
        f"matched to {100 * mismatch_of(part):.2g} %. {figures.describe(part)}"
    )
    for name, draw in (("contours", figures.contours), ("surfaces", figures.surfaces)):
        picture = draw(part, caption)
        picture.save(survey.folder / "figures", f"{name}-seed={model}")
        words = survey.folder / "figures" / f"{name}-seed={model}.txt"
        words.write_text(caption + "\n", "utf-8")


def lines(found: Compared) -> list[str | Text]:
    """What to print before the table: notes, shares, losses and how well they match."""
    said: list[str | Text] = [
        Text(f"note: {note}") for note in found.parts[0].attrs["notes"]
    ]
    for part in found.parts:
        one, other = (surface_of(part, kernel).centre for kernel in kernels_of(part))
        label = f"model {part.attrs['model']}, plane {part.attrs['direction']}"
        losses = f"  centre losses {one:.4g} and {other:.4g}: "
        said.append(bold(label, losses, f"matched to {100 * mismatch_of(part):.2g} %"))
        said += [f"  {words}" for words in figures.describe(part).split(". ")]
    kept = len(comparable(found.parts))
    if kept < len(found.parts):
        said.append(
            f"{kept} of {len(found.parts)} pairs match to {ENOUGH:.0%}, and are compared"
        )
    return said

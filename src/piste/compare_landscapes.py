"""Compare the landscapes of two kernels: run the survey, measure, draw, write."""

import json
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
import xarray as xr

from piste.figures import landscape as figures
from piste.landscape.survey import Bars, Survey, run, silent
from piste.landscape.tables import metrics_table, paired_table, surface_of
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
class Comparison:
    """What a comparison found, and where it is."""

    folder: Path
    kernels: tuple[str, str]
    parts: list[xr.Dataset]
    metrics: pd.DataFrame
    """A row for each surface."""
    paired: pd.DataFrame
    """A row for each metric."""


def compare(survey: Survey, bars: Bars = silent, fresh: bool = False) -> Comparison:
    """Run a survey, or read it, and write its tables and figures."""
    parts = run(survey, bars, fresh)
    table = metrics_table(parts, survey.kernels)
    paired = paired_table(table, survey.kernels)
    found = Comparison(survey.folder, survey.kernels, parts, table, paired)
    _write(survey, found)
    return found


def _write(survey: Survey, found: Comparison) -> None:
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
    said = figures.describe(part, survey.kernels)
    caption = (
        f"Training loss on {HELD[survey.settings.plane]}; model of seed {model}, both "
        f"kernels continued from the same weights and centred at matched loss. {said}"
    )
    for name, draw in (("contours", figures.contours), ("surfaces", figures.surfaces)):
        picture = draw(part, survey.kernels, caption)
        picture.save(survey.folder / "figures", f"{name}-seed={model}")
        words = survey.folder / "figures" / f"{name}-seed={model}.txt"
        words.write_text(caption + "\n")


def lines(found: Comparison) -> list[str]:
    """What to print before the table: shares, losses and how well they match."""
    said = []
    for part in found.parts:
        one, other = (surface_of(part, place).centre for place in (0, 1))
        label = f"model {part.attrs['model']}, plane {part.attrs['direction']}"
        said.append(
            f"[bold]{label}[/bold]  centre losses {one:.4g} and {other:.4g}: "
            f"matched to {100 * _relative(one, other):.2g} %"
        )
        for place, kernel in enumerate(found.kernels):
            words = figures.describe(part.isel(kernel=[place]), [kernel])
            said.append(f"  {words}")
    return said


def _relative(one: float, other: float) -> float:
    largest = max(abs(one), abs(other))
    return abs(one - other) / largest if largest > 0 else 0.0

"""Compare the landscapes of kernels: run the survey, measure, draw, write."""

from dataclasses import dataclass
from pathlib import Path

import pandas as pd
import xarray as xr
from rich.text import Text

from piste.console import bold
from piste.figures import Picture
from piste.figures import landscape as figures
from piste.landscape.effects import effects_table
from piste.landscape.matched import MAX_LOSS_MISMATCH
from piste.landscape.survey import Bars, Survey, no_bars, run
from piste.landscape.tables import (
    HEADLINE,
    centre_losses,
    comparable,
    metrics_table,
    mismatch_of,
)
from piste.store import environment
from piste.values import to_json

from .writing import rows_of, write_captions, write_csv, write_json, write_pictures

PLANE_DESCRIPTIONS = {
    "qk": "a random direction in the query matrices and one in the key matrices, "
    "filter-normalised",
    "random": "two random directions, filter-normalised",
    "pca": "the two principal axes of the second stage",
    "hessian": "the two directions of largest curvature",
}
"""What a plane is, in words."""


@dataclass(frozen=True)
class ComparisonResult:
    """What a comparison found, and where it is."""

    folder: Path
    parts: list[xr.Dataset]
    metrics: pd.DataFrame
    """A row for each surface."""
    effects: pd.DataFrame
    """A row for each difference between kernels and metric, at matched loss."""


def compare(
    survey: Survey, bars: Bars = no_bars, fresh: bool = False
) -> ComparisonResult:
    """Run a survey, or read it, and write its tables and figures."""
    parts = run(survey, bars, fresh)
    effects = effects_table(metrics_table(comparable(parts)))
    found = ComparisonResult(survey.folder, parts, metrics_table(parts), effects)
    _write(survey, found)
    return found


def _write(survey: Survey, found: ComparisonResult) -> None:
    folder = found.folder
    write_csv(folder / "metrics.csv", found.metrics)
    write_csv(folder / "effects.csv", found.effects)
    about = {
        "experiment": to_json(survey.experiment),
        "settings": to_json(survey.settings),
        "environment": environment(),
        "surfaces": rows_of(found.metrics),
        "effects": rows_of(found.effects),
    }
    write_json(folder / "landscape.json", about)
    for part in found.parts:
        if part.attrs["direction"] == 0:
            pictures = _pictures(survey, part)
            write_pictures(folder / "figures", pictures)
            write_captions(folder / "figures", pictures)


def _pictures(survey: Survey, part: xr.Dataset) -> dict[str, Picture]:
    """Draw both pictures of one model's first plane."""
    model = part.attrs["model"]
    plane = PLANE_DESCRIPTIONS[survey.settings.plane]
    caption = (
        f"Loss on fixed training data, along {plane}; model of seed {model}, every kernel "
        "continued from the same weights, losses at the centres matched to "
        f"{100 * mismatch_of(part):.2g} %. {figures.describe(part)}"
    )
    return {
        f"contours-seed={model}": figures.contours(part, caption),
        f"surfaces-seed={model}": figures.surfaces(part, caption),
    }


def lines(found: ComparisonResult) -> list[str | Text]:
    """What to print before the table: notes, shares, losses and how well they match."""
    said: list[str | Text] = [
        Text(f"note: {note}") for note in found.parts[0].attrs["notes"]
    ]
    for part in found.parts:
        centres = " and ".join(f"{loss:.4g}" for loss in centre_losses(part))
        label = f"model {part.attrs['model']}, plane {part.attrs['direction']}"
        losses = f"  centre losses {centres}: "
        said.append(bold(label, losses, f"matched to {100 * mismatch_of(part):.2g} %"))
        said += [f"  {line}" for line in figures.kernel_lines(part)]
    kept = len(comparable(found.parts))
    if kept < len(found.parts):
        said.append(
            f"{kept} of {len(found.parts)} planes match to {MAX_LOSS_MISMATCH:.0%}, and "
            "are compared"
        )
    return said


SHOWN = {
    "weights": "weights",
    "window": "window",
    "metric": "metric",
    "kernel": "kernel",
    "kernel median": "median",
    "reference": "against",
    "reference median": "median ",
    "lower in models": "lower in models",
    "p (two-sided sign test)": "p (two-sided)",
}
"""The columns of the effects that are printed, and their heads."""


def effects_to_print(found: ComparisonResult) -> pd.DataFrame:
    """Shorten the table of effects to what fits a terminal: the headline numbers."""
    if found.effects.empty:
        return found.effects
    headline = found.effects.metric.isin(list(HEADLINE.values()))
    rows = found.effects.loc[headline, list(SHOWN)]
    cells = rows.map(lambda x: f"{x:.3g}" if isinstance(x, float) else x)
    return cells.rename(columns=SHOWN)

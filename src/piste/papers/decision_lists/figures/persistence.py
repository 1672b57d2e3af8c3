"""Figure of flows that lose perfection again, and of how often that happens."""

import dataclasses

import numpy as np
import pandas as pd
import xarray as xr
from matplotlib.axes import Axes

from piste.claims import CONFIDENCE_PERCENT
from piste.figures import BLACK, Picture, canvas, styled
from piste.reproduction import Evidence, Figure

from ..results._cells import DISTRIBUTION_NAMES, by_distribution, cells, size_text
from ..results.theorem_1.persistence import (
    CHOSEN,
    LARGE,
    STUDY,
    FamilyLosses,
    families,
    has_lost,
)
from ..thresholds import FIRST_MULTIPLE
from ._colours import COLOURS


def _persistence(evidence: Evidence) -> Picture:
    drawn, chosen = _paths(evidence, STUDY, LARGE), _paths(evidence, CHOSEN)
    measured = list(families(evidence, STUDY, LARGE))
    first = next(families(evidence, STUDY))
    caption = _caption(len(drawn), len(chosen), first)
    return draw_persistence([*drawn, *chosen], measured, caption)


def _paths(evidence: Evidence, *studies: str) -> list[pd.DataFrame]:
    """The margins of the instances that lose perfection, each as a table."""
    return [
        _path(DISTRIBUTION_NAMES[distribution], data, int(cell), study == CHOSEN)
        for study in studies
        if study in evidence
        for distribution, data in by_distribution(evidence.dataset(study)).items()
        for cell in np.flatnonzero(has_lost(data))
    ]


def _path(name: str, data: xr.Dataset, cell: int, chosen: bool) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "sequences": name,
            "instance": size_text(cells(data)[cell]),
            "cell": cell,
            "t/t*": np.asarray(data.multiple),
            "margin": np.asarray(data.path[cell]),
            "chosen": chosen,
        }
    )


def _caption(lost: int, chosen: int, family: FamilyLosses) -> str:
    losing = (
        f"{lost} instances that lose perfection" if lost else "instances that lose it"
    )
    if chosen:
        losing += " and of one that was chosen because it does (dashed)"
    return (
        f"Flows of Theorem 1 followed to {family.horizon:g} t*. Left: the smallest lead "
        f"of a label, perfect where positive, of the {losing}; drawn from "
        f"{FIRST_MULTIPLE:g} t* on. Right: how many of each family lose it, with "
        f"{CONFIDENCE_PERCENT} intervals. A loss shorter than {family.resolution:.2%} "
        "of the time could be missed."
    )


@styled
def draw_persistence(
    paths: list[pd.DataFrame], measured: list[FamilyLosses], caption: str
) -> Picture:
    """Margins of flows that lose perfection, and how often it happens, by family."""
    figure, axes = canvas(1, 2, 2.9, width_ratios=(5, 4))
    left, right = axes[0]
    # Names repeat where a distribution has small and large instances: the last counts.
    colours = dict(zip([f.name for f in measured], map(str, COLOURS), strict=False))
    for path in paths:
        _draw_path(left, path, colours.get(str(path["sequences"].iloc[0]), BLACK))
    if not paths:
        note = "no flow lost it"
        left.text(0.5, 0.6, note, transform=left.transAxes, ha="center")
    left.axhline(0, color=BLACK, lw=0.6)
    left.set(xscale="log", xlabel="time $t/t^*$", ylabel=r"smallest lead $\cdot\ c/n$")
    left.set_yscale("symlog", linthresh=1)
    _draw_intervals(right, measured, colours)
    shares = pd.DataFrame([dataclasses.asdict(family) for family in measured])
    return Picture(figure, pd.concat(paths) if paths else shares, caption)


def _draw_path(panel: Axes, path: pd.DataFrame, colour: str) -> None:
    time, margin = path["t/t*"], path["margin"]
    if not path["chosen"].iloc[0]:
        panel.plot(time, margin, color=colour, lw=0.9, alpha=0.8)
        return
    panel.plot(time, margin, color=BLACK, lw=1.6, ls="--")
    note = f"{path['instance'].iloc[0]}, chosen"
    end = (time.iloc[-1], margin.iloc[-1])
    panel.annotate(note, end, fontsize=7, ha="right", va="bottom")


def _draw_intervals(
    panel: Axes, measured: list[FamilyLosses], colours: dict[str, str]
) -> None:
    """The share of each family that loses perfection, with its interval."""
    for row, family in enumerate(measured):
        share = 100 * family.lost / max(family.followed, 1)
        ends = [[share - 100 * family.low], [100 * family.high - share]]
        look = {"color": colours[family.name], "capsize": 2.5, "ms": 4}
        panel.errorbar(share, -row, xerr=ends, fmt="o", lw=1, **look)
        note = f"{family.name}: {family.lost} of {family.followed} ({family.sizes})"
        panel.text(0.0, -row + 0.22, note, fontsize=6.5, va="bottom")
    panel.set(
        xlabel="instances that lose perfection (%)", yticks=[], xlim=(-0.05, None)
    )
    panel.set_ylim(-len(measured) + 0.4, 0.8)
    panel.spines["left"].set_visible(False)


FIGURES = (Figure("persistence", _persistence, (STUDY,)),)

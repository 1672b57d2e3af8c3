"""The figure of what becomes of the stages beyond the paper, seed by seed."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from piste.claims import Boundary, Status
from piste.figures import BLUE, ORANGE, Picture, canvas, styled

GREY = "#999999"
MARKS: dict[Status, tuple[str, str, str]] = {
    Status.FOUND: ("o", BLUE, "found"),
    Status.OUT_OF_ORDER: ("o", "none", "met, but out of order"),
    Status.LOST: ("D", ORANGE, "reached, then lost"),
    Status.NOT_REACHED: ("x", ORANGE, "not reached"),
    Status.NEEDS_EARLIER: ("_", GREY, "needs one before it"),
    Status.TOO_SHORT: (">", GREY, "too short to tell"),
    Status.TOO_COARSE: ("<", GREY, "too coarse to tell"),
    Status.DOES_NOT_APPLY: (".", GREY, "does not apply"),
    Status.NOT_MEASURED: ("*", GREY, "not measured"),
}
"""How a seed is drawn: marker, face colour and meaning."""
CAPTION = (
    "What becomes of each boundary in every seed of each variant (a mark for each seed), "
    "with the median step of those that meet its condition for good."
)


@styled
def persistence(variants: dict[str, dict[str, list[Boundary]]]) -> Picture:
    """What becomes of each boundary in every seed of every variant, and when."""
    boundaries = list(next(iter(variants.values())))
    figure, axes = canvas(1, 1, 1.1 + 0.42 * len(variants))
    panel, rows = axes[0, 0], []
    for height, (title, by_name) in enumerate(reversed(variants.items())):
        for column, name in enumerate(boundaries):
            _draw_seeds(panel, column, height, by_name[name])
            rows += [
                {"variant": title, "boundary": name, "seed": seed, "met": b.met}
                | {"status": str(b.status), "evidence": b.evidence}
                for seed, b in enumerate(by_name[name])
            ]
    panel.set_yticks(range(len(variants)), list(reversed(variants)))
    panel.set_xticks(range(len(boundaries)), boundaries)
    panel.set(xlim=(-0.5, len(boundaries) - 0.3), ylim=(-0.6, len(variants) - 0.4))
    panel.tick_params(length=0)
    panel.xaxis.tick_top()
    for edge in panel.spines.values():
        edge.set_visible(False)
    _draw_key(panel, {str(row["status"]) for row in rows})
    return Picture(figure, pd.DataFrame(rows), CAPTION)


def _draw_seeds(panel: Axes, column: int, height: int, seeds: list[Boundary]) -> None:
    """A mark for each seed side by side, and the median step where it was met."""
    for seed, boundary in enumerate(seeds):
        marker, face, _ = MARKS[boundary.status]
        look = {"s": 26, "marker": marker, "lw": 1, "c": face}
        # Marks without a face have no edge either.
        if marker not in "x_":
            look["edgecolors"] = _edge_colour(face)
        panel.scatter(_x(column, seed), height, **look)
    met = [b.met for b in seeds if b.met is not None]
    if met:
        median = f"{np.median(met):.0f}"
        panel.text(_x(column, len(seeds)), height, median, va="center", fontsize=8)


def _x(column: int, seed: int) -> float:
    """Where a seed of a boundary is drawn."""
    return column - 0.2 + 0.13 * seed


def _edge_colour(face: str) -> str:
    return BLUE if face == "none" else face


def _draw_key(panel: Axes, seen: set[str]) -> None:
    """Explain the marks that occur, below the panel."""
    marks = [mark for status, mark in MARKS.items() if str(status) in seen]
    for marker, face, meaning in marks:
        look = {"marker": marker, "ls": "", "ms": 5, "label": meaning}
        edge = _edge_colour(face)
        panel.plot([], [], markerfacecolor=face, markeredgecolor=edge, **look)
    panel.legend(loc="upper center", bbox_to_anchor=(0.45, 0.02), ncols=5, fontsize=7.5)

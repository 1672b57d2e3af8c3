"""Examples of Pathfinder images."""

from collections.abc import Mapping

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine

from piste.datasets.pathfinder import (
    Drawing,
    PathfinderImages,
    generate,
    generate_balanced,
)

from .style import BLUE, ORANGE, Picture, canvas, styled

_LABELS = {1: ("joined", BLUE), 0: ("not joined", ORANGE)}


@styled
def pathfinder(
    kinds: Mapping[str, PathfinderImages], caption: str, *, seed: int = 0, each: int = 4
) -> Picture:
    """A row for each kind of images, by its name: ``each`` of them with either label.

    Rings show where the markers are; they are not part of the images.
    """
    figure, axes = canvas(len(kinds), 2 * each, 0.3 + 6.5 * len(kinds) / (2 * each))
    _leave_room(figure)
    rows = []
    for panels, (name, settings) in zip(axes, kinds.items(), strict=True):
        drawing, chosen = _examples(settings, seed, each)
        for panel, place in zip(panels, chosen, strict=True):
            _show(panel, drawing, place, settings.canvas)
            rows.append(_row(name, drawing, place))
        panels[0].set_ylabel(name, fontsize=8.5)
    for half, label in enumerate((1, 0)):
        _head(axes[0, half * each : (half + 1) * each], label)
    return Picture(figure, pd.DataFrame(rows), caption)


def _leave_room(figure: Figure) -> None:
    """For the two headings above the panels."""
    engine = figure.get_layout_engine()
    assert isinstance(engine, ConstrainedLayoutEngine)
    engine.set(rect=(0, 0, 1, 0.93), h_pad=0.02, w_pad=0.02)


def _examples(settings: PathfinderImages, seed: int, each: int):
    """The first images of a seed with either label, joined ones first."""
    draw, count = generate_balanced if settings.balanced else generate, 8 * each
    while True:
        drawing = draw(settings, count, seed=seed)
        found = [np.flatnonzero(drawing.labels == label)[:each] for label in (1, 0)]
        if all(len(part) == each for part in found):
            return drawing, np.concatenate(found)
        count *= 2


def _show(panel: Axes, drawing: Drawing, place: int, side: int) -> None:
    panel.imshow(drawing.images[place], cmap="gray", vmin=0, vmax=255)
    _, colour = _LABELS[int(drawing.labels[place])]
    rows, columns = drawing.markers[place].T
    ring = {"facecolors": "none", "edgecolors": colour, "linewidths": 1.1}
    panel.scatter(columns, rows, s=90, **ring)
    panel.set(xticks=[], yticks=[], xlim=(-0.5, side - 0.5), ylim=(side - 0.5, -0.5))
    for edge in panel.spines.values():
        edge.set_visible(False)


def _head(panels: np.ndarray, label: int) -> None:
    words, colour = _LABELS[label]
    place = {"x": 0, "y": 1.06, "transform": panels[0].transAxes, "color": colour}
    text = panels[0].text(s=f"label {label}: markers {words}", va="bottom", **place)
    # it reaches over several panels, which must not move apart for it
    text.set_in_layout(False)


def _row(name: str, drawing: Drawing, place: int) -> dict:
    (top, left), (row, column) = drawing.markers[place].tolist()
    known = {
        "kind": name.replace("\n", ", "),
        "label": int(drawing.labels[place]),
        "origin row": top,
        "origin column": left,
        "terminal row": row,
        "terminal column": column,
        "distractors": int(drawing.placed[place]),
    }
    pixels = drawing.images[place].ravel().tolist()
    return known | {f"pixel {number}": level for number, level in enumerate(pixels)}

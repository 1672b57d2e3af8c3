"""Figure of the descents of Theorem 2: margins and curvature along every path."""

import numpy as np
import xarray as xr
from matplotlib.axes import Axes

from piste.figures import BLACK, Picture, canvas, styled
from piste.reproduction import Evidence, Figure

from ..results._cells import cells, size_text
from ..results.theorem_2.descents import STUDY
from ._colours import COLOURS

_DASHES = ("-", "--", "-.", ":")
_CAPTION = (
    "Theorem 2: gradient descent on W and V with η = 1/max λ_max of the path. Left: "
    "the smallest margin of a label over the sequences of positive probability; a dot "
    "is the first step at which all of these are right, a circle the first at which "
    "all sets of distinct tokens are. Right: the growth of the largest curvature."
)


def _descents(evidence: Evidence) -> Picture:
    data = evidence.dataset(STUDY)
    names = [f"{size_text(cell)}, {int(cell.possible_sets)}" for cell in cells(data)]
    return draw_descents(data, names, _CAPTION)


@styled
def draw_descents(data: xr.Dataset, names: list[str], caption: str) -> Picture:
    """The smallest margin and the curvature along every descent."""
    figure, axes = canvas(1, 2, 2.8)
    left, right = axes[0]
    for i, name in enumerate(names):
        margin, curvature = data.margin.values[i], data.curvature.values[i]
        if not np.isfinite(margin[0]):
            continue
        colour = COLOURS[i % len(COLOURS)]
        look = {"color": colour, "ls": _DASHES[i % len(_DASHES)], "lw": 1.2}
        path = margin / max(abs(margin[0]), 1e-300)
        left.plot(path, label=name, **look)
        right.plot(curvature / curvature[0], **look)
        _mark(left, data.perfect_step.values[i], path, colour, colour)
        _mark(left, data.all_sets_step.values[i], path, colour, "white")
    left.axhline(0, color=BLACK, lw=0.6)
    left.set(xlabel="step $t$", ylabel="smallest margin (start: $-1$)")
    left.set_yscale("symlog", linthresh=1)
    right.set(xlabel="step $t$", ylabel=r"$\lambda_{\max}(t)/\lambda_{\max}(0)$")
    figure.legend(loc="outside right center", fontsize=7, title="$(L, n, m)$, sets")
    frame = data[["margin", "curvature"]].to_dataframe().reset_index()
    return Picture(figure, frame, caption)


def _mark(panel: Axes, step: float, path: np.ndarray, colour: str, face: str) -> None:
    """A dot (filled with the colour) or a circle at a step, if there is one."""
    if np.isfinite(step):
        filled = face == colour
        look = {"ms": 3.5 if filled else 5, "mec": colour, "mfc": face, "mew": 0.9}
        panel.plot(step, path[int(step)], "o", zorder=3 if filled else 2, **look)


FIGURES = (Figure("descents", _descents, (STUDY,)),)

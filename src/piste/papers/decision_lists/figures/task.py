"""Figure of the task: a sequence, the lists of its tokens, and their labels."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from piste.figures import BLACK, Picture, canvas, styled
from piste.reproduction import Evidence, Figure

from .. import presets
from ..results._runs import instance_of

ABSENT = "#bbbbbb"
"""The colour of tokens that do not occur in the sequence."""


def _task(evidence: Evidence) -> Picture:
    """Draw the first sequence, in lexicographic order, in which lists decide most."""
    instance = instance_of(presets.empirics())
    tokens, _ = instance.sequences.rows()
    deciders = np.asarray(instance.deciders(tokens))
    own = (deciders == tokens).sum(1)
    index = int(np.flatnonzero(own == own.min())[0])
    sequence = tokens[index]
    lists = [instance.lists[a, : instance.list_lengths[a]].tolist() for a in sequence]
    labels = np.asarray(instance.labels(tokens))[index]
    sizes = (instance.vocabulary, instance.length, instance.list_bound)
    return draw_sequence(sequence, lists, deciders[index], labels, _caption(sizes))


def _caption(sizes: tuple[int, int, int]) -> str:
    return (
        "The task: every token of a sequence has a list; the first of it that occurs in "
        "the sequence (shaded) determines the label through the permutation π. Tokens "
        f"that do not occur are grey. (L, n, M) = {sizes}."
    )


@styled
def draw_sequence(
    tokens: np.ndarray,
    lists: list[list[int]],
    deciders: np.ndarray,
    labels: np.ndarray,
    caption: str,
) -> Picture:
    """A sequence, the list of each of its tokens, and the label that it gives."""
    figure, axes = canvas(1, 1, 0.55 + 0.42 * len(tokens))
    panel, longest = axes[0, 0], max(map(len, lists))
    for row, (a, listed) in enumerate(zip(tokens, lists, strict=True)):
        y = len(tokens) - 1 - row
        _box(panel, 0, y, str(a), "#e6eef5")
        panel.text(1.35, y, rf"$L_{{{a}}}$:", va="center", ha="right")
        for k, b in enumerate(listed):
            decides = bool(b == deciders[row])
            face = "#f6d7c3" if decides else "white"
            _box(panel, 2 + k, y, str(b), face, bold=decides, absent=b not in tokens)
        label = rf"$\to\ \pi({deciders[row]}) = {labels[row]}$"
        panel.text(2 + longest - 0.2, y, label, va="center")
    top = len(tokens) - 0.25
    heads = {0: "sequence $s$", 2 + (longest - 1) / 2: "its list, first to last"}
    for x, head in (heads | {2 + longest + 0.6: "label"}).items():
        panel.text(x, top, head, ha="center", va="bottom", color="#666666")
    panel.set(xlim=(-1, 4.5 + longest), ylim=(-0.6, len(tokens) + 0.35))
    panel.axis("off")
    rows = zip(tokens, lists, deciders, labels, strict=True)
    names = ("token", "list", "label-determining token", "label")
    return Picture(figure, pd.DataFrame(list(rows), columns=names), caption)


def _box(
    panel: Axes,
    x: float,
    y: float,
    token: str,
    face: str = "white",
    bold: bool = False,
    absent: bool = False,
) -> None:
    colour, weight = ABSENT if absent else BLACK, "bold" if bold else "normal"
    box = Rectangle((x - 0.36, y - 0.36), 0.72, 0.72, fc=face, ec=colour, lw=0.8)
    panel.add_patch(box)
    panel.text(x, y, token, ha="center", va="center", color=colour, weight=weight)


FIGURES = (Figure("task", _task),)

"""Figure of V: alone under uniform attention, and trained together with W."""

import numpy as np
import xarray as xr

from piste.experiment import Experiment
from piste.figures import BLUE, GREEN, ORANGE, Picture, canvas, styled
from piste.reproduction import Evidence, Figure

from .. import presets
from ..results._runs import distribution_text, experiment_of, experiment_size_text
from ..results.value_alone import STUDY
from ._bands import draw_band, mark_powers_of_ten

JOINT = "empirics"
"""The study of runs in which V is trained with W."""


def _values(evidence: Evidence) -> Picture:
    sweep, run = evidence.dataset(STUDY), evidence.runs(JOINT)[0]
    caption = _caption(sweep.sizes["cell"], experiment_of(run))
    return draw_values(sweep, run, caption)


def _caption(seeds: int, joint: Experiment) -> str:
    return (
        "V alone under uniform attention, "
        f"{experiment_size_text(presets.value_alone())}, "
        f"{seeds} seeds (median and range): cosine of V with P, and the "
        "share of labels that are right. Right: V after training together with W by "
        f"{type(joint.rule).__name__}, {distribution_text(joint)}, tokens sorted by their "
        "largest label."
    )


@styled
def draw_values(sweep: xr.Dataset, run: xr.Dataset, caption: str) -> Picture:
    """V alone under uniform attention: cosine with P and accuracy; V trained with W."""
    figure, axes = canvas(1, 3, 2.4)
    left, middle, right = axes[0]
    draw_band(left, sweep.value_cosine_centred, BLUE, r"$\cos(\bar V, \bar P)$")
    draw_band(left, sweep.value_cosine, ORANGE, r"$\cos(V, P)$")
    left.set(ylim=(-0.1, 1.02), ylabel="cosine", title="$V$ alone, $W = 0$")
    left.legend(loc="lower right")
    draw_band(middle, sweep.accuracy, GREEN)
    middle.set(ylim=(0, 1.02), ylabel="share right", title="$V$ alone, $W = 0$")
    for panel in (left, middle):
        panel.set(xlabel="step $t$", xscale="symlog", xlim=(0, None))
        mark_powers_of_ten(panel, 1, 10, 100, 1000)
    matrix = run.value_matrix.values[-1]
    order = np.argsort(matrix.argmax(0))
    reach = np.abs(matrix).max()
    right.imshow(matrix[:, order], cmap="PuOr", vmin=-reach, vmax=reach)
    right.set(xlabel=r"token $\pi^{-1}(1), …$", ylabel="label", xticks=[], yticks=[])
    right.set_title("$V$ trained with $W$")
    frame = sweep.to_dataframe().reset_index()
    return Picture(figure, frame, caption)


FIGURES = (Figure("values", _values, (STUDY, JOINT)),)

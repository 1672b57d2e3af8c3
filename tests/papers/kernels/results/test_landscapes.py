"""Which surface is the smoother, and by what: sign tests over models at matched loss."""

import numpy as np
import pytest

from piste.claims import Outcome, judge
from piste.errors import InputError
from piste.figures.landscape import by_kernel
from piste.landscape import HEADLINE, comparable, effects_table, metrics_table
from piste.landscape.tables import mismatch_of
from piste.papers.kernels.results import landscapes
from support.evidence import evidence_of
from support.kernel_evidence import ROUGH, SMOOTH, heights, surfaces

BY_KERNEL = heights(0.1, 0.0, 0.0)
"""All of the difference is between softmax and normalised Gaussian weights."""
BY_NORMALISATION = heights(0.1, 0.1, 0.0)


def outcomes(kinds, study="landscape-text"):
    """The outcome of every verdict, by claim: both differences, kernel, normalisation."""
    parts = [surfaces(kind, model) for model, kind in enumerate(kinds)]
    found = judge(landscapes.CLAIMS, evidence_of({study: parts}))
    return [[verdict.outcome for verdict in claim.verdicts] for claim in found]


@pytest.mark.parametrize(
    ("rough", "smooth", "outcome"),
    [
        (10, 0, Outcome.HOLDS),
        (9, 1, Outcome.HOLDS),
        (8, 2, Outcome.INCONCLUSIVE),
        (5, 5, Outcome.INCONCLUSIVE),
        (1, 9, Outcome.VIOLATED),
        (5, 0, Outcome.INCONCLUSIVE),
    ],
)
def test_smoother_is_what_a_sign_test_over_models_tells(rough, smooth, outcome):
    kinds = [ROUGH] * rough + [SMOOTH] * smooth
    assert outcomes(kinds) == [[outcome] * 2 * len(HEADLINE)] * 3


@pytest.mark.parametrize("kind", [BY_KERNEL, BY_NORMALISATION])
def test_the_kernel_is_told_from_its_normalisation(kind):
    both, kernel, normalisation = outcomes([kind] * 8)
    assert set(both) == {Outcome.HOLDS}
    expected = Outcome.HOLDS, Outcome.INCONCLUSIVE
    found = kernel[0], normalisation[0]
    assert found == (expected if kind is BY_KERNEL else expected[::-1])


def test_the_parts_add_up():
    table = metrics_table([surfaces(ROUGH, model) for model in range(3)])
    effects = effects_table(table)
    chosen = effects[(effects.window == "all") & (effects.weights == "trained")]
    for metric in HEADLINE.values():
        change = chosen[chosen.metric == metric].set_index("effect")
        change = change["median difference"]
        assert change["kernel"] + change["normalisation"] == pytest.approx(
            change["both"]
        )
        assert change["both"] < 0 and change["number of keys"] == 0


def test_surfaces_of_different_loss_are_not_compared_after_training():
    near, far = surfaces(ROUGH, 0, centre=0.28), surfaces(SMOOTH, 1, centre=0.2)
    assert mismatch_of(near) == pytest.approx(0.02 / 0.3)
    assert comparable([near, far]) == [near]
    table = landscapes.measured_surfaces(
        evidence_of({"landscape-text": [near, far]}), "landscape-text"
    )
    # Swapped kernels in the same weights have the losses that they have.
    models = {weights: set(rows.model) for weights, rows in table.groupby("weights")}
    assert models == {"trained": {0}, "swapped": {0, 1}}
    assert len(effects_table(metrics_table([]))) == 0


def test_a_rise_that_is_never_reached_is_left_out_and_said():
    parts = [surfaces(ROUGH, model) for model in range(8)]
    for part in parts[:2]:
        part.loss[1, :, 1], part.reach[1, :, 1] = np.nan, np.nan
    effects = effects_table(metrics_table(parts))
    row = effects[(effects.effect == "both") & (effects.window == "rise 0.1")].iloc[0]
    assert row["without a number"] == 2 and row["lower in models"] == "6 of 8"
    for part in parts:
        part.loss[1], part.reach[1] = np.nan, np.nan
        part.loss[1, :, 0, 10, 10] = 0.3
    (both, *_) = judge(landscapes.CLAIMS, evidence_of({"landscape-text": parts}))
    for verdict in both.verdicts:
        assert verdict.outcome == Outcome.INCONCLUSIVE
        assert "8 without a number" in verdict.measured


def test_surfaces_of_two_comparisons_are_not_pooled():
    parts = [surfaces(ROUGH, 0), surfaces(SMOOTH, 0)]
    with pytest.raises(InputError, match="surfaces: model 0 has two of softmax on one"):
        judge(landscapes.CLAIMS, evidence_of({"landscape-images": parts}))


def test_the_picture_has_a_panel_for_each_window_and_number():
    parts = [surfaces(ROUGH, model) for model in range(3)]
    parts[0].loss[0, :, 1], parts[0].reach[0, :, 1] = np.nan, np.nan
    picture = by_kernel(metrics_table(parts), HEADLINE, "caption", "trained")
    assert len(picture.figure.axes) == 2 * len(HEADLINE)
    assert len(picture.data) == 2 * len(HEADLINE) * 3
    words = [text.get_text() for axes in picture.figure.axes for text in axes.texts]
    assert words == ["1 of 3 models incomplete"] * len(HEADLINE)

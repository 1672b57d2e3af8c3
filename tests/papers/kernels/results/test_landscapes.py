"""Which surface is the smoother: a sign test over models at matched loss."""

import numpy as np
import pytest

from piste.claims import Outcome, judge
from piste.errors import InputError
from piste.figures.landscape import pairs
from piste.landscape import HEADLINE, comparable, metrics_table, paired_table
from piste.landscape.tables import mismatch_of
from piste.papers.kernels.results import landscapes
from support.evidence import evidence_of
from support.kernel_evidence import ROUGH, SMOOTH, surfaces


@pytest.mark.parametrize(
    ("rough", "smooth", "outcome"),
    [
        (10, 0, Outcome.HOLDS),
        (9, 1, Outcome.HOLDS),
        (8, 2, Outcome.INCONCLUSIVE),
        (5, 5, Outcome.INCONCLUSIVE),
        (1, 9, Outcome.VIOLATED),
    ],
)
def test_smoother_is_what_a_sign_test_over_models_tells(rough, smooth, outcome):
    kinds = [ROUGH] * rough + [SMOOTH] * smooth
    parts = [surfaces(kind, model) for model, kind in enumerate(kinds)]
    (found,) = judge(landscapes.CLAIMS, evidence_of({"landscape-text": parts}))
    assert [verdict.outcome for verdict in found.verdicts] == [outcome] * 2
    for verdict in found.verdicts:
        assert verdict.numbers["lower"] == rough and verdict.numbers["higher"] == smooth
        assert f"lower in {rough}" in verdict.measured


def test_surfaces_of_different_loss_are_not_compared():
    near = surfaces(ROUGH, 0, centre=(0.3, 0.28))
    far = surfaces(SMOOTH, 1, centre=(0.3, 0.2))
    assert mismatch_of(near) == pytest.approx(0.02 / 0.3)
    assert comparable([near, far]) == [near]
    table = paired_table(metrics_table([near]))
    assert table["lower in models"].iloc[0] == "1 of 1"
    assert len(paired_table(metrics_table([]))) == 0


def test_too_few_models_are_not_judged():
    parts = [surfaces(ROUGH, model) for model in range(5)]
    parts += [surfaces(ROUGH, 5, centre=(0.3, 0.2))]
    (found,) = judge(landscapes.CLAIMS, evidence_of({"landscape-images": parts}))
    for verdict in found.verdicts:
        assert verdict.outcome == Outcome.INCONCLUSIVE
        assert "two-sided sign test, p = 0.0625); 6 that all agree" in verdict.measured


def test_a_model_without_a_number_decides_nothing():
    parts = [surfaces(ROUGH, model) for model in range(7)]
    parts[3].loss[0, :, :] = np.nan  # but for the centre, which has its loss
    parts[3].loss[0, 10, 10] = 0.3
    (found,) = judge(landscapes.CLAIMS, evidence_of({"landscape-images": parts}))
    for verdict in found.verdicts:
        assert verdict.outcome == Outcome.INCONCLUSIVE
        assert "1 without a number" in verdict.measured
    picture = pairs(metrics_table(parts), HEADLINE, "caption")
    title = picture.figure.axes[0].get_title()
    assert title == "gaussian lower in 6 of 7 models, 1 without a number"


def test_surfaces_of_two_comparisons_are_not_pooled():
    parts = [surfaces(ROUGH, 0), surfaces(SMOOTH, 0)]
    with pytest.raises(InputError, match=r"surfaces \(model 0 twice\): must be of one"):
        judge(landscapes.CLAIMS, evidence_of({"landscape-images": parts}))


def test_the_picture_of_pairs_counts_models():
    parts = [surfaces(ROUGH, model) for model in range(3)] + [surfaces(SMOOTH, 3)]
    picture = pairs(metrics_table(parts), HEADLINE, "caption")
    titles = [axes.get_title() for axes in picture.figure.axes]
    assert titles == ["gaussian lower in 3 of 4 models"] * 2
    assert len(picture.data) == 2 * 4

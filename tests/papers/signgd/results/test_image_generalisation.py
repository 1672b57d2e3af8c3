"""Generalisation on images: at equal training loss, and not where all are equal."""

from papers.signgd.judging import snr_sweep, verdicts_of
from piste.claims import Outcome
from piste.papers.signgd.results.image_generalisation import (
    CLAIMS,
    image_cells,
    image_table,
)
from piste.papers.signgd.study_names import studies_on
from support.evidence import evidence_of


def outcomes(name, evidence):
    return [verdict.outcome for verdict in verdicts_of(CLAIMS, name, evidence)]


def test_images_are_compared_at_matched_training_loss():
    sweep = snr_sweep({0.35: 0.3})
    sweep["train_loss"][:, 0] = 0.005  # matched already at the first record
    evidence = evidence_of(dict.fromkeys(studies_on("mnist"), sweep))
    assert image_cells(evidence, "mnist")["error"].tolist() == [0.5] * 9
    assert image_table(evidence, "mnist")["matched"].tolist() == [3] * 3


def test_equal_rules_are_neither_better_nor_worse():
    same = snr_sweep({0.1: 0.45, 1.0: 0.2})
    evidence = dict.fromkeys(studies_on("digits"), same)
    for words in ("GD generalises better on", "especially when the noise is large,"):
        judged = outcomes(f"{words} noisy digits", evidence)
        assert set(judged) == {Outcome.INCONCLUSIVE}
    alone = dict.fromkeys(studies_on("digits"), snr_sweep({0.1: 0.45}))
    judged = outcomes("especially when the noise is large, noisy digits", alone)
    assert judged == [Outcome.INCONCLUSIVE]

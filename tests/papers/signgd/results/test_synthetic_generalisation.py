"""Generalisation on signal and noise, on errors whose comparison is known."""

import numpy as np
import pytest

from papers.signgd.judging import snr_evidence, snr_sweep, verdicts_of
from piste.claims import Outcome, judge
from piste.papers.signgd.claims import CLAIMS as ALL_CLAIMS
from piste.papers.signgd.results.synthetic_generalisation import (
    CLAIMS,
    needed_snr,
    synthetic_cells,
)
from support.evidence import evidence_of


@pytest.fixture
def evidence():
    return snr_evidence()


def outcomes(name, evidence):
    return [verdict.outcome for verdict in verdicts_of(CLAIMS, name, evidence)]


def test_gd_generalises_better_where_it_does(evidence):
    judged = outcomes("GD generalises better at equal SNR", evidence)
    assert judged == [Outcome.HOLDS, Outcome.HOLDS, Outcome.VIOLATED]


def test_adam_is_alike_where_it_is(evidence):
    judged = outcomes("Adam generalises like SignGD", evidence)
    assert judged == [Outcome.HOLDS, Outcome.VIOLATED, Outcome.HOLDS]


def test_not_only_noise_needs_data_that_gd_learns(evidence):
    judged = outcomes("poor generalisation is not solely due to noise", evidence)
    assert judged == [Outcome.UNMET, Outcome.HOLDS, Outcome.VIOLATED]


def test_needed_snr_is_the_lowest_that_stays_good(evidence):
    cells = synthetic_cells(evidence)
    assert needed_snr(cells, "signgd") == 4.0
    assert needed_snr(cells, "gd") == 1.0


def test_the_snr_of_a_sweep_of_norms_is_over_the_scale_of_the_noise():
    sweep = snr_sweep({0.1: 0.4, 1.0: 0.0})
    norms = sweep.snr.values * 2.0
    sweep = sweep.drop_vars("snr").assign_coords(signal_norm=("cell", norms))
    studies = {f"snr-{rule}": sweep for rule in ("signgd", "adam", "gd")}
    assert set(synthetic_cells(evidence_of(studies))["snr"]) == {0.1, 1.0}


def test_one_seed_decides_nothing_about_a_mean(evidence):
    alone = {name: sweep.isel(cell=sweep.seed == 0) for name, sweep in evidence.items()}
    for claim in ("GD generalises better at equal SNR", "Adam generalises like SignGD"):
        assert set(outcomes(claim, evidence_of(alone))) == {Outcome.INCONCLUSIVE}


def test_claims_without_evidence_are_not_judged(evidence):
    names = {judgement.claim.name for judgement in judge(ALL_CLAIMS, evidence)}
    assert "GD generalises better at equal SNR" in names
    assert not any("MNIST" in name for name in names)


def test_an_error_that_is_missing_is_no_need_of_better_data(evidence):
    name = "SignGD and Adam need better data"
    assert outcomes(name, evidence) == [Outcome.HOLDS, Outcome.HOLDS]
    gone = evidence["snr-signgd"] * np.nan
    judged = outcomes(name, dict(evidence) | {"snr-signgd": gone})
    assert judged == [Outcome.INCONCLUSIVE, Outcome.HOLDS]

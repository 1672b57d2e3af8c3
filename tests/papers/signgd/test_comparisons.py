"""The comparisons of rules and data, judged on evidence whose answer is known."""

import numpy as np
import pandas as pd
import pytest
import xarray as xr

from piste.claims import Boundary, Outcome, Status, judge
from piste.errors import InputError
from piste.papers import data_at_hand, find_paper
from piste.papers.signgd import figures, presets, studies
from piste.papers.signgd import generalisation_claims as general
from piste.papers.signgd import optimiser_claims as rules
from piste.papers.signgd import persistence_claims as persistence
from piste.papers.signgd import theorem_claims as theorem
from piste.papers.signgd.generalisation import RULES, images, over_seeds, synthetic
from piste.reproduction import Evidence
from support.evidence import evidence_of

STEPS = np.arange(0, 2001, 10)


def losses(*curves) -> xr.Dataset:
    """A sweep with these training losses, one cell each."""
    data = {"train_loss": (("cell", "step"), np.array([c(STEPS) for c in curves]))}
    return xr.Dataset(data, {"step": STEPS})


def exponential(rate):
    return lambda t: 0.7 * np.exp(-rate * t)


def verdicts(claims, name, evidence):
    (claim,) = (claim for claim in claims if claim.name == name)
    made = evidence if isinstance(evidence, Evidence) else evidence_of(evidence)
    return claim.judge(made)


def test_crossover_is_for_good():
    first = losses(lambda t: np.where(t == 500, 9.0, exponential(0.01)(t)))
    second = losses(lambda t: 0.7 / (1 + t / 10))
    found = rules.crossover(first.train_loss[0], second.train_loss[0])
    assert found == 510


def test_faster_depends_on_the_other_rule():
    signgd = losses(exponential(0.005))
    slow, quick = losses(exponential(0.001)), losses(exponential(0.05))
    for other, outcome in ((slow, Outcome.HOLDS), (quick, Outcome.VIOLATED)):
        (found,) = verdicts(
            rules.CLAIMS,
            "SignGD trains faster than normalised GD",
            evidence_of({"signgd": signgd, "normalised-gd": other}),
        )
        assert found.outcome == outcome


def snr_sweep(errors: dict[float, float], train=0.001) -> xr.Dataset:
    """Three seeds for each SNR, with these test errors, more or less."""
    snrs, seeds = np.repeat(list(errors), 3), np.tile(range(3), len(errors))
    values = np.repeat(list(errors.values()), 3) + 1e-3 * snrs * (seeds - 1) ** 2
    coords = {"snr": ("cell", snrs), "seed": ("cell", seeds)}
    coords |= {"test_step": [0, 1000], "step": [0, 1000]}
    ends = np.stack([np.full_like(values, 0.5), values], 1)
    loss = np.stack([np.full_like(values, 0.7), np.full_like(values, train)], 1)
    arrays = {
        "test_error": (("cell", "test_step"), ends),
        "test_loss": (("cell", "test_step"), ends),
        "train_loss": (("cell", "step"), loss),
    }
    return xr.Dataset(arrays, coords)


@pytest.fixture
def evidence():
    made = {
        "snr-signgd": snr_sweep({0.1: 0.45, 1.0: 0.2, 4.0: 0.01}),
        "snr-adam": snr_sweep({0.1: 0.47, 1.0: 0.4, 4.0: 0.02}),
        "snr-gd": snr_sweep({0.1: 0.4, 1.0: 0.0, 4.0: 0.02}),
    }
    return evidence_of(made)


def outcomes(name, evidence):
    return [v.outcome for v in verdicts(general.CLAIMS, name, evidence)]


def test_gd_generalises_better_where_it_does(evidence):
    found = outcomes("GD generalises better at equal SNR", evidence)
    assert found == [Outcome.HOLDS, Outcome.HOLDS, Outcome.VIOLATED]


def test_adam_is_alike_where_it_is(evidence):
    found = outcomes("Adam generalises like SignGD", evidence)
    assert found == [Outcome.HOLDS, Outcome.VIOLATED, Outcome.HOLDS]


def test_not_only_noise_needs_data_that_gd_learns(evidence):
    found = outcomes("poor generalisation is not solely due to noise", evidence)
    assert found == [Outcome.UNMET, Outcome.HOLDS, Outcome.VIOLATED]


def test_needed_snr_is_the_lowest_that_stays_good(evidence):
    table = synthetic(evidence)
    assert general.needed_snr(table, "signgd") == 4.0
    assert general.needed_snr(table, "gd") == 1.0


def test_images_are_compared_at_matched_training_loss():
    sweep = snr_sweep({0.35: 0.3})
    sweep["train_loss"][:, 0] = 0.005  # matched already at the first record
    table = images(evidence_of({f"mnist-{rule}": sweep for rule in RULES}), "mnist")
    assert table["error"].tolist() == [0.5] * 9
    assert over_seeds(table)["matched"].tolist() == [3] * 3


def test_one_seed_decides_nothing_about_a_mean(evidence):
    alone = {name: sweep.isel(cell=sweep.seed == 0) for name, sweep in evidence.items()}
    for claim in ("GD generalises better at equal SNR", "Adam generalises like SignGD"):
        assert set(outcomes(claim, evidence_of(alone))) == {Outcome.INCONCLUSIVE}


def test_claims_without_evidence_are_not_judged(evidence):
    names = {j.claim.name for j in judge(general.CLAIMS, evidence)}
    assert "GD generalises better at equal SNR" in names
    assert not any("MNIST" in name for name in names)


def test_pictures_of_comparisons_show_their_data(evidence):
    table = over_seeds(synthetic(evidence))
    picture = figures.against_snr(table, "caption")
    pd.testing.assert_frame_equal(picture.data, table)
    assert picture.png()[:4] == b"\x89PNG"


def test_all_studies_have_distinct_names(monkeypatch):
    every = studies.studies(quick=False)
    names = [study.name for study in every]
    assert len(set(names)) == len(names)
    for at_hand, there, absent in (
        (True, "mnist", "digits"),
        (False, "digits", "mnist"),
    ):
        monkeypatch.setattr(studies, "data_at_hand", lambda _, found=at_hand: found)
        kept = [study.name for study in studies.available(every)]
        assert f"{there}-gd" in kept and f"{absent}-gd" not in kept
        line = find_paper("signgd").contents().left_out(studies.available(every))
        assert f"{absent}-gd" in line and f"{there}-gd" not in line


def test_a_wrong_data_folder_is_an_error_and_no_reason_to_fall_back(monkeypatch):
    monkeypatch.setenv("PISTE_DATA", "/nowhere")
    with pytest.raises(InputError, match="PISTE_DATA = /nowhere"):
        data_at_hand(presets.mnist().task)


def test_the_snr_sweep_is_large_enough():
    for study in studies._snr():
        cells = study.sweep.cells()
        assert len({cell.experiment.task.signal_norm for cell in cells}) >= 8
        assert len({cell.experiment.seed for cell in cells}) >= 5
        assert len({cell.experiment.task.noise_scale for cell in cells}) == 1


# --- what should not fool them --------------------------------------------------------


def seeds(rule: str, slope: float = -0.01, met=(5.0, 5.0), untold=0) -> rules.Seeds:
    pair = None if rule == "SignGD" else (0.9, 0.99)
    steps = {name: list(met) for name in rules.BOUNDARIES}
    unclear = dict.fromkeys(rules.BOUNDARIES, untold)
    return rules.Seeds(rule, pair, steps, unclear, [slope], 1.0)


@pytest.mark.parametrize(
    ("signgd", "adam", "outcome"),
    [
        (-0.01, -0.005, Outcome.HOLDS),
        (-0.01, -0.01, Outcome.VIOLATED),
        (0.01, -0.005, Outcome.INCONCLUSIVE),  # a ratio of −½ is no slower fall
        (0.01, 0.005, Outcome.INCONCLUSIVE),
        (-0.01, 0.005, Outcome.INCONCLUSIVE),
        (-0.01, np.nan, Outcome.INCONCLUSIVE),
    ],
)
def test_only_losses_that_fall_fall_slowly(monkeypatch, signgd, adam, outcome):
    found = [seeds("SignGD", signgd), seeds("Adam", adam)]
    monkeypatch.setattr(rules, "by_rule", lambda evidence: found)
    (verdict,) = verdicts(rules.CLAIMS, "Adam's loss falls more slowly: β₂", {})
    assert verdict.outcome == outcome


@pytest.mark.parametrize(
    ("untold", "outcome"), [(0, Outcome.VIOLATED), (1, Outcome.INCONCLUSIVE)]
)
def test_a_seed_that_does_not_tell_is_not_against_adam(monkeypatch, untold, outcome):
    found = [seeds("SignGD"), seeds("Adam", met=(5.0, np.nan), untold=untold)]
    monkeypatch.setattr(rules, "by_rule", lambda evidence: found)
    every = verdicts(rules.CLAIMS, "Adam keeps the stages", {})
    assert {verdict.outcome for verdict in every} == {outcome}


@pytest.mark.parametrize(
    ("diverged", "outcome"), [(-1, Outcome.INCONCLUSIVE), (50, Outcome.HOLDS)]
)
def test_a_loss_that_is_missing_is_not_behind(diverged, outcome):
    other = losses(lambda t: np.where(t < 50, 0.9, np.nan))
    other = other.assign_coords(diverged=("cell", [diverged]))
    (found,) = verdicts(
        rules.CLAIMS,
        "SignGD trains faster than normalised GD",
        {"signgd": losses(exponential(0.005)), "normalised-gd": other},
    )
    assert found.outcome == outcome


def test_equal_rules_are_neither_better_nor_worse():
    same = snr_sweep({0.1: 0.45, 1.0: 0.2})
    evidence = {f"digits-{rule}": same for rule in RULES}
    for words in ("GD generalises better on", "especially when the noise is large,"):
        found = outcomes(f"{words} noisy digits", evidence)
        assert set(found) == {Outcome.INCONCLUSIVE}
    alone = {f"digits-{rule}": snr_sweep({0.1: 0.45}) for rule in RULES}
    found = outcomes("especially when the noise is large, noisy digits", alone)
    assert found == [Outcome.INCONCLUSIVE]


def test_an_error_that_is_missing_is_no_need_of_better_data(evidence):
    name = "SignGD and Adam need better data"
    assert outcomes(name, evidence) == [Outcome.HOLDS, Outcome.HOLDS]
    gone = evidence["snr-signgd"] * np.nan
    found = outcomes(name, dict(evidence) | {"snr-signgd": gone})
    assert found == [Outcome.INCONCLUSIVE, Outcome.HOLDS]


def sparsity(train_loss: float) -> xr.Dataset:
    s = np.array([25, 50, 100, 200])
    arrays = {
        "value_signal": (("cell", "step"), 1 / np.sqrt(s)[:, None]),
        "value_noise": (("cell", "step", "sample"), np.ones((4, 1, 2))),
        "train_loss": (("cell", "step"), np.full((4, 1), train_loss)),
    }
    return xr.Dataset(arrays, {"step": [9], "noise_coordinates": ("cell", s)})


@pytest.mark.parametrize(
    ("loss", "outcome"),
    [
        (0.005, Outcome.HOLDS),
        (0.1, Outcome.INCONCLUSIVE),
        (np.nan, Outcome.INCONCLUSIVE),
    ],
)
def test_a_limit_needs_runs_that_have_trained(loss, outcome):
    name = "the value does not learn the signal"
    (found,) = verdicts(theorem.CLAIMS, name, {"sparsity": sparsity(loss)})
    assert found.outcome == outcome
    assert outcome == Outcome.HOLDS or "needs training losses ≤ 0.01" in found.measured


def variant(status: Status) -> persistence.Variant:
    last = Boundary("IVc ends", "", status, "")
    found = {
        name: [Boundary(name, "", Status.FOUND, "", 5)] for name in rules.BOUNDARIES
    }
    return persistence.Variant("variant", found | {"IVc ends": [last]}, 0.1)


@pytest.mark.parametrize(
    ("status", "outcome"),
    [
        (Status.FOUND, Outcome.HOLDS),
        (Status.LOST, Outcome.VIOLATED),
        (Status.NOT_REACHED, Outcome.VIOLATED),
        (Status.TOO_SHORT, Outcome.INCONCLUSIVE),
        (Status.NOT_MEASURED, Outcome.INCONCLUSIVE),
    ],
)
def test_what_persists(status, outcome):
    assert persistence._verdict(variant(status)).outcome == outcome


@pytest.mark.parametrize("status", Status)
def test_every_status_has_a_mark_of_its_own(status):
    boundaries = variant(status).boundaries
    picture = figures.persistence({"variant": boundaries}, "caption")
    words = {
        text.get_text() for text in picture.figure.axes[0].get_legend().get_texts()
    }
    assert len(words) == len({Status.FOUND, status})
    assert ("needs one before it" in words) == (status == Status.NEEDS_EARLIER)

"""Adam beside SignGD, on evidence whose answer is known."""

import numpy as np
import pytest
import xarray as xr

from papers.signgd.judging import SPOILS, spoilt, verdicts_of
from piste.claims import Outcome, judge
from piste.papers.signgd.results import adam
from piste.papers.signgd.results.adam import RuleSummary
from piste.papers.signgd.stages import STAGE_ENDS
from support.evidence import evidence_of


def judge_pair(run: xr.Dataset, other: xr.Dataset) -> str:
    (claim,) = (c for c in adam.CLAIMS if c.name == "Adam(0, 0, 0) is SignGD")
    return judge([claim], evidence_of({"adam-zero": [run, other]}))[0].summary_text()


def test_adam_at_zero_is_judged_on_all_records(run):
    assert judge_pair(run, run) == "holds"
    names = list(run.data_vars)
    assert judge_pair(run, spoilt(run, names, SPOILS["all NaN"])) == "inconclusive"
    assert judge_pair(spoilt(run, names, SPOILS["all NaN"]), run) == "inconclusive"
    assert judge_pair(run, run.isel(step=slice(0, 3))) == "inconclusive"
    assert judge_pair(run, run.drop_vars("key_noise")) == "inconclusive"
    moved = spoilt(run, ["key_noise"], lambda s: s + 1e-17)
    assert judge_pair(run, moved) == "violated"


def summary(
    rule: str, slope: float = -0.01, met=(5.0, 5.0), undecided=0
) -> RuleSummary:
    betas = None if rule == "SignGD" else (0.9, 0.99)
    steps = {name: list(met) for name in STAGE_ENDS}
    unclear = dict.fromkeys(STAGE_ENDS, undecided)
    return RuleSummary(rule, betas, steps, unclear, [slope], 1.0)


@pytest.mark.parametrize(
    ("signgd", "other", "outcome"),
    [
        (-0.01, -0.005, Outcome.HOLDS),
        (-0.01, -0.01, Outcome.VIOLATED),
        (0.01, -0.005, Outcome.INCONCLUSIVE),  # a ratio of −½ is no slower fall
        (0.01, 0.005, Outcome.INCONCLUSIVE),
        (-0.01, 0.005, Outcome.INCONCLUSIVE),
        (-0.01, np.nan, Outcome.INCONCLUSIVE),
    ],
)
def test_only_losses_that_fall_fall_slowly(monkeypatch, signgd, other, outcome):
    rules = [summary("SignGD", signgd), summary("Adam", other)]
    monkeypatch.setattr(adam, "summarise_rules", lambda evidence: rules)
    (verdict,) = verdicts_of(adam.CLAIMS, "Adam's loss falls more slowly: β₂", {})
    assert verdict.outcome == outcome


@pytest.mark.parametrize(
    ("undecided", "outcome"), [(0, Outcome.VIOLATED), (1, Outcome.INCONCLUSIVE)]
)
def test_a_seed_that_does_not_tell_is_not_against_adam(monkeypatch, undecided, outcome):
    adams = summary("Adam", met=(5.0, np.nan), undecided=undecided)
    rules = [summary("SignGD"), adams]
    monkeypatch.setattr(adam, "summarise_rules", lambda evidence: rules)
    verdicts = verdicts_of(adam.CLAIMS, "Adam keeps the stages", {})
    assert {verdict.outcome for verdict in verdicts} == {outcome}


def test_cells_are_sorted_by_their_betas():
    pairs = [(0.9, 0.99), (0.0, 0.9), (0.9, 0.99)]
    coords = {name: ("cell", [p[i] for p in pairs]) for i, name in enumerate("ab")}
    sweep = xr.Dataset(coords={"b1": coords["a"], "b2": coords["b"]})
    found = [
        (betas, cells.sizes["cell"]) for betas, cells in adam.cells_by_betas(sweep)
    ]
    assert found == [((0.9, 0.99), 2), ((0.0, 0.9), 1)]
    assert adam.adam_name((0.0, 0.9)) == "Adam (0, 0.9)"

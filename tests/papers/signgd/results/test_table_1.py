"""Table 1: counted as by hand, as the slides have it, and only where there are signs."""

import numpy as np
import pytest
import xarray as xr

from papers.signgd.judging import SPOILS, judge_one, spoilt
from piste.claims import Outcome
from piste.errors import InputError
from piste.papers.signgd.results.table_1 import (
    aligned_share,
    count_misaligned,
    count_signs,
    kept_share,
)
from piste.papers.signgd.slides import SIGN_GROUPS, TABLE_1

NAME = "Table 1: independent at first, then aligned"


def test_counts_against_enumeration():
    rng = np.random.default_rng(0)
    shape = (2, 7, 5)
    run = xr.Dataset(
        {
            "query_noise": (("step", "neuron", "sample"), rng.normal(size=shape)),
            "key_noise": (("step", "neuron", "sample"), rng.normal(size=shape)),
        },
        coords={"step": [0, 10]},
    )
    counts = count_signs(run)

    def group(t, s, i):
        key, query = float(run.key_noise[t, s, i]), float(run.query_noise[t, s, i])
        return f"K{'+' if key > 0 else '-'},Q{'+' if query > 0 else '-'}"

    pairs = [(s, i) for s in range(7) for i in range(5)]
    for a in SIGN_GROUPS:
        for b in SIGN_GROUPS:
            both = sum(group(0, *p) == a and group(1, *p) == b for p in pairs)
            assert counts.loc[a, b] == both
    differ = sum(group(1, *p) in ("K+,Q-", "K-,Q+") for p in pairs)
    assert count_misaligned(counts) == differ
    assert aligned_share(counts) == pytest.approx(1 - differ / len(pairs))
    same = [p for p in pairs if group(0, *p) in ("K+,Q+", "K-,Q-")]
    stayed = sum(group(0, *p) == group(1, *p) for p in same)
    assert kept_share(counts) == pytest.approx(stayed / len(same))


def test_slides_table_adds_up():
    assert TABLE_1.to_numpy().sum() == 2000
    assert TABLE_1.sum(axis=1).tolist() == [512, 507, 458, 523]
    assert TABLE_1.sum(axis=0).tolist() == [990, 17, 16, 977]


def test_verdicts_quote_the_slides(run):
    _, aligned, kept = judge_one(run, NAME).verdicts
    assert "(slides: 0.984)" in aligned.predicted
    assert "(slides: 0.934)" in kept.predicted


@pytest.mark.parametrize("how", ["zero", "NaN at t = 10", "frozen"])
def test_table_1_needs_signs_and_that_they_could_change(run, how):
    noise = ("query_noise", "key_noise")
    changes = {
        "zero": SPOILS["zero"],
        "NaN at t = 10": lambda s: s.where(s.step != 10),
        "frozen": SPOILS["frozen at the start"],
    }
    bad = spoilt(run, noise, changes[how])
    last = judge_one(bad, NAME).verdicts[-1]
    assert last.outcome == Outcome.INCONCLUSIVE and last.predicted
    if how != "frozen":
        assert "not a finite number" in last.measured
        with pytest.raises(InputError, match="signs: "):
            count_signs(bad)


def test_signs_of_zero_are_no_table(run):
    zero = spoilt(run, ["query_noise", "key_noise"], SPOILS["zero"])
    judgement = judge_one(zero, NAME)
    assert judgement.summary_text() == "inconclusive"
    assert "some are 0" in judgement.verdicts[0].measured


def test_a_table_without_its_records_says_which(run):
    coarse = run.sel(step=run.step.values[run.step.values % 7 == 0])
    (verdict,) = judge_one(coarse, NAME).verdicts
    assert "no record at one of them" in verdict.measured and verdict.predicted

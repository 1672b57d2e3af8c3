"""Who fails first, and runs that are too short to fail."""

import math

import numpy as np
import pytest
import xarray as xr

from piste.claims import Outcome
from piste.papers.kernels.results.theorem_2.cases import Case
from support import kernel_evidence as made
from support.kernel_verdicts import GOOD, verdicts


def test_controls_that_are_too_short_do_not_fail():
    data = GOOD["queries"].isel(step=slice(2))
    found = verdicts("Controls", queries=data)
    failed = [v for v in found if "scale 4" in v.instance]
    assert {v.outcome for v in failed} == {Outcome.INCONCLUSIVE}
    assert "enough steps" in failed[0].measured


def scale_2(softmax: int, gaussian: int, seeds: int = 20):
    """The control of scale 2: how many seeds succeed, as many as can on their own."""
    case = Case(4, "random", 2.0)
    won = (
        made.query_runs(case, "softmax", seeds, wins=True),
        made.query_runs(case, "gaussian", seeds, True),
    )
    alone = np.arange(seeds) < softmax, np.arange(seeds) >= seeds - gaussian
    kept = [
        part.assign(loss=part.loss.where(xr.DataArray(flags, dims="cell"), 1.0))
        for part, flags in zip(won, alone, strict=True)
    ]
    return xr.concat(kept, "cell")


@pytest.mark.parametrize(
    ("softmax", "gaussian", "outcome"),
    [
        (12, 12, Outcome.INCONCLUSIVE),
        (12, 11, Outcome.INCONCLUSIVE),
        (20, 16, Outcome.INCONCLUSIVE),  # 4 of 4: p = 0.0625
        (20, 15, Outcome.HOLDS),  # 5 of 5: p = 0.031
        (4, 16, Outcome.VIOLATED),
    ],
)
def test_who_fails_first_is_told_by_one_test_over_the_seeds(softmax, gaussian, outcome):
    (found,) = verdicts("Controls", queries=scale_2(softmax, gaussian))
    assert found.outcome == outcome
    assert "one-sided sign test" in found.measured
    assert found.numbers["softmax succeeds"] == softmax


def test_the_hundred_seeds_have_the_p_value_of_the_binomial_tail():
    # 38 seeds on which softmax succeeds alone, and 10 of the Gaussian kernel.
    data = scale_2(38, 10, seeds=48)
    name = "Large independent Q and K harm the Gaussian kernel first"
    (found,) = verdicts(name, **{"control-100": data})
    tail = sum(math.comb(48, k) for k in range(38, 49)) / 2**48
    assert found.numbers["p"] == pytest.approx(tail) and tail < 1e-4
    assert found.outcome == Outcome.HOLDS

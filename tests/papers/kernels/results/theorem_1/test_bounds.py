"""Theorem 1's bound: what is a test of it, and what violates it."""

import numpy as np
import pytest

from piste.claims import Outcome, Verdict
from support import kernel_evidence as made
from support.kernel_verdicts import GOOD, verdicts

PER_HEAD = "Theorem 1, β per head"


def wide(**changed) -> list[Verdict]:
    """W^V alone with softmax, HD/Nn = 2."""
    data = GOOD["transition"]
    cells = (data.kernel == "softmax") & (data.train == "V") & (data.columns == 64)
    data = data.isel(cell=np.flatnonzero(cells))
    return verdicts(PER_HEAD, transition=data.assign(changed))


def test_a_bound_that_promises_little_is_no_test():
    weak = made.along(
        GOOD["transition"].isel(cell=slice(5)), b=0.997 ** (made.STEPS / 1000)
    ).b
    (found,) = wide(bound=weak)
    assert found.outcome == Outcome.INCONCLUSIVE
    assert "the bound promises only f_T/f₀ ≤ 0.997" in found.measured
    assert found.numbers["(1 − ηβ)^T (median)"] == pytest.approx(0.997)
    assert found.numbers["f_T/f₀ (median)"] == pytest.approx(1e-9)


def test_a_loss_above_a_bound_that_promises_little_violates_it():
    data = GOOD["transition"].isel(cell=slice(5))
    (found,) = wide(bound=0 * data.loss + 0.9999, loss=0 * data.loss + 1.0)
    assert found.outcome == Outcome.VIOLATED


def test_seeds_are_judged_one_by_one():
    data = GOOD["transition"].isel(cell=slice(5))
    bound = data.bound.copy()
    bound[1] = bound[1] ** 0.1
    found = wide(bound=bound)
    assert [(v.outcome, v.instance[-12:]) for v in found] == [
        (Outcome.HOLDS, "4 of 5 seeds"),
        (Outcome.INCONCLUSIVE, "1 of 5 seeds"),
    ]


def test_one_record_that_is_no_number_is_no_agreement_nor_an_excuse():
    data = GOOD["transition"].isel(cell=slice(5))
    loss = data.loss.copy()
    loss[:, 2] = np.nan
    (found,) = wide(loss=loss)
    assert found.outcome == Outcome.INCONCLUSIVE and "no number" in found.measured
    loss[:, 3] = 2.0  # above the bound, whatever the other was
    assert [v.outcome for v in wide(loss=loss)] == [Outcome.VIOLATED]


@pytest.mark.parametrize(
    ("changed", "condition"),
    [
        ({"feature_min": 1e-16}, "σ_min(B₀) > 0"),
        ({"head_output_min": 0.0}, "W_h^O has full rank"),
        ({"eta": 0.011}, "η = ½/σ²_max(J₀)"),
        ({"columns": 16}, "HD ≥ Nn"),
    ],
)
def test_conditions_are_computed(changed, condition):
    data = GOOD["transition"].isel(cell=slice(5))
    changed = {name: 0 * data[name] + value for name, value in changed.items()}
    (found,) = wide(**changed)
    assert found.outcome == Outcome.UNMET
    assert [c.name for c in found.conditions if not c.met] == [condition]


def test_a_singular_value_below_the_resolution_is_a_limit():
    data = GOOD["transition"].isel(cell=slice(5))
    (found,) = wide(feature_min=0 * data.feature_min)
    (said,) = (c.detail for c in found.conditions if "σ_min(B₀)" in c.name)
    assert said == "least of 5 seeds ≤ 1e-14, the resolution"

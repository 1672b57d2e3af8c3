"""A gradient that J_Q holds up, and where the inequality asks for nothing."""

import numpy as np
import pytest

from piste.claims import Outcome
from support import kernel_evidence as made
from support.kernel_verdicts import outcomes, verdicts

HELD_UP = "‖∇f‖ is held up by J_Q"


@pytest.mark.parametrize(
    ("probe", "value", "outcome"),
    [
        ("gradient_norm", 0.0, Outcome.VIOLATED),
        ("gradient_norm", np.nan, Outcome.INCONCLUSIVE),
        ("train_loss", np.nan, Outcome.INCONCLUSIVE),
        ("query_jacobian_min", np.nan, Outcome.INCONCLUSIVE),
        ("query_jacobian_min", 1e-34, Outcome.INCONCLUSIVE),
    ],
)
def test_a_gradient_is_held_up_where_that_asks_for_something(probe, value, outcome):
    (run,) = made.pair()
    run = run.assign({probe: 0 * run[probe] + value})
    assert outcomes(HELD_UP, pair=[run]) == [outcome]


def test_what_an_svd_cannot_resolve_is_said_in_its_unit():
    (found,) = verdicts(HELD_UP, pair=made.pair(minimum=1e-34))
    # J_Q is 16 × 512.
    assert "σ_min(J_Q) ≤ 1e-13 σ_max" in found.measured
    assert "asks for nothing" in found.measured


def test_one_record_of_many_is_enough_to_violate_or_to_doubt():
    (run,) = made.pair()
    run.gradient_norm[3] = 0.0
    assert outcomes(HELD_UP, pair=[run]) == [Outcome.VIOLATED]
    run.gradient_norm[3] = np.nan
    assert outcomes(HELD_UP, pair=[run]) == [Outcome.INCONCLUSIVE]


def test_a_loss_that_is_rounding_asks_for_nothing():
    (run,) = made.pair()
    (found,) = verdicts(HELD_UP, pair=[run.assign(train_loss=0 * run.train_loss)])
    assert found.measured.startswith("the loss is rounding wherever")


def test_a_run_of_another_model_is_not_judged():
    run = made.curves("softmax", 0)
    (found,) = verdicts(HELD_UP, pair=[run])
    assert found.outcome == Outcome.INCONCLUSIVE
    assert "the run lacks gradient_norm" in found.measured

"""Softmax stalls, the Gaussian kernel converges: the pair in made-up numbers."""

import numpy as np
import pytest
import xarray as xr

from piste.claims import Outcome
from piste.papers.kernels.results.theorem_2.cases import Case
from support import kernel_evidence as made
from support.kernel_verdicts import outcomes, verdicts

STALLS = "Theorem 2: softmax stalls"


LINEAR = "Theorem 2: the Gaussian kernel converges at a linear rate"


CASE = Case(8, "matched", 6.0)


def matched(**gaussian):
    """The pair, with other numbers along the Gaussian kernel's runs."""
    softmax = made.query_runs(CASE, "softmax", 5, wins=False)
    other = made.query_runs(CASE, "gaussian", 5, wins=True)
    changed = {name: 0 * other[name] + value for name, value in gaussian.items()}
    return xr.concat([softmax, other.assign(changed)], "cell")


def test_softmax_stalls_only_beside_a_kernel_that_does_not():
    assert outcomes(STALLS, queries=matched()) == [Outcome.HOLDS]
    assert outcomes(STALLS, queries=matched(loss=1.0)) == [Outcome.INCONCLUSIVE]


def test_softmax_needs_a_solution_that_was_measured():
    data = matched().assign(teacher_share=0 * matched().teacher_share + 1e-3)
    (found,) = verdicts(STALLS, queries=data)
    assert found.outcome == Outcome.UNMET
    assert "leaves f/f₀ = 0.001" in found.conditions[1].detail


@pytest.mark.parametrize(
    ("changed", "outcome"),
    [
        ({}, Outcome.HOLDS),
        ({"loss": 1.0}, Outcome.VIOLATED),  # stalls: no gradient, all of the loss
        ({"loss": 1.0, "gradient_norm": 1.0}, Outcome.VIOLATED),  # above the bound
        ({"bound": 1e-30}, Outcome.VIOLATED),
        (
            {"bound": 1e-30, "jacobian_max": 9.0},
            Outcome.INCONCLUSIVE,
        ),  # large steps
        ({"bound": 1.0}, Outcome.INCONCLUSIVE),  # a bound that asks for nothing
        ({"beta": 0.0}, Outcome.INCONCLUSIVE),
        ({"loss": np.nan}, Outcome.INCONCLUSIVE),
        ({"gradient_norm": np.nan}, Outcome.HOLDS),  # the rate is that of the loss
    ],
)
def test_convergence_and_its_rate_are_one_statement(changed, outcome):
    assert outcomes(LINEAR, queries=matched(**changed)) == [outcome]


def test_one_step_size_that_does_is_enough():
    """The theorem says that one exists."""
    other = made.query_runs(CASE, "gaussian", 5, wins=False).assign(
        better=("cell", [False] * 5)
    )
    data = xr.concat([matched(), other], "cell")
    (found,) = verdicts(LINEAR, queries=data)
    assert found.outcome == Outcome.HOLDS and "5 of 5 seeds do" in found.measured

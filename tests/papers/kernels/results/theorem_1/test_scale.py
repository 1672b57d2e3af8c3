"""A bound that promises nothing is of no use."""

from piste.claims import Outcome
from support.kernel_verdicts import GOOD, verdicts


def test_a_bound_that_promises_nothing_is_not_of_use():
    data = GOOD["scale"].assign(feature_min=0 * GOOD["scale"].feature_min)
    found = verdicts("HD ≥ Nn suffices", scale=data)
    assert {v.outcome for v in found} == {Outcome.VIOLATED}
    assert found[0].measured.startswith("never: ")

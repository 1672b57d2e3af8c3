"""The constants of Theorem 1, and its bound in steps."""

import math

import numpy as np

from piste.papers.decision_lists.theory import attention_theorem, zero_start
from support.decision_lists import draw_instance


def test_the_constants_of_theorem_1():
    instance = draw_instance(30, 6, 4, list_lengths="fixed")
    theorem = attention_theorem(instance)
    # The rarest event: two absent, then a_3 and another token join the query.
    delta = math.comb(25, 3) / math.comb(29, 5)
    np.testing.assert_allclose(theorem.delta, delta, rtol=1e-12)
    np.testing.assert_allclose(theorem.scale, 24 * math.log(30) / delta, rtol=1e-12)
    np.testing.assert_allclose(theorem.bound, 16 * 30 / math.log(30), rtol=1e-12)
    assert theorem.proved_bound > theorem.bound


def test_its_conditions_and_its_bound_in_steps():
    theorem = attention_theorem(draw_instance(8, 3, 2))
    assert all(condition.met for condition in theorem.conditions(theorem.scale))
    failed = [c.name for c in theorem.conditions(1.1 * theorem.scale) if not c.met]
    assert failed == ["V = cP, c = 4n log(L)/δ"]
    assert theorem.is_stated_scale(theorem.scale * (1 + 1e-7), tolerance=1e-6)
    assert not theorem.is_stated_scale(theorem.scale * (1 + 1e-7))
    assert theorem.step_bound(theorem.bound / 9.5) == 10
    assert zero_start(0.0).met and not zero_start(math.nan).met

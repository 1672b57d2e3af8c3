"""The oracles themselves, on cases small enough for paper; and how tests compare."""

import math
import types

import numpy as np
import pytest

from piste.testing import assert_close
from support import reference

# One sample in two dimensions, one neuron each: x⁽¹⁾ = (1, 0), x⁽²⁾ = (0, 2).
X = np.array([[[1.0, 0.0], [0.0, 2.0]]])
WEIGHTS = types.SimpleNamespace(
    value_plus=np.array([[3.0, 0.5]]),
    value_minus=np.array([[1.0, 0.0]]),
    query=np.array([[1.0, 0.5]]),
    key=np.array([[2.0, -1.0]]),
)
# q = (1, 1), k = (2, −2): both tokens attend to the first with σ(4).
S = 1 / (1 + math.exp(-4))
F = 2 * (S * 2 + (1 - S) * 1)


def test_the_output_by_hand():
    s = reference.attention(WEIGHTS, X[0])
    assert_close(s, np.array([[S, 1 - S], [S, 1 - S]]))
    assert_close(reference.output(WEIGHTS, X[0]), F)
    assert_close(reference.loss(WEIGHTS, X, [-1.0]), math.log1p(math.exp(F)))
    assert reference.error(WEIGHTS, X, [-1.0]) == 1
    gaussian = reference.attention(WEIGHTS, X[0], "gaussian")
    assert_close(gaussian[0], np.exp([-0.5, -4.5]))


def test_the_gradients_by_hand():
    found = reference.gradients(WEIGHTS, X, [1.0])
    outer = -1 / (1 + math.exp(F))
    assert_close(found["value_plus"], outer * np.array([[2 * S, 4 * (1 - S)]]))
    assert_close(found["value_minus"], -found["value_plus"])
    slope = outer * S * (1 - S) * (2 - 1)
    assert_close(found["query"], slope * 4 * np.array([[1.0, 2.0]]))
    assert_close(found["key"], slope * 2 * np.array([[1.0, -2.0]]))
    signs = reference.gradient_signs(WEIGHTS, X, [1.0])
    for name in ("query", "key"):
        np.testing.assert_array_equal(signs[name], np.sign(found[name]))


def test_near_zero_by_hand():
    basis = np.array([[1.0, 0.0, 1.0], [1.0, 0.0, 0.0]])
    assert reference.near_zero(basis, np.array([[1.0], [-1.0]])) == 1
    assert reference.near_zero(basis, np.array([[1.0], [1.0]])) == 0
    assert reference.near_zero(basis, np.zeros((2, 1))) == 2


DIFFERENT_PAIRS = [
    (np.array([1.0, 2.0]), np.array([1.0, 2.0 + 1e-11])),
    (np.array([1.0], "float32"), np.array([1.001], "float32")),
    (np.array([1.0, np.nan]), np.array([1.0, 2.0])),
    (np.array([1.0, 2.0]), np.array([1.0, np.nan])),
    (np.array([np.inf]), np.array([-np.inf])),
    (np.ones(2), np.ones((2, 1))),
    (np.array([1, 2]), np.array([1, 3])),
    ({"a": 1.0}, {"b": 1.0}),
    (np.array([1e-300]), np.array([0.0])),
]


@pytest.mark.parametrize(("actual", "desired"), DIFFERENT_PAIRS)
def test_assert_close_refuses_what_is_far(actual, desired):
    with pytest.raises(AssertionError):
        assert_close(actual, desired)


CLOSE_PAIRS = [
    (np.array([1e9, 1e-9]), np.array([1e9, 0.0])),
    (np.array([1.0 + 1e-6], "float32"), np.array([1.0])),
    (np.array([np.nan, np.inf, 1.0]), np.array([np.nan, np.inf, 1.0 + 1e-14])),
    (np.array([], "float64"), np.array([], "float64")),
    ({"a": np.array([1, 2]), "b": [True]}, {"a": np.array([1, 2]), "b": [True]}),
]


@pytest.mark.parametrize(("actual", "desired"), CLOSE_PAIRS)
def test_assert_close_accepts_what_is_near(actual, desired):
    assert_close(actual, desired)


def test_assert_close_says_where_and_by_how_much():
    with pytest.raises(AssertionError, match=r"^at \(1,\): 2 against 3; error 1"):
        assert_close(np.array([1.0, 2.0]), np.array([1.0, 3.0]))

"""The matrix form and the scalar form are one function."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from piste.attention import KERNELS
from piste.papers.signgd.models import TwoLayerWeights, matrix_form, scalar_form
from piste.testing import assert_close
from support import reference

matrix = jax.jit(matrix_form, static_argnums=2)
scalar = jax.jit(scalar_form, static_argnums=2)


@st.composite
def weights_and_tokens(draw, token_counts=(1, 2, 3)):
    # Few shapes, many numbers: every new shape is compiled.
    dimension, value, key = draw(st.sampled_from([(1, 1, 1), (6, 4, 2), (3, 2, 5)]))
    tokens = draw(st.sampled_from(token_counts))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    scale = draw(st.sampled_from([1e-3, 0.3, 3.0]))
    shapes = [(value, dimension)] * 2 + [(key, dimension)] * 2
    matrices = [jnp.asarray(scale * rng.normal(size=shape)) for shape in shapes]
    return TwoLayerWeights(*matrices), jnp.asarray(rng.normal(size=(tokens, dimension)))


def value_size(weights, tokens):
    """The size of what is added up, which sets the rounding."""
    neurons = np.concatenate([weights.value_plus, weights.value_minus])
    return float(np.abs(np.asarray(tokens) @ neurons.T).sum())


@pytest.mark.parametrize("kernel", KERNELS)
@settings(max_examples=25)
@given(drawn=weights_and_tokens())
def test_matrix_form_is_scalar_form(kernel, drawn):
    weights, tokens = drawn
    here = matrix(weights, tokens, KERNELS[kernel])
    there = scalar(weights, tokens, KERNELS[kernel])
    size = value_size(weights, tokens) + abs(float(there))
    assert abs(float(here - there)) <= 1e-13 * size + 1e-300


@pytest.mark.parametrize("kernel", KERNELS)
@settings(max_examples=15)
@given(drawn=weights_and_tokens((2,)))
def test_both_are_the_dense_oracle(kernel, drawn):
    weights, tokens = drawn
    truth = reference.output(weights, np.asarray(tokens), kernel)
    scale = value_size(weights, tokens)
    for form in (matrix, scalar):
        found = float(form(weights, tokens, KERNELS[kernel]))
        assert_close(np.array([found, scale]), np.array([truth, scale]))

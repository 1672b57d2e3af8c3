"""Expand and collect are each other's transpose, for any data."""

import jax
import jax.numpy as jnp
import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from piste.probes import reference
from piste.tasks import TwoTokenData
from piste.testing import assert_close
from support.strategies import reals

expand = jax.jit(TwoTokenData.expand)
collect = jax.jit(TwoTokenData.collect)


@st.composite
def data_and_parts(draw):
    # Few shapes, many numbers: every new shape is compiled.
    rows, samples = draw(st.sampled_from([(1, 1), (4, 3), (2, 5)]))
    dimension, neurons = 3, draw(st.sampled_from([(), (3,)]))

    def array(*shape):
        return jnp.asarray(draw(hnp.arrays(float, shape, elements=reals())))

    row = draw(hnp.arrays(int, (2, samples), elements=st.integers(0, rows - 1)))
    data = TwoTokenData(
        basis=array(rows, dimension),
        row=jnp.asarray(row),
        weight=array(2, samples),
        labels=jnp.ones(samples),
    )
    return data, array(rows, *neurons), array(2, samples, *neurons)


@given(data_and_parts())
def test_collect_is_the_transpose_of_expand(drawn):
    data, products, parts = drawn
    forward = np.asarray(expand(data, products)) * np.asarray(parts)
    backward = np.asarray(products) * np.asarray(collect(data, parts))
    assert abs(forward.sum() - backward.sum()) <= 1e-13 * np.abs(forward).sum()


@given(data_and_parts())
def test_expand_is_what_it_says_entry_by_entry(drawn):
    data, products, _ = drawn
    expanded = np.asarray(expand(data, products))
    for token, sample in np.ndindex(2, data.row.shape[1]):
        row = np.asarray(data.row)[token, sample]
        truth = np.asarray(data.weight)[token, sample] * np.asarray(products)[row]
        np.testing.assert_array_equal(expanded[token, sample], truth)


@given(data_and_parts())
def test_tokens_are_weighted_basis_rows(drawn):
    data, _, _ = drawn
    assert_close(data.tokens(), reference.tokens(data))

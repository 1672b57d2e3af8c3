"""Expand and collect are each other's transpose, for any data."""

import jax
import jax.numpy as jnp
import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from piste.papers.signgd.tasks import TwoTokenData
from piste.testing import assert_close
from support import reference
from support.strategies import reals

expand = jax.jit(TwoTokenData.expand)
collect = jax.jit(TwoTokenData.collect)


@st.composite
def data_and_parts(draw):
    # Few shapes, many numbers: every new shape is compiled.
    rows, samples = draw(st.sampled_from([(2, 1), (4, 3), (6, 3), (6, 5), (10, 5)]))
    dimension, neurons = 3, draw(st.sampled_from([(), (3,)]))

    def array(*shape):
        return jnp.asarray(draw(hnp.arrays(float, shape, elements=reals())))

    data = TwoTokenData(
        basis=array(rows, dimension),
        weight=array(samples),
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
    samples, rows = data.labels.size, data.basis.shape[0]
    products, weight = np.asarray(products), np.asarray(data.weight)
    for sample in range(samples):
        first = 0 if rows == samples + 1 else sample
        truth = weight[sample] * products[first]
        np.testing.assert_array_equal(expanded[0, sample], truth)
        second = products[rows - samples + sample]
        np.testing.assert_array_equal(expanded[1, sample], second)


@given(data_and_parts())
def test_the_largest_of_each_row_is_spread_back(drawn):
    data, _, parts = drawn
    parts = parts if parts.ndim == 2 else parts[..., 0]
    back = np.asarray(data.spread(data.largest(parts)))
    assert (back >= np.asarray(parts)).all()
    shared = data.basis.shape[0] == data.labels.size + 1
    truth = np.asarray(parts).copy()
    truth[0] = truth[0].max() if shared else truth[0]
    np.testing.assert_array_equal(back, truth)


@given(data_and_parts())
def test_tokens_are_weighted_basis_rows(drawn):
    data, _, _ = drawn
    assert_close(data.tokens(), reference.tokens(data))

"""Attention in blocks against the dense formulas, with and without padding."""

import jax
import jax.numpy as jnp
import jax.test_util
import numpy as np
import pytest

from piste.attention import KERNELS
from piste.attention import blockwise as fast_attention
from piste.attention.heads import FAST, attend_heads, masked, plain_heads
from piste.attention.kernels import KEY_COUNT, KEY_SUM, NOTHING
from piste.testing import assert_close

HEADS, WIDTH = 2, 6
LENGTHS = {"one token": 1, "one block": 16, "blocks": 64, "uneven blocks": 53}
every_length = pytest.mark.parametrize("length", LENGTHS.values(), ids=LENGTHS)
every_kernel = pytest.mark.parametrize("kernel", ["softmax", "gaussian"])


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    """Blocks of a few queries, so that short sequences have several."""
    monkeypatch.setattr(fast_attention, "BLOCK", 300)


def drawn(length, batch=3, heads=HEADS, dtype="float64"):
    rng = np.random.default_rng(length)
    shape = 3, batch, heads, length, WIDTH
    return tuple(jnp.asarray(rng.normal(size=shape), dtype))


def padding(length, batch=3):
    """All real; a random half; a single one."""
    mask = np.random.default_rng(1).random((batch, length)) < 0.5
    mask[0], mask[-1], mask[:, 0] = True, False, True
    return jnp.asarray(mask)


def with_gradients(function, kernel, arrays, mask):
    """The output and the gradients of a quantity that weighs its entries unevenly."""

    def quantity(*arrays):
        output = function(kernel, *arrays, mask)
        uneven = jnp.sin(jnp.arange(output.size, dtype=output.dtype))
        return output.ravel() @ uneven, output

    both = jax.value_and_grad(quantity, argnums=(0, 1, 2), has_aux=True)
    (_, output), gradients = jax.jit(both)(*arrays)
    # Stacked: a single key has the weight 1, so that rounding is all that q and k get.
    return output, jnp.stack(gradients)


@every_length
@every_kernel
def test_blocks_are_the_plain_form_in_value_and_gradient(kernel, length):
    arrays, mask = drawn(length), padding(length)
    found = with_gradients(attend_heads, kernel, arrays, mask)
    assert_close(found, with_gradients(plain_heads, kernel, arrays, mask))


@every_kernel
def test_blocks_in_float32_with_one_head(kernel):
    arrays, mask = drawn(53, heads=1, dtype="float32"), padding(53)
    found = with_gradients(attend_heads, kernel, arrays, mask)
    assert found[0].dtype == found[1].dtype == "float32"
    assert_close(found, with_gradients(plain_heads, kernel, arrays, mask), slack=0.5)


@pytest.mark.parametrize("kernel", ["softmax", "gaussian"])
def test_second_derivatives_go_through_the_blocks(kernel):
    """Landscapes and sharpness take products with the Hessian of a classifier."""
    arrays, mask = drawn(20, batch=2), padding(20, batch=2)
    rng = np.random.default_rng(0)
    turned = tuple(jnp.asarray(rng.normal(size=x.shape)) for x in arrays)

    def product(function):
        def gradient(*arrays):
            return jax.grad(
                lambda *a: jnp.sin(function(kernel, *a, mask)).sum(), argnums=(0, 1, 2)
            )(*arrays)

        return jnp.stack(jax.jvp(gradient, arrays, turned)[1])

    assert_close(product(attend_heads), product(plain_heads))


def by_definition(kernel, queries, keys, values, mask):
    """Attention by its definition, query by query, over the real keys only."""
    outputs = []
    for b, head in np.ndindex(queries.shape[:2]):
        q, k, v = (np.asarray(x[b, head]) for x in (queries, keys, values))
        k, v = k[np.asarray(mask[b])], v[np.asarray(mask[b])]
        squares = ((q[:, None] - k) ** 2).sum(-1)
        weights = np.exp(q @ k.T) if kernel == "softmax" else np.exp(-squares / 2)
        if kernel == "linear":
            weights = q @ k.T
        if kernel == "none":
            weights = np.zeros_like(weights)
        if kernel in ("softmax", "gaussian-rows"):
            weights = weights / weights.sum(1, keepdims=True)
        weights = weights / (len(k) if kernel == "gaussian-mean" else 1)
        outputs.append(weights @ v)
    return np.stack(outputs).reshape(queries.shape)


@pytest.mark.parametrize("kernel", FAST)
def test_padding_is_as_if_it_were_not_there(kernel):
    arrays, mask = drawn(53), padding(53)
    assert_close(
        attend_heads(kernel, *arrays, mask), by_definition(kernel, *arrays, mask)
    )


@pytest.mark.parametrize("kernel", KERNELS)
def test_padding_in_the_plain_form(kernel):
    arrays, mask = drawn(20), padding(20)
    truth = by_definition(kernel, *arrays, mask)
    assert_close(plain_heads(kernel, *arrays, mask), truth)


def test_what_a_kernel_divides_by_leaves_out_the_padding():
    g = jnp.asarray(np.random.default_rng(0).random((1, 1, 4, 5)))
    mask = jnp.array([[True, False, True, True, False]])
    real = np.asarray(g)[..., [0, 2, 3]]
    cases = {
        NOTHING: (g, real),
        KEY_SUM: (g / g.sum(-1, keepdims=True), real / real.sum(-1, keepdims=True)),
        KEY_COUNT: (g / 5, real / 3),
    }
    for divides_by, (weights, truth) in cases.items():
        found = masked(weights, mask, divides_by)
        assert_close(found[..., jnp.array([0, 2, 3])], truth)
        assert not found[..., jnp.array([1, 4])].any()


@pytest.mark.parametrize("kernel", FAST)
def test_the_gradient_is_that_of_finite_differences(kernel):
    arrays, mask = drawn(9, batch=1), padding(9, batch=2)[:1]
    attended = jax.jit(lambda *arrays: attend_heads(kernel, *arrays, mask))
    jax.test_util.check_grads(attended, arrays, order=1, modes=["rev"])


@every_kernel
def test_a_query_without_a_real_key_gets_nothing(kernel):
    arrays, nothing = drawn(20), jnp.zeros((3, 20), bool)
    for function in (attend_heads, plain_heads):
        found = with_gradients(function, kernel, arrays, nothing)
        assert_close(found, jax.tree.map(jnp.zeros_like, found))


def test_large_scores_neither_overflow_nor_vanish():
    """Scores of 10⁴: softmax picks the nearest key, the Gaussian the one at its place."""
    queries, _, values = drawn(20)
    queries = 40 * queries
    mask = jnp.ones((3, 20), bool)
    found, gradients = with_gradients(
        attend_heads, "gaussian", (queries, queries, values), mask
    )
    # The squared norms cancel: what is left of 10⁴ is rounding.
    assert_close(found, values, slack=1e3)
    assert np.isfinite(gradients).all()
    found, gradients = with_gradients(
        attend_heads, "softmax", (queries, 40 * queries, values), mask
    )
    best = (queries @ queries.mT).argmax(-1)
    assert_close(found, jnp.take_along_axis(values, best[..., None], 2))
    assert np.isfinite(gradients).all()


@pytest.mark.parametrize("shift", [0.0, 1.0, 10.0, 100.0])
@pytest.mark.parametrize("kernel", ["gaussian", "gaussian-rows", "gaussian-mean"])
def test_a_common_shift_costs_no_digits_in_float32(kernel, shift):
    """Distances ignore what queries and keys have in common; so must their rounding."""
    queries, keys, values = drawn(53, dtype="float32")
    # Rounded to multiples of 2⁻¹⁶: every shift is exact, and the truth is the same.
    queries, keys = (jnp.round(x * 2**16) / 2**16 + shift for x in (queries, keys))
    arrays, mask = (queries, keys, values), padding(53)
    exact = tuple(x.astype("float64") for x in arrays)
    truth = with_gradients(plain_heads, kernel, exact, mask)
    for form in (attend_heads, plain_heads):
        for found, right in zip(
            with_gradients(form, kernel, arrays, mask), truth, strict=True
        ):
            assert found.dtype == "float32"
            error = np.abs(found - right).max() / np.abs(right).max()
            assert error < 5e-6


def test_padding_keys_do_not_move_the_centre():
    queries, keys, values = drawn(20, dtype="float32")
    mask = padding(20)
    far = jnp.where(mask[:, None, :, None], keys, 1e6)
    for kernel in ("gaussian", "gaussian-rows", "gaussian-mean"):
        found = attend_heads(kernel, queries, far, values, mask)
        np.testing.assert_array_equal(
            found, attend_heads(kernel, queries, keys, values, mask)
        )


@every_kernel
def test_the_values_may_have_another_width(kernel):
    q, k, v = (x.reshape(-1, 30, WIDTH) for x in drawn(30))
    real = jnp.ones((6, 30), bool)
    function = FAST[kernel]
    assert_close(function(q, k, v[..., :2], real), function(q, k, v, real)[..., :2])


@every_kernel
def test_all_weights_are_never_in_memory_at_once(kernel):
    """Neither pass has an array of the size of one head's weights, let alone of all."""
    arrays, mask = drawn(128), padding(128)
    forms = attend_heads, plain_heads
    sizes = [_sizes(form, kernel, arrays, mask) for form in forms]
    blockwise, plain = map(max, sizes)
    assert plain == mask.shape[0] * HEADS * 128**2
    assert blockwise < 128**2


def _sizes(function, kernel, arrays, mask):
    traced = jax.make_jaxpr(lambda *x: with_gradients(function, kernel, x, mask))(
        *arrays
    )
    return [
        variable.aval.size
        for jaxpr in _all_jaxprs(traced.jaxpr)
        for equation in jaxpr.eqns
        for variable in equation.outvars
    ]


def _all_jaxprs(jaxpr):
    yield jaxpr
    for inner in _inner(jaxpr):
        yield from _all_jaxprs(inner)


def _inner(jaxpr):
    for equation in jaxpr.eqns:
        for part in jax.tree.leaves(
            list(equation.params.values()), is_leaf=lambda x: hasattr(x, "eqns")
        ):
            if hasattr(part, "eqns"):
                yield getattr(part, "jaxpr", part)

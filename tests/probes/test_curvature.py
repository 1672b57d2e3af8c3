"""Extreme eigenvalues without matrices against dense ones."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.flatten_util import ravel_pytree

from piste.probes.curvature import (
    dense_jacobian,
    empirical_ntk,
    extreme_eigenvalues,
    hessian_extremes,
    jacobian_extremes,
)
from piste.testing import assert_close


def tree(seed=0, dtype="float64"):
    rng = np.random.default_rng(seed)
    shapes = {"matrix": (3, 4), "vector": (5,)}
    return {name: jnp.asarray(rng.normal(size=s), dtype) for name, s in shapes.items()}


def symmetric(size, seed=0, spectrum=None):
    rng = np.random.default_rng(seed)
    q = np.linalg.qr(rng.normal(size=(size, size)))[0]
    values = rng.normal(size=size) if spectrum is None else np.asarray(spectrum)
    return jnp.asarray(q * values @ q.T)


def on_tree(matrix, like):
    _, unravel = ravel_pytree(like)
    return lambda given: unravel(matrix @ ravel_pytree(given)[0])


def test_a_symmetric_operator_on_a_tree():
    matrix = symmetric(17)
    found = extreme_eigenvalues(on_tree(matrix, tree()), tree())
    truth = np.linalg.eigvalsh(matrix)
    assert_close(np.array(found), truth[[0, -1]], slack=100)


def test_few_steps_find_the_ends_of_a_large_spectrum():
    inner = np.linspace(-1, 1, 398)
    matrix = symmetric(400, spectrum=[-3, *inner, 5])
    found = extreme_eigenvalues(lambda x: matrix @ x, jnp.zeros(400), depth=24)
    np.testing.assert_allclose(np.array(found), [-3, 5], rtol=1e-8)


@pytest.mark.parametrize(
    "spectrum",
    [np.zeros(17), np.full(17, 2.0), [*np.zeros(14), 1, 1, 4], [*np.ones(16), -1e-9]],
    ids=["zero", "multiple of one", "low rank", "nearly a multiple"],
)
def test_repeated_eigenvalues_do_not_break_it(spectrum):
    matrix = symmetric(17, spectrum=spectrum)
    found = extreme_eigenvalues(on_tree(matrix, tree()), tree())
    size = max(np.abs(spectrum))
    for one, other in zip(found, (min(spectrum), max(spectrum)), strict=True):
        assert abs(float(one) - other) <= 1e-12 * size


def test_an_operator_that_is_not_finite_says_so():
    found = extreme_eigenvalues(lambda x: x * jnp.nan, jnp.zeros(5))
    assert np.isnan(found).all()


def test_the_type_of_numbers_is_kept():
    like = tree(dtype="float32")
    product = on_tree(symmetric(17).astype("float32"), like)
    found = extreme_eigenvalues(product, like)
    assert {part.dtype.name for part in found} == {"float32"}
    assert_close(np.array(found), np.linalg.eigvalsh(symmetric(17))[[0, -1]], slack=10)


def one_number():
    return {"only": jnp.array([3.0])}


def test_a_single_parameter():
    found = extreme_eigenvalues(lambda x: {"only": -7 * x["only"]}, one_number())
    assert_close(np.array(found), np.array([-7.0, -7.0]))


def network(params, outputs=6):
    rng = np.random.default_rng(7)
    mix = jnp.asarray(rng.normal(size=(outputs, 5)))
    inner = jnp.tanh(params["matrix"] @ jnp.arange(4.0)).sum()
    return {"out": mix @ jnp.tanh(inner * params["vector"])}


def dense(function, params):
    flat, unravel = ravel_pytree(params)
    return jax.jacfwd(lambda x: ravel_pytree(function(unravel(x)))[0])(flat)


def test_hessian_extremes_are_those_of_the_dense_hessian():
    def loss(params):
        return (network(params)["out"] ** 2).sum()

    found = hessian_extremes(jax.grad(loss), tree())
    truth = np.linalg.eigvalsh(dense(jax.grad(loss), tree()))
    assert truth[0] < 0 < truth[-1]
    assert_close(np.array(found), truth[[0, -1]], slack=100)


@pytest.mark.parametrize("outputs", [3, 30], ids=["wide", "tall"])
def test_jacobian_extremes_are_squared_singular_values(outputs):
    def function(params):
        return network(params, outputs)

    def shaken(params):
        # Full rank: every parameter has an output of its own beside the network's.
        flat, _ = ravel_pytree(params)
        return function(params), jnp.sin(flat)[: max(outputs - 13, 0)]

    values = np.linalg.svd(dense(shaken, tree()), compute_uv=False)
    found = jacobian_extremes(shaken, tree())
    assert_close(np.array(found), values[[-1, 0]] ** 2, slack=100)


def test_the_tangent_kernel_is_that_of_the_dense_jacobian():
    jacobian = dense(network, tree())
    assert_close(dense_jacobian(network, tree()), jacobian, slack=10)
    assert_close(empirical_ntk(network, tree()), jacobian @ jacobian.T, slack=10)
    found = extreme_eigenvalues(lambda v: jacobian @ (jacobian.T @ v), jnp.zeros(6))
    assert_close(jacobian_extremes(network, tree()).largest, found.largest, slack=10)


def test_it_can_be_batched_and_compiled():
    matrices = jnp.stack([symmetric(6, seed) for seed in range(3)])

    @jax.jit
    @jax.vmap
    def ends(matrix):
        return extreme_eigenvalues(lambda x: matrix @ x, jnp.zeros(6))

    truth = np.linalg.eigvalsh(matrices)
    assert_close(ends(matrices).smallest, truth[:, 0], slack=100)
    assert_close(ends(matrices).largest, truth[:, -1], slack=100)

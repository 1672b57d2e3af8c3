"""Every kernel against loops, its symmetries and differences; kernels of a user."""

import importlib.util

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from piste.attention import KERNELS, kernel
from piste.attention.kernels import squared_distances
from piste.errors import InputError
from piste.models import Classifier
from piste.testing import assert_close
from support.reference import attention_row
from support.small import run
from support.tiny import tiny

every_kernel = pytest.mark.parametrize("name", tuple(KERNELS))


def drawn(queries=4, keys=5, width=3, scale=1.0, seed=0):
    rng = np.random.default_rng(seed)
    shapes = (queries, width), (keys, width)
    return [jnp.asarray(scale * rng.normal(size=shape)) for shape in shapes]


@every_kernel
@pytest.mark.parametrize("scale", [1e-3, 1.0, 4.0])
def test_weights_are_those_of_loops(name, scale):
    queries, keys = drawn(scale=scale)
    truth = [
        attention_row(q, list(np.asarray(keys)), name) for q in np.asarray(queries)
    ]
    assert_close(KERNELS[name](queries, keys), np.array(truth), slack=10)


@every_kernel
def test_weights_follow_the_order_of_queries_and_keys(name):
    queries, keys = drawn()
    rows, columns = jnp.array([2, 0, 3, 1]), jnp.array([4, 1, 0, 2, 3])
    weights = KERNELS[name](queries, keys)
    assert_close(KERNELS[name](queries[rows], keys[columns]), weights[rows][:, columns])


@every_kernel
def test_gradients_are_those_of_central_differences(name):
    queries, keys = drawn(seed=1)
    mix = jnp.asarray(np.random.default_rng(2).normal(size=(4, 5)))

    def mixed(both):
        return (mix * KERNELS[name](*both)).sum()

    slopes, step = jax.grad(mixed)((queries, keys)), 1e-5
    rng = np.random.default_rng(3)
    for _ in range(3):
        along = tuple(jnp.asarray(rng.normal(size=x.shape)) for x in (queries, keys))
        ahead = jax.tree.map(lambda x, d: x + step * d, (queries, keys), along)
        behind = jax.tree.map(lambda x, d: x - step * d, (queries, keys), along)
        measured = (mixed(ahead) - mixed(behind)) / (2 * step)
        exact = sum(float((s * d).sum()) for s, d in zip(slopes, along, strict=True))
        assert abs(measured - exact) < 1e-8 * (1 + abs(exact))


def test_row_normalised_gaussian_is_softmax_with_a_key_bias():
    queries, keys = drawn()
    weights = KERNELS["gaussian"](queries, keys)
    by_rows = weights / weights.sum(-1, keepdims=True)
    assert_close(KERNELS["gaussian-rows"](queries, keys), by_rows)
    same_length = keys / jnp.linalg.norm(keys, axis=-1, keepdims=True)
    assert_close(
        KERNELS["gaussian-rows"](queries, same_length),
        KERNELS["softmax"](queries, same_length),
    )


@every_kernel
@pytest.mark.parametrize("scale", [1e3, 1e8])
def test_huge_distances_leave_numbers_and_gradients_finite(name, scale):
    both = [x.astype("float32") for x in drawn(scale=scale)]
    weights = KERNELS[name](*both)
    slopes = jax.grad(lambda x: KERNELS[name](*x).sum())(both)
    assert all(np.isfinite(part).all() for part in (weights, *slopes))
    if name.startswith("gaussian"):
        assert (np.asarray(weights) <= 1).all()
    if name in ("softmax", "gaussian-rows"):
        assert_close(weights.sum(-1), jnp.ones(4, "float32"))


def test_a_common_shift_does_not_cost_digits():
    queries, keys = drawn()
    near = KERNELS["gaussian"](queries, keys)
    assert_close(KERNELS["gaussian"](queries + 1e6, keys + 1e6), near, slack=1e4)


def test_distances_are_never_negative_and_keep_their_curvature_where_zero():
    same = drawn(queries=7, width=6, scale=1e3)[0]
    assert (np.asarray(squared_distances(same, same)) >= 0).all()
    curvature = jax.hessian(lambda q: squared_distances(q[None], same[:1])[0, 0])
    assert_close(curvature(same[0]), 2 * np.eye(6))


FILE = '''
from piste.attention import kernel
from piste.attention.kernels import squared_distances


@kernel("cauchy")
def cauchy(queries, keys):
    """Weights 1/(1 + d²)."""
    return 1 / (1 + squared_distances(queries, keys))
'''


@pytest.fixture
def cauchy(tmp_path):
    path = tmp_path / "my_kernel.py"
    path.write_text(FILE)
    spec = importlib.util.spec_from_file_location("my_kernel", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    yield module.cauchy
    KERNELS.remove("cauchy")


def test_a_kernel_from_a_users_file_trains(cauchy):
    queries, keys = drawn()
    truth = 1 / (1 + ((queries[:, None] - keys) ** 2).sum(-1))
    assert_close(cauchy(queries, keys), truth)
    experiment = tiny("gd", model__kernel="cauchy", steps=40)
    losses = run(experiment).records["train_loss"]
    assert np.isfinite(losses).all() and losses[-1] < 0.9 * losses[0]


def test_a_kernel_is_known_while_it_is_there(cauchy):
    assert Classifier(kernel="cauchy").kernel == "cauchy"
    with pytest.raises(InputError, match="cauchy, gaussian"):
        Classifier(kernel="cosine")


def test_an_unknown_kernel_is_one_line():
    with pytest.raises(InputError) as caught:
        Classifier(kernel="cauchy")
    line = "kernel = cauchy: must be one of gaussian, gaussian-mean, "
    assert str(caught.value) == line + "gaussian-rows, linear, none, softmax"


def outer(queries, keys):
    return queries @ keys.T


@pytest.mark.parametrize(
    ("name", "function", "line"),
    [
        ("softmax", outer, "kernel = softmax: is the name of another one already"),
        ("Two Words", outer, "kernel = Two Words: must be words of a–z and 0–9"),
        ("-x", outer, "kernel = -x: must be words of a–z and 0–9, joined by -"),
        ("", outer, "kernel = : must be words of a–z and 0–9, joined by -"),
        (
            "turned",
            lambda queries, keys: keys @ queries.T,
            "kernel = turned: 2 queries and 4 keys must give weights of shape "
            r"\(2, 4\), not \(4, 2\)",
        ),
        ("none", lambda queries, keys: None, r"shape \(2, 4\), not None"),
    ],
)
def test_a_bad_kernel_is_refused_and_leaves_nothing(name, function, line):
    before = dict(KERNELS.items())
    with pytest.raises(InputError, match=line):
        kernel(name)(function)
    assert before == dict(KERNELS.items())

"""One table: what every kernel must do, by the contract test that users call too."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from piste.attention import KERNELS, kernel
from piste.attention.kernels import KEY_COUNT, KEY_SUM, NOTHING, OTHER_KEYS, _divisor
from piste.testing import check_kernel
from support.sparsemax import sparsemax


@pytest.mark.parametrize("name", KERNELS)
def test_every_kernel_passes_the_contract(name):
    check_kernel(name)


@pytest.mark.parametrize("name", KERNELS)
def test_what_ours_say_of_padding_is_what_leaving_keys_away_shows(name):
    assert KERNELS[name].divisor == _divisor(KERNELS[name].function)


def cosine(queries, keys):
    lengths = jnp.sqrt((queries**2).sum(-1)[:, None] * (keys**2).sum(-1) + 1e-12)
    return queries @ keys.T / lengths


def mean_of_exponentials(queries, keys):
    return jnp.exp(queries @ keys.T / 9) / keys.shape[0]


def signed_shares(queries, keys):
    """Shares of any sign that add up to 1: partial sums may be negative."""
    places = jnp.arange(keys.shape[0], dtype=keys.dtype)
    scores = queries @ keys.T + 1.5 + 4 * jnp.sin(places)
    return scores / scores.sum(-1, keepdims=True)


@pytest.fixture
def bring():
    before = set(KERNELS)
    yield lambda function, **words: kernel("mine", **words)(function)
    for name in set(KERNELS) - before:
        KERNELS.remove(name)


@pytest.mark.parametrize(
    ("function", "normalised", "divides_by"),
    [
        (cosine, False, NOTHING),
        (mean_of_exponentials, False, KEY_COUNT),
        (lambda q, k: jax.nn.softmax(q @ k.T, -1), True, KEY_SUM),
        (sparsemax, True, OTHER_KEYS),
    ],
)
def test_kernels_of_a_user_pass_it(bring, function, normalised, divides_by):
    bring(function, normalised=normalised)
    assert KERNELS["mine"].divides_by == divides_by
    check_kernel("mine")


def test_shares_whose_partial_sums_are_negative_keep_their_sum(bring):
    bring(signed_shares, normalised=True)
    assert KERNELS["mine"].divides_by == KEY_SUM
    check_kernel("mine")


def counted(queries, keys):
    counted.calls += 1
    return queries @ keys.T + counted.calls


counted.calls = 0


def in_numpy(queries, keys):
    return jnp.asarray(np.asarray(queries) @ np.asarray(keys).T)


@jax.custom_jvp
def bent(scores):
    return scores**2


bent.defjvp(lambda primals, tangents: (bent(primals[0]), 3 * primals[0] * tangents[0]))

BROKEN = {
    "shape": (
        lambda q, k: (q @ k.T) if k.shape[0] > 2 else q,
        "must give weights of shape",
    ),
    "type": (
        lambda q, k: q @ k.T * jnp.float64(0.5),
        "turns float32 into float64; must keep the type",
    ),
    "pure": (counted, "gives other weights when called again; must be pure"),
    "zero": (
        lambda q, k: q @ k.T / jnp.sqrt((q**2).sum(-1))[:, None],
        "its gradient is not finite where all queries and keys are 0",
    ),
    "distance": (
        lambda q, k: jnp.exp(-jnp.sqrt(((q[:, None] - k) ** 2).sum(-1))),
        "its gradient is not finite where a query is equal to a key",
    ),
    "gradient": (lambda q, k: bent(q @ k.T), "in a direction in which finite"),
    "undeclared": (
        lambda q, k: jax.nn.softmax(q @ k.T, -1),
        "its weights add up to 1 for every query; must say normalised=True",
    ),
    "large": (lambda q, k: jnp.exp(1000 + q @ k.T), "its weights are not finite"),
}


@pytest.mark.parametrize("fault", BROKEN)
def test_a_broken_one_is_told_what_is_wrong(bring, fault):
    function, words = BROKEN[fault]
    bring(function)
    with pytest.raises(AssertionError) as caught:
        check_kernel("mine")
    line = str(caught.value)
    assert line.startswith("kernel mine: ") and words in line and "\n" not in line


def test_a_wrong_word_about_sums_or_padding_is_caught(bring):
    bring(cosine, normalised=True)
    with pytest.raises(AssertionError, match="must add up to 1 for every query, as it"):
        check_kernel("mine")
    KERNELS.remove("mine")
    bring(mean_of_exponentials, divisor=NOTHING)
    with pytest.raises(
        AssertionError, match="its weights beside padding are not those"
    ):
        check_kernel("mine")


def test_one_that_is_not_there():
    with pytest.raises(AssertionError, match="kernel nowhere: is not known; add it by"):
        check_kernel("nowhere")


def test_one_that_needs_numbers_in_python_is_caught(bring):
    KERNELS.add("mine", type(KERNELS["softmax"])(in_numpy))
    with pytest.raises(jax.errors.TracerArrayConversionError):
        check_kernel("mine")
    KERNELS.remove("mine")

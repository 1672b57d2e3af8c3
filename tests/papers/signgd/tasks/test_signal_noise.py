"""The signal-noise distribution against its definition, with honest error bars."""

import dataclasses

import jax
import numpy as np
import pytest

from papers.signgd.two_token import SMALL
from piste.errors import InputError
from piste.papers.signgd.tasks import SignalNoise
from piste.streams import Stream, stream
from piste.testing import assert_close
from piste.training import draw
from piste.values import override
from support import reference
from support.small import start

SIZE = 20_000
TASK = SignalNoise(
    dimension=30, noise_coordinates=7, noise_scale=1.5, signal_norm=0.8, samples=SIZE
)


@pytest.fixture(scope="module")
def data():
    return TASK.sample(key=stream(0, Stream.DATA), size=SIZE)


@pytest.fixture(scope="module")
def noise(data):
    return np.asarray(data.tokens())[:, 1]


def test_labels_are_fair_signs(data):
    labels = np.asarray(data.labels)
    assert set(labels) == {-1.0, 1.0}
    assert abs(labels.mean()) < 4 / SIZE**0.5


def test_the_signal_token_is_the_label_times_mu(data):
    signal = np.asarray(data.tokens())[:, 0]
    mu = np.zeros(30)
    mu[0] = 0.8
    np.testing.assert_array_equal(signal, np.asarray(data.labels)[:, None] * mu)


def test_noise_has_exactly_s_coordinates_and_never_the_signal_one(noise):
    # A normal draw is never exactly zero here, so a repeated place would show.
    np.testing.assert_array_equal((noise != 0).sum(1), 7)
    assert not noise[:, 0].any()


@pytest.mark.parametrize("coordinates", [1, 29])
def test_the_extreme_sparsities_hold_exactly(coordinates):
    task = SignalNoise(dimension=30, noise_coordinates=coordinates)
    drawn = np.asarray(task.sample(key=stream(1, Stream.DATA), size=50).tokens())
    np.testing.assert_array_equal((drawn[:, 1, 1:] != 0).sum(1), coordinates)


def test_noise_has_variance_sigma_p_squared(noise):
    values = noise[noise != 0]
    variance = 1.5**2 / 7
    # The mean square of N normals has standard deviation σ²√(2/N).
    assert abs((values**2).mean() - variance) < 4 * variance * (2 / values.size) ** 0.5
    assert abs(values.mean()) < 4 * (variance / values.size) ** 0.5
    # Fourth moment 3σ⁴, standard deviation √96 σ⁴/√N: normal, not merely symmetric.
    kurtosis = (values**4).mean() / variance**2
    assert abs(kurtosis - 3) < 4 * (96 / values.size) ** 0.5


def test_every_coordinate_and_every_pair_is_equally_likely(noise):
    present = (noise[:, 1:] != 0).astype(float)
    share = 7 / 29
    deviation = (share * (1 - share) / SIZE) ** 0.5
    assert np.abs(present.mean(0) - share).max() < 4.5 * deviation
    pairs = (present.T @ present / SIZE)[np.triu_indices(29, 1)]
    both = 7 * 6 / (29 * 28)
    assert np.abs(pairs - both).max() < 4.5 * (both * (1 - both) / SIZE) ** 0.5


def test_noise_is_independent_of_the_label_and_across_samples(noise, data):
    sigma = (1.5**2 / 29) ** 0.5  # of any entry, zeros included
    with_label = (np.asarray(data.labels)[:, None] * noise[:, 1:]).mean(0)
    assert np.abs(with_label).max() < 4.5 * sigma / SIZE**0.5
    neighbours = (noise[:-1] * noise[1:])[:, 1:].sum(1)
    assert abs(neighbours.mean()) < 4 * neighbours.std() / SIZE**0.5


def test_tokens_are_written_out_as_the_oracle_does():
    data = start(SMALL).data
    np.testing.assert_array_equal(np.asarray(data.tokens()), reference.tokens(data))


def test_streams_are_distinct_and_uncorrelated():
    keys = {bytes(jax.random.key_data(stream(0, purpose))) for purpose in Stream}
    assert len(keys) == len(Stream)
    draws = [jax.random.normal(stream(0, purpose), (SIZE,)) for purpose in Stream]
    correlations = np.corrcoef(np.stack(draws))[np.triu_indices(len(Stream), 1)]
    assert np.abs(correlations).max() < 4 / SIZE**0.5


def test_stream_numbers_are_append_only():
    numbers = {"INIT": 0, "DATA": 1, "TEST": 2, "BATCH": 3, "PROBE": 4}
    assert {purpose.name: purpose.value for purpose in Stream} == numbers


def test_one_stream_does_not_notice_what_another_draws():
    before = start(SMALL)
    tested = draw(override(SMALL, {"task.test-samples": 77, "model.key-width": 9}))
    longer = draw(override(SMALL, {"task.samples": 9}))
    assert_close(tested.data, before.data, slack=0)
    assert_close(tested.weights.value_plus, before.weights.value_plus, slack=0)
    assert_close(longer.weights, before.weights, slack=0)
    assert_close(longer.test, before.test, slack=0)


def test_another_seed_changes_all_of_it():
    one, other = start(SMALL), draw(override(SMALL, {"seed": 1}))
    for here, there in (
        (one.data.basis[1:], other.data.basis[1:]),
        (one.test.basis[1:], other.test.basis[1:]),
        (one.weights.query, other.weights.query),
    ):
        same = np.asarray(here == there) & (np.asarray(here) != 0)
        assert not same.any()
    assert not np.array_equal(one.data.basis[1:], one.test.basis[1:7])


# --- structured noise ------------------------------------------------------------------


def noise_of(size=SIZE, **fields):
    """Noise tokens of the small task with other fields, without the signal's place."""
    task = dataclasses.replace(TASK, **fields)
    drawn = task.sample(key=stream(0, Stream.DATA), size=size)
    return np.asarray(drawn.basis)[1:, 1:]


def second_moment(values):
    """Mean and standard error of squared norms."""
    squares = (values**2).sum(-1)
    return squares.mean(), squares.std() / squares.size**0.5


@pytest.mark.parametrize("kind", ["sparse", "correlated", "shared"])
def test_every_kind_of_noise_has_the_same_expected_squared_norm(kind):
    mean, error = second_moment(noise_of(noise=kind))
    assert abs(mean - 1.5**2) < 4.5 * error


def test_correlated_noise_has_the_same_places_and_marginals(noise):
    drawn = noise_of(noise="correlated")
    np.testing.assert_array_equal(drawn != 0, noise[:, 1:] != 0)
    values, variance = drawn[drawn != 0], 1.5**2 / 7
    # Entries of a sample are dependent, so the error bars count samples.
    assert abs((values**2).mean() - variance) < 4 * variance * (2 / SIZE) ** 0.5
    assert abs((values**4).mean() / variance**2 - 3) < 4 * (96 / SIZE) ** 0.5


@pytest.mark.parametrize("rho", [0.0, 0.6, 0.95])
def test_correlation_falls_by_a_factor_with_every_coordinate(rho):
    drawn = noise_of(noise="correlated", noise_correlation=rho)
    for distance in (1, 2, 5):
        here, there = drawn[:, :-distance], drawn[:, distance:]
        both = (here != 0) & (there != 0)
        products = (here * there)[both] / (1.5**2 / 7)
        # Samples are independent, pairs within one are not: up to 7 in each.
        error = products.std() * (7 / products.size) ** 0.5
        assert abs(products.mean() - rho**distance) < 4 * error


def test_one_coordinate_can_be_correlated_with_nothing():
    one = noise_of(size=50, noise="correlated", noise_coordinates=1)
    np.testing.assert_array_equal(
        one, noise_of(size=50, noise="sparse", noise_coordinates=1)
    )


@pytest.mark.parametrize("share", [0.0, 0.3, 0.8])
def test_shared_noise_has_its_share_along_one_direction(share):
    drawn = noise_of(noise="shared", noise_shared=share)
    levels, vectors = np.linalg.eigh(drawn.T @ drawn / SIZE)
    # Along u: q σ_p² s, and what the sparse part has in any direction.
    top = share * 1.5**2 + (1 - share) * 1.5**2 / 29
    # The largest of 29 equal levels is above their mean; the spike is not.
    assert abs(levels[-1] / top - 1) < (0.1 if share == 0 else 0.05)
    if share:
        assert (np.abs(vectors[:, -1]) > 0.05).sum() <= 7


def test_training_and_test_noise_share_the_direction_and_other_seeds_do_not():
    def direction(data):
        noise = np.asarray(data.basis)[1:]
        return np.linalg.eigh(noise.T @ noise)[1][:, -1]

    task = dataclasses.replace(
        TASK, noise="shared", noise_shared=0.9, samples=400, test_samples=400
    )
    train, test = task.datasets(None, seed=0)
    other, _ = task.datasets(None, seed=1)
    assert abs(direction(train) @ direction(test)) > 0.99
    assert abs(direction(train) @ direction(other)) < 0.9


def test_shared_noise_is_far_from_orthogonal():
    def cosine(**fields):
        cosines = np.corrcoef(noise_of(size=400, **fields))
        return np.abs(cosines[np.triu_indices(400, 1)]).mean()

    assert cosine(noise="shared", noise_shared=0.9) > 3 * cosine(noise="sparse")


def test_the_kind_of_noise_changes_neither_labels_nor_signals(data):
    for kind in ("correlated", "shared"):
        task = dataclasses.replace(TASK, noise=kind)
        drawn = task.sample(key=stream(0, Stream.DATA), size=SIZE)
        assert_close(drawn.labels, data.labels, slack=0)
        assert_close(drawn.tokens()[:, 0], data.tokens()[:, 0], slack=0)


def test_the_floats_of_structured_noise_are_traced():
    traces = []

    @jax.jit
    def noise_row(task):
        traces.append(task)
        return task.sample(key=stream(0, Stream.DATA), size=3).basis[1]

    tasks = [
        dataclasses.replace(TASK, noise="correlated", noise_correlation=rho)
        for rho in (0.1, 0.7)
    ]
    one, other = (np.asarray(noise_row(task)) for task in tasks)
    assert len(traces) == 1 and not np.array_equal(one, other)


@pytest.mark.parametrize(
    ("fields", "line"),
    [
        (
            {"noise": "pink"},
            "noise = pink: must be one of sparse, correlated, shared",
        ),
        ({"noise_correlation": 1.0}, "noise-correlation = 1.0: must be less than 1"),
        ({"noise_correlation": -0.1}, "noise-correlation = -0.1: must be at least 0"),
        ({"noise_shared": 1.0}, "noise-shared = 1.0: must be less than 1"),
        ({"noise_shared": -0.1}, "noise-shared = -0.1: must be at least 0"),
    ],
)
def test_a_bad_field_is_one_line(fields, line):
    with pytest.raises(InputError) as caught:
        SignalNoise(**fields)
    assert str(caught.value) == line

"""Decision lists: drawn and explicit instances, labels, distributions, mistakes."""

import itertools

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from piste.errors import InputError
from piste.papers.decision_lists.tasks import DISTRIBUTIONS, DecisionLists, Instance
from piste.papers.decision_lists.tasks.sequences import (
    IndependentTokens,
    PoissonSets,
    UniformSets,
    WeightedSets,
)


def draw(seed=0, **fields):
    return DecisionLists(**fields).instance(key=jax.random.key(seed))


def small(distribution, seed=0):
    return draw(
        seed,
        vocabulary=7,
        length=3,
        list_bound=3,
        distribution=distribution,
        support_sets=9,
    )


def plain_labels(instance, sequence):
    labels = []
    for a in sequence:
        listed = instance.lists[a][: instance.list_lengths[a]]
        labels.append(instance.permutation[next(b for b in listed if b in sequence)])
    return labels


@pytest.mark.parametrize("distribution", DISTRIBUTIONS)
def test_an_instance_is_well_formed_and_determined_by_its_key(distribution):
    one, same, other = (small(distribution, seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(one.lists, same.lists)
    assert (one.lists != other.lists).any()
    for a, m in enumerate(one.list_lengths):
        listed = one.lists[a, :m].tolist()
        assert listed[-1] == a and len(set(listed)) == m
    assert sorted(one.permutation.tolist()) == list(range(7))


@pytest.mark.parametrize("distribution", DISTRIBUTIONS)
def test_rows_are_a_distribution_that_sampling_follows(distribution):
    sequences = small(distribution).sequences
    tokens, probability = sequences.rows()
    assert len(tokens) == sequences.count()
    np.testing.assert_allclose(probability.sum(), 1, rtol=1e-12)
    draws = np.sort(np.asarray(sequences.sample(key=jax.random.key(3), size=4000)))
    index = {tuple(row): i for i, row in enumerate(np.sort(tokens).tolist())}
    counts = np.bincount([index[tuple(row)] for row in draws], minlength=len(tokens))
    deviation = (counts - 4000 * probability) / np.sqrt(4000 * probability)
    assert (deviation**2).mean() < 1.6


def test_independent_rows_count_every_order():
    sequences = IndependentTokens(np.array([0.5, 0.3, 0.2]), 3)
    found = {tuple(row): p for row, p in zip(*sequences.rows(), strict=True)}
    for order in itertools.product(range(3), repeat=3):
        found[tuple(sorted(order))] -= sequences.probability[list(order)].prod()
    np.testing.assert_allclose(list(found.values()), 0, atol=1e-15)


@pytest.mark.parametrize("distribution", ["uniform", "iid"])
def test_labels_follow_the_lists(distribution):
    instance = small(distribution)
    tokens = np.asarray(instance.sequences.sample(key=jax.random.key(0), size=50))
    expected = [plain_labels(instance, row) for row in tokens]
    np.testing.assert_array_equal(instance.labels(tokens), expected)
    np.testing.assert_array_equal(
        eqx.filter_jit(instance.labels)(jnp.array(tokens)), expected
    )


def test_fixed_lengths_and_a_large_vocabulary():
    instance = draw(vocabulary=100_000, length=50, list_bound=9, list_lengths="fixed")
    assert set(instance.list_lengths) == {9}
    random = draw(vocabulary=500, length=50, list_bound=9)
    assert set(random.list_lengths) == set(range(1, 10))


def test_a_random_support_holds_every_token():
    tokens, _ = small("support").sequences.rows()
    assert set(tokens.ravel()) == set(range(7))
    assert len({tuple(row) for row in tokens}) == 9


def test_a_random_support_may_have_dirichlet_weights():
    equal, weighted = (
        small(kind).sequences.rows() for kind in ("support", "dirichlet-support")
    )
    np.testing.assert_array_equal(equal[0], weighted[0])
    assert np.ptp(equal[1]) == 0 and (weighted[1] > 0).all()
    assert weighted[1].max() > 3 * weighted[1].min()


def test_an_explicit_instance_keeps_what_it_was_given():
    lists = [(1, 0), (1,), (0, 1, 2), (3,)]
    instance = Instance.of(lists, UniformSets(4, 2), permutation=[3, 2, 1, 0])
    assert instance.list_lengths.tolist() == [2, 1, 3, 1]
    assert instance.labels(np.array([[2, 3], [2, 1]])).tolist() == [[1, 0], [2, 2]]


FINE = [(0,), (1,), (2,)]


@pytest.mark.parametrize(
    ("lists", "said"),
    [
        ([(0,), (1, 2), (2,)], r"lists\[1\] = \(1, 2\): must end in its own token, 1"),
        ([(0,), (), (2,)], r"lists\[1\] = \(\): must end in its own token, 1"),
        ([(0,), (1, 1), (2,)], r"lists\[1\] = \(1, 1\): must not repeat a token"),
        ([(0,), (1,), (7, 2)], r"lists\[2\] = \(7, 2\): must hold tokens from 0 to 2"),
        ([(0,), (1,), (1, 0, 2)], "must be shorter than vocabulary = 3"),
        (FINE[:2], "lists = 2 lists: must be one list per token, 3"),
    ],
)
def test_lists_that_are_refused(lists, said):
    with pytest.raises(InputError, match=said):
        Instance.of(lists, UniformSets(3, 2))


def test_a_permutation_that_is_refused():
    with pytest.raises(InputError, match="permutation = .*: must hold 0 … 2 once each"):
        Instance.of(FINE, UniformSets(3, 2), permutation=[0, 0, 1])


SETS = np.array([[0, 1], [1, 2]])


@pytest.mark.parametrize(
    ("build", "said"),
    [
        (lambda: UniformSets(3, 4), "length = 4: must be between 1 and vocabulary = 3"),
        (
            lambda: WeightedSets(SETS, np.array([0.5, 0.4]), 3),
            "probability = sum 0.9: must sum to 1",
        ),
        (
            lambda: WeightedSets(SETS, np.array([1.5, -0.5]), 3),
            "probability = -0.5: must be at least 0",
        ),
        (
            lambda: WeightedSets(SETS, np.array([0.5, 0.5]), 2),
            "tokens = 2: must be less than 2",
        ),
        (
            lambda: WeightedSets(np.array([[1, 1]]), np.array([1.0]), 3),
            r"tokens = 1,1: must be distinct",
        ),
        (
            lambda: WeightedSets(SETS, np.array([1.0]), 3),
            "must have one row per probability",
        ),
        (
            lambda: PoissonSets(np.array([1.0, 0.0]), 1),
            "weights = 0.0: must be greater than 0",
        ),
        (lambda: IndependentTokens(np.array([0.9]), 2), "probability = sum 0.9"),
        (lambda: draw(vocabulary=4, list_bound=4), "list-bound = 4: must be below"),
        (
            lambda: draw(vocabulary=5, length=6),
            "length = 6: .* or use distribution iid",
        ),
        (
            lambda: draw(vocabulary=60, length=20, distribution="dirichlet"),
            r"distribution = dirichlet: 4.2e\+15 sets to weigh, .* use support",
        ),
        (
            lambda: draw(distribution="support", support_sets=2),
            "support-sets = 2: must be between L/n = 5",
        ),
        (
            lambda: draw(distribution="dirichlet-support", support_sets=2),
            "support-sets = 2: must be between L/n = 5",
        ),
        (lambda: draw(distribution="unifrm"), "must be one of uniform, dirichlet"),
    ],
)
def test_mistakes_are_one_clear_line(build, said):
    with pytest.raises(InputError, match=said) as raised:
        build()
    assert "\n" not in str(raised.value)

"""All populations against the literal formula and against each other, gradients too."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from piste.errors import InputError
from piste.papers.decision_lists.forms import (
    MonteCarlo,
    PartitionPopulation,
    ReducedPopulation,
    choose_population_form,
    population_loss,
)
from piste.papers.decision_lists.models import (
    OneHot,
    OneHotWeights,
    label_loss,
    matrix_logits,
)
from piste.papers.decision_lists.tasks import DISTRIBUTIONS, DecisionLists, Instance
from piste.papers.decision_lists.tasks.sequences import IndependentTokens

SCALE = 7.3


def draw(distribution, vocabulary=6, length=3, list_bound=3, seed=1, **fields):
    task = DecisionLists(
        vocabulary=vocabulary,
        length=length,
        list_bound=list_bound,
        distribution=distribution,
        support_sets=8,
        **fields,
    )
    return task.instance(key=jax.random.key(seed))


def permutation_matrix(instance):
    size = instance.vocabulary
    return jnp.zeros((size, size)).at[instance.permutation, np.arange(size)].set(1.0)


def literal_loss(instance, weights):
    """The expectation of the formula with one-hot matrices, a sequence at a time."""
    tokens, probability = instance.sequences.rows()
    columns = jax.nn.one_hot(tokens, instance.vocabulary, axis=1)

    def one(columns, labels):
        return label_loss(matrix_logits(weights, columns), labels)

    return probability @ jax.vmap(one)(columns, instance.labels(tokens))


@eqx.filter_jit
def seen(population, attention, scale):
    """All that is compared, in one program."""
    return (
        population.attention_loss(attention, scale),
        population.column_losses(attention, scale),
        population.attention_gradient(attention, scale),
        population.margin(attention),
    )


def assert_same(one, other):
    scale = np.abs(other).max()
    # The last term is for gradients that are exactly zero.
    np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-12 * scale + 1e-30)


@pytest.mark.parametrize("distribution", DISTRIBUTIONS)
def test_listed_sequences_equal_the_literal_formula(distribution):
    instance = draw(distribution)
    population = population_loss(instance, "enumeration")
    weights = OneHot(init_scale=1.0).init(key=jax.random.key(0), vocabulary=6)

    def loss(weights):
        return population.loss(weights.attention, weights.value)

    def literal(weights):
        return literal_loss(instance, weights)

    found, slope = jax.jit(jax.value_and_grad(loss))(weights)
    expected, expected_slope = jax.jit(jax.value_and_grad(literal))(weights)
    assert_same(found, expected)
    jax.tree.map(assert_same, slope, expected_slope)


@pytest.mark.parametrize("distribution", DISTRIBUTIONS)
def test_columns_equal_the_literal_formula_with_a_permutation(distribution):
    instance = draw(distribution)
    population = population_loss(instance, "enumeration")
    attention = jax.random.normal(jax.random.key(5), (6, 6))
    value = SCALE * permutation_matrix(instance)

    def literal(attention):
        return literal_loss(instance, OneHotWeights(attention, value))

    expected, expected_slope = jax.jit(jax.value_and_grad(literal))(attention)
    loss, losses, slope, _ = seen(population, attention, SCALE)
    assert_same(loss, expected)
    assert_same(slope, expected_slope)
    assert_same(population.frequency @ losses, expected)


@pytest.mark.parametrize(
    ("distribution", "size", "length", "bound"),
    [
        ("uniform", 7, 3, 3),
        ("uniform", 6, 5, 4),
        ("uniform", 5, 1, 2),
        ("uniform", 9, 4, 1),
        ("iid", 6, 4, 3),
        ("iid", 4, 5, 2),
        ("iid", 3, 6, 1),
    ],
)
def test_exchangeable_populations_equal_enumeration(distribution, size, length, bound):
    instance = draw(distribution, size, length, bound)
    short, full = population_loss(instance), population_loss(instance, "enumeration")
    assert isinstance(short, (ReducedPopulation, PartitionPopulation))
    shape = short.initial().shape
    scores = short.condense(
        short.expand(jax.random.normal(jax.random.key(2), shape), instance)
    )
    matrix = short.expand(scores, instance)
    loss, losses, slope, margin = seen(short, scores, 50.0)
    expected = seen(full, matrix, 50.0)
    assert_same(loss, expected[0])
    assert_same(losses[short.column], expected[1])
    assert_same(short.expand(slope, instance), expected[2])
    assert_same(margin, expected[3])


def test_support_and_enumeration_are_the_same_sum():
    instance = draw("dirichlet")
    attention = jax.random.normal(jax.random.key(5), (6, 6))
    one, other = (
        population_loss(instance, name) for name in ("support", "enumeration")
    )
    assert_same(
        one.attention_loss(attention, 3.0), other.attention_loss(attention, 3.0)
    )


def test_the_reduced_form_at_a_million_tokens():
    instance = draw("uniform", 10**6, 5000, 12, list_lengths="fixed")
    population = jax.tree.map(jnp.asarray, population_loss(instance))
    assert population.cases.key.shape == (2**11, 13)
    np.testing.assert_allclose(population.cases.weight.sum(), 1, rtol=1e-13)
    # At W = 0 every token has mass 1/n, so the loss has a closed form.
    n, size, c = 5000, 10**6, 3e4
    loss, _, slope, _ = seen(population, population.initial(), c)
    assert_same(loss, np.log(n + (size - n) * np.exp(-c / n)))
    assert np.isfinite(slope).all()


@pytest.mark.parametrize("c", [1e3, 1e6])
def test_large_scales_overflow_nowhere(c):
    population = population_loss(draw("iid", 6, 4, 3))
    scores = 30 * jax.random.normal(jax.random.key(0), population.initial().shape)
    for part in seen(population, scores, c):
        assert np.isfinite(part).all()


@pytest.mark.parametrize("distribution", DISTRIBUTIONS)
def test_monte_carlo_agrees_within_its_standard_error(distribution):
    instance = draw(distribution)
    exact = population_loss(instance, "enumeration")
    batches = population_loss(instance, "monte-carlo", batch=2000)
    weights = OneHot(init_scale=1.0).init(key=jax.random.key(0), vocabulary=6)
    given = weights.attention, weights.value
    key = jax.random.key(1)
    found = eqx.filter_jit(batches.loss)(*given, key=key)
    assert 0 < found.standard_error < 0.1
    assert abs(found.mean - exact.loss(*given)) < 4 * found.standard_error
    scaled = eqx.filter_jit(batches.attention_loss)(given[0], SCALE, key=key)
    error = scaled.mean - seen(exact, given[0], SCALE)[0]
    assert abs(error) < 4 * scaled.standard_error


def test_the_choice_of_a_form():
    assert choose_population_form(draw("uniform", 30, 6)) == "reduced"
    assert choose_population_form(draw("uniform"), train_value=True) == "enumeration"
    assert (
        choose_population_form(draw("uniform", 40, 12), train_value=True)
        == "monte-carlo"
    )
    assert choose_population_form(draw("support")) == "support"
    assert choose_population_form(draw("poisson")) == "enumeration"
    assert choose_population_form(draw("poisson", 60, 12)) == "monte-carlo"
    assert choose_population_form(draw("iid", 30, 24, 3)) == "partitions"
    assert choose_population_form(draw("iid", 30, 60, 3)) == "monte-carlo"
    assert isinstance(population_loss(draw("iid", 30, 60, 3)), MonteCarlo)


def test_tokens_of_unequal_probability_are_enumerated():
    probability = np.array([0.4, 0.3, 0.2, 0.1])
    lists = [(1, 0), (1,), (2,), (0, 2, 3)]
    instance = Instance.of(lists, IndependentTokens(probability, 3))
    assert choose_population_form(instance) == "enumeration"
    population = population_loss(instance)
    np.testing.assert_allclose(population.frequency, probability)
    weights = OneHot(init_scale=1.0).init(key=jax.random.key(0), vocabulary=4)
    found = population.loss(weights.attention, weights.value)
    assert_same(found, literal_loss(instance, weights))


@pytest.mark.parametrize(
    ("build", "said"),
    [
        (
            lambda: population_loss(draw("uniform", 40, 12), "enumeration"),
            r"form = enumeration: 6.7e\+10 rows, at most 1e\+06; use reduced \(V = cP\)",
        ),
        (
            lambda: population_loss(draw("poisson", 40, 12), "enumeration"),
            r"6.7e\+10 rows, at most 1e\+06; use monte-carlo",
        ),
        (
            lambda: population_loss(draw("iid", 30, 60, 3), "partitions"),
            r"form = partitions: .* cases, at most 5e\+05; use monte-carlo",
        ),
        (
            lambda: population_loss(draw("iid"), "reduced"),
            "needs uniform sets; use auto",
        ),
        (lambda: population_loss(draw("uniform"), "partitions"), "independent uniform"),
        (lambda: population_loss(draw("uniform"), "support"), "needs a finite support"),
        (lambda: population_loss(draw("uniform"), "fast"), "must be one of auto, enum"),
        (
            lambda: population_loss(draw("uniform", 40, 12, 30, list_lengths="fixed")),
            r"form = reduced: lists of 30 make 5.4e\+08 cases",
        ),
        (
            lambda: population_loss(draw("uniform")).loss(jnp.eye(6), jnp.eye(6)),
            "form = reduced: holds for V = cP alone",
        ),
    ],
)
def test_mistakes_are_one_clear_line(build, said):
    with pytest.raises(InputError, match=said) as raised:
        build()
    assert "\n" not in str(raised.value)

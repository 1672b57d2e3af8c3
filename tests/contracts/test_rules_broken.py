"""The contract test of rules finds what is wrong, and asks for nothing not promised."""

import jax
import jax.numpy as jnp
import optax
import pytest

from piste.registry import _NAMES
from piste.rules import RULES, AbstractDescent, AbstractRule, rule
from piste.testing import check_rule
from piste.values import option


@pytest.fixture(autouse=True)
def known():
    """What a test adds is gone after it."""
    before = set(RULES)
    yield
    for name in set(RULES) - before:
        _NAMES.pop(RULES[name])
        RULES.remove(name)


def memoryless(step):
    """An optax transformation of the gradient alone."""
    return optax.GradientTransformation(
        lambda params: optax.EmptyState(),
        lambda updates, state, params=None: (step(updates, params), state),
    )


def each(function):
    return memoryless(lambda updates, params: jax.tree.map(function, updates))


def made(transform, **promises):
    """A rule with one float, a transformation of it and of the norm, and promises."""

    @rule("mine")
    class Mine(AbstractDescent):
        odd = promises.get("odd", False)
        entrywise = promises.get("entrywise", False)
        along_gradient = promises.get("along_gradient", False)
        equal_steps = promises.get("equal_steps", False)
        sign_of_gradient = promises.get("sign_of_gradient", False)
        rate: float = option(default=0.1, greater_than=0)

        def transform(self, norm):
            return transform(self.rate, norm)

    return Mine


def decay(rate, norm):
    def step(updates, params):
        return jax.tree.map(lambda g, w: -rate * (g + w + 1.0), updates, params)

    return memoryless(step)


def muon(rate, norm):
    def one(gradient):
        if gradient.ndim < 2:
            return -rate * gradient
        left, _, right = jnp.linalg.svd(gradient, full_matrices=False)
        return -rate * left @ right

    return each(one)


def heavy(rate, norm):
    return optax.sgd(rate, momentum=0.9)


def noisy(rate, norm):
    noise = optax.add_noise(0.1, 0.5, 0)
    return optax.chain(noise, optax.scale(-1.0), optax.scale(rate))


def softsign(rate, norm):
    return each(lambda g: -rate * g / (1 + jnp.abs(g)))


@pytest.mark.parametrize("transform", [decay, muon, heavy, softsign])
def test_nothing_is_asked_that_is_not_promised(transform):
    check_rule(made(transform))


def test_momentum_keeps_the_promises_that_it_can():
    check_rule(made(heavy, odd=True, entrywise=True, along_gradient=True))


def global_norm(rate, norm):
    def step(updates, params):
        squares = [(leaf**2).sum() for leaf in jax.tree.leaves(updates)]
        length = jnp.sqrt(sum(squares))
        return jax.tree.map(lambda g: -rate * g / length, updates)

    return optax.GradientTransformation(
        lambda params: optax.EmptyState(), lambda u, s, p=None: (step(u, p), s)
    )


def uneven(rate, norm):
    return each(lambda g: -rate * (g + g**2))


def by_array(rate, norm):
    return each(lambda g: -rate * g / jnp.sqrt((g**2).sum()))


ENTRYWISE = {
    "it moves a weight that never had a gradient": lambda rate, norm: each(
        lambda g: -rate * (g + g.sum())
    ),
    "an entry's update depends on where it stands": by_array,
    "it does not measure gradients by the norm that it is given": global_norm,
}


def test_a_rule_may_be_entrywise_and_not_odd():
    check_rule(made(uneven, entrywise=True))


def test_a_rule_may_be_odd_and_not_entrywise():
    check_rule(made(muon, odd=True))


def test_a_broken_promise_of_oddness():
    words = "opposite gradients do not give opposite updates"
    assert_says(made(uneven, odd=True), f"promises odd, but {words}")


@pytest.mark.filterwarnings("ignore:.*divide")
@pytest.mark.parametrize("words", ENTRYWISE)
def test_a_broken_promise_of_entries(words):
    if "norm" in words or "where" in words:  # both are 0/0 without a gradient

        def careful(rate, norm, broken=ENTRYWISE[words]):
            def step(updates, params):
                found, _ = broken(rate, norm).update(
                    updates, optax.EmptyState(), params
                )
                return jax.tree.map(jnp.nan_to_num, found)

            return memoryless(step)
    else:
        careful = ENTRYWISE[words]
    assert_says(made(careful, entrywise=True), f"promises entrywise, but {words}")


@pytest.mark.parametrize(
    ("transform", "promise", "words"),
    [
        (muon, "along_gradient", "it leaves the span of the gradients"),
        (
            lambda rate, norm: each(lambda g: -rate * jnp.sign(g)),
            "along_gradient",
            "it leaves the span of the gradients",
        ),
        (softsign, "equal_steps", "one entry moves by"),
        (softsign, "sign_of_gradient", "gradients of equal signs and other sizes"),
        (
            lambda rate, norm: optax.lion(rate, 0.9, 0.99, weight_decay=0.0),
            "sign_of_gradient",
            "gradients of equal signs and other sizes",
        ),
    ],
)
def test_another_broken_promise(transform, promise, words):
    broken = made(transform, **{promise: True})
    assert_says(broken, f"promises {promise}, but {words}")


def assert_says(broken, words):
    with pytest.raises(AssertionError) as caught:
        check_rule(broken)
    line = str(caught.value)
    assert line.startswith("rule mine: ") and words in line and "\n" not in line


def counting(rate, norm):
    def update(updates, state, params=None):
        return jax.tree.map(lambda g: -rate * g, updates), {"count": state["count"] + 1}

    return optax.GradientTransformation(lambda params: {"count": 0}, update)


def growing(rate, norm):
    def update(updates, state, params=None):
        step = jax.tree.map(lambda g: -rate * g, updates)
        return step, jnp.concatenate([state, state[:1]])

    def init(params):
        return params["vector"][:1]

    return optax.GradientTransformation(init, update)


CALLS = []


def impure(rate, norm):
    def one(g):
        CALLS.append(0)
        return -rate * g * len(CALLS)

    return each(one)


BROKEN = {
    "transform gives a tuple; must be optax's": lambda rate, norm: (1, 2),
    "turns gradients in float32 into updates in float64": lambda rate, norm: each(
        lambda g: -rate * g * jnp.float64(1)
    ),
    "its state holds a int; must be JAX arrays": counting,
    "its state holds a random key; must be jax.random.key_data of it": noisy,
    "its state changes its shape or type with the first update": growing,
    "gives another update when called again; must be pure": impure,
    "does not move anything in 3 updates": lambda rate, norm: optax.set_to_zero(),
    "its update is not finite where the gradient is 0": by_array,
}


@pytest.mark.parametrize("words", BROKEN)
def test_a_broken_one_is_told_what_is_wrong(words):
    assert_says(made(BROKEN[words]), words)


def test_a_float_that_is_used_in_python_is_caught():
    class Setting(AbstractDescent):
        rate: float = 0.1
        power: int = 1

        def transform(self, norm):
            return each(lambda g: -self.rate * g**self.power)

    made = rule("mine")(Setting)
    words = "is compiled 2 times for 2 settings of its floats"
    with pytest.raises(AssertionError, match=words):
        check_rule(made(), made(power=3))  # a whole number is static
    with pytest.raises(
        AssertionError, match="two settings of its floats give the same"
    ):
        check_rule(made(), made())


def test_a_value_that_json_cannot_bring_back_is_caught():
    @rule("mine")
    class Listed(AbstractDescent):
        rate: float = 0.1
        names: object = ("a", "b")

        def transform(self, norm):
            return optax.sgd(self.rate)

    with pytest.raises(AssertionError, match="^rule mine: its JSON cannot be read "):
        check_rule(Listed)


def test_a_class_that_nobody_knows_is_caught():
    class Plain(AbstractDescent):
        def transform(self, norm):
            return optax.sgd(0.1)

    with pytest.raises(AssertionError, match="rule Plain: is not known by a name; dec"):
        check_rule(Plain)


def test_a_rule_that_nothing_can_train_by_is_caught():
    @rule("mine")
    class Vague(AbstractRule):
        pass

    with pytest.raises(AssertionError, match="inherits from neither AbstractDescent"):
        check_rule(Vague)


def test_a_promise_must_be_true_or_false():
    broken = made(heavy, entrywise="yes")
    assert_says(broken, "entrywise = 'yes'; must be True or False")

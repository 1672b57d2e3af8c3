"""One table: what every update rule must do, by the contract test that users call too."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from piste.rules import RULES
from piste.testing import assert_close, check_rule

# A new rule is a new row: two settings of its floats.
TABLE = {
    "signgd": ({"learning_rate": 1e-4}, {"learning_rate": 0.3}),
    "gd": ({"learning_rate": 1e-4}, {"learning_rate": 0.3}),
    "normalised-gd": ({"learning_rate": 1e-4}, {"learning_rate": 0.3}),
    "adam": (
        {"learning_rate": 1e-4, "b1": 0.9, "b2": 0.999, "eps": 1e-8},
        {"learning_rate": 0.3, "b1": 0.0, "b2": 0.0, "eps": 0.0},
        {"learning_rate": 0.3, "clip": 0.1},
    ),
    "lion": (
        {"learning_rate": 1e-4, "b1": 0.9, "b2": 0.99},
        {"learning_rate": 0.3, "b1": 0.5, "b2": 0.1},
    ),
    "momentum": (
        {"learning_rate": 1e-4, "decay": 0.9},
        {"learning_rate": 0.3, "decay": 0.0},
    ),
    "sign-momentum": (
        {"learning_rate": 1e-4, "decay": 0.9},
        {"learning_rate": 0.3, "decay": 0.5},
    ),
    "muon": (
        {"learning_rate": 1e-4, "decay": 0.95},
        {"learning_rate": 0.3, "decay": 0.0},
    ),
}


def test_the_table_has_a_row_for_every_rule():
    # The flow is no discrete rule: it has tests of its own.
    assert set(TABLE) == set(RULES) - {"flow"}


@pytest.mark.parametrize("word", TABLE)
def test_every_rule_passes_the_contract(word):
    check_rule(*(RULES[word](**settings) for settings in TABLE[word]))
    check_rule(RULES[word])


def test_the_flow_passes_what_concerns_it():
    check_rule(RULES["flow"])


def test_what_ours_promise():
    promised = {
        name: {word for word in PROMISES if getattr(rule, word)}
        for name, rule in RULES.items()
    }
    assert promised == {
        "adam": {"odd", "entrywise"},
        "flow": {"odd", "entrywise", "along_gradient"},
        "gd": {"odd", "entrywise", "along_gradient"},
        "lion": {"odd", "entrywise", "equal_steps"},
        "momentum": {"odd", "entrywise", "along_gradient"},
        "muon": {"odd"},
        "normalised-gd": {"odd", "entrywise", "along_gradient"},
        "sign-momentum": {"odd", "entrywise", "equal_steps"},
        "signgd": {"odd", "entrywise", "equal_steps", "sign_of_gradient"},
    }


PROMISES = ("odd", "entrywise", "along_gradient", "equal_steps", "sign_of_gradient")


@pytest.mark.parametrize("word", TABLE)
def test_no_gradient_no_update(word):
    """All of ours are odd, so this is theirs, if not every rule's."""
    for settings in TABLE[word]:
        transform = RULES[word](**settings).transform(lambda tree: jnp.zeros(()))
        zeros = {"matrix": jnp.zeros((3, 4)), "vector": jnp.zeros(5)}
        updates, state = transform.update(zeros, transform.init(zeros), zeros)
        assert_close(updates, zeros)
        assert all(np.isfinite(leaf).all() for leaf in jax.tree.leaves(state))

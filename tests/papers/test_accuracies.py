"""Shares of right and wrong: what is not a number is neither."""

import jax.numpy as jnp
import numpy as np

from piste.papers.decision_lists.probes import ListView
from piste.probes.classification import SetScores


def test_logits_that_are_no_numbers_have_no_accuracy():
    labels = jnp.array([0, 1])
    assert (
        float(SetScores(jnp.array([[2.0, 1.0], [2.0, 1.0]]), labels).accuracy()) == 0.5
    )
    assert np.isnan(SetScores(jnp.full((2, 2), jnp.nan), labels).accuracy())


def test_a_population_with_a_margin_that_is_no_number_has_no_accuracy():
    def view(margins):
        zero, half = jnp.zeros(()), jnp.full(2, 0.5)
        return ListView(zero, zero, jnp.array(margins), half, half)

    assert float(view([1.0, -1.0]).accuracy()) == 0.5
    assert np.isnan(view([1.0, jnp.nan]).accuracy())

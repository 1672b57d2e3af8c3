"""Training that ends at a record: the same numbers as without, and the state there."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from piste.probes import RARELY, Probe
from piste.rules import GD
from piste.training import AbstractForm, Plan, System, at_rates, train, train_cells


class Bowl(AbstractForm):
    """Half the squared distance from zero: gradient descent shrinks it."""

    start: jax.Array

    def initial(self):
        return self.start

    def loss_and_gradient(self, params, step=0):
        return (params**2).sum() / 2, params

    def view(self, params):
        return params

    def test_view(self, params):
        return params

    def probes(self):
        loss = Probe("train_loss", "$L$", "loss", lambda x: (x**2).sum() / 2)
        size = Probe("size", "$x$", "length", jnp.linalg.norm, along=RARELY)
        return loss, size


def bowl(rate=0.5):
    return System(Bowl(jnp.array([4.0, 0.0])), GD(rate))


PLAN = Plan(np.arange(12), np.arange(12) % 2 == 0, 5)


@pytest.mark.parametrize(("below", "last"), [(1.0, 2), (1e-2, 5), (1e-3, 7), (0, None)])
def test_it_ends_at_the_first_record_that_is_meant(below, last):
    with jax.enable_x64(True):
        whole = list(train(bowl(), PLAN, bowl().start()))
        stop = lambda records: records["train_loss"] < below  # noqa: E731
        found = list(train(bowl(), PLAN, bowl().start(), stop=stop))
    losses, sizes = (
        [np.concatenate([c.records[name] for c in chunks]) for chunks in (found, whole)]
        for name in ("train_loss", "size")
    )
    count = len(losses[1]) if last is None else last + 1
    np.testing.assert_array_equal(losses[0], losses[1][:count])
    np.testing.assert_array_equal(sizes[0], sizes[1][: -(-count // 2)])
    step = 11 if last is None else last
    assert int(found[-1].state.step) == step
    np.testing.assert_array_equal(found[-1].state.params, [4.0 * 0.5**step, 0.0])


def test_cells_have_rates_of_their_own_and_bad_ones_are_an_outcome():
    rates = np.array([0.5, 0.25, np.nan])
    with jax.enable_x64(True):
        form = Bowl(jnp.full((3, 1), 8.0))
        (chunk, *_) = train_cells(System(form, at_rates(GD(), rates)), PLAN)
    for cell, rate in enumerate(rates[:2]):
        truth = 32 * (1 - rate) ** (2 * np.arange(5))
        np.testing.assert_allclose(chunk.records["train_loss"][cell], truth)
    assert np.asarray(chunk.state.diverged).tolist() == [-1, -1, 1]

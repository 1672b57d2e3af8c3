"""Learning rates that change: factors by hand, and runs with them."""

import math

import jax
import numpy as np
import optax
import pytest

from piste import training
from piste.errors import InputError
from piste.experiment import Rate
from piste.testing import assert_close
from piste.training.rates import RateFactor
from piste.values import override
from support.small import REGRESSION, run


def factors(rate: Rate, steps: int) -> list[float]:
    about = override(REGRESSION, {"steps": steps})
    factor = RateFactor.of(
        override(about, {f"rate.{k}": v for k, v in vars(rate).items()})
    )
    assert factor is not None
    return [float(factor(step)) for step in range(steps)]


@pytest.mark.parametrize("final", [0.0, 0.2])
def test_factors_are_their_formulas(final):
    with jax.enable_x64(True):
        cosine = factors(Rate(4, "cosine", final), 12)
        linear = factors(Rate(4, "linear", final), 12)
        constant = factors(Rate(4), 12)
    warm = [0.25, 0.5, 0.75, 1.0]
    shares = np.arange(1, 9) / 8
    assert_close(
        cosine, [*warm, *final + (1 - final) * (1 + np.cos(np.pi * shares)) / 2]
    )
    assert_close(linear, [*warm, *1 - (1 - final) * shares])
    assert_close(constant, [*warm, *[1.0] * 8])


def test_a_decay_alone_begins_with_the_whole_rate_and_ends_with_the_final_one():
    with jax.enable_x64(True):
        found = factors(Rate(0, "cosine", 0.1), 5)
    truth = [0.1 + 0.45 * (1 + math.cos(math.pi * k / 4)) for k in range(5)]
    assert_close(found, truth)


def test_a_run_takes_the_steps_that_optax_takes_with_the_same_schedule():
    changes = {"rule": "gd", "rule.learning-rate": 0.01, "rate.warm-up": 3}
    changes |= {"rate.decay": "cosine", "steps": 12}
    experiment = override(REGRESSION, changes)
    done = run(experiment)
    with jax.enable_x64(True):
        form = done.system.form
        factor = RateFactor.of(experiment)
        transform = optax.sgd(lambda count: 0.01 * factor(count))
        params = form.initial()
        state = transform.init(params)
        for step in range(12):
            _, gradient = form.loss_and_gradient(params, step)
            updates, state = transform.update(gradient, state)
            params = optax.apply_updates(params, updates)
    assert_close(done.state.params, params)
    assert done.system.time_step() is None  # its steps are of different lengths


def test_a_constant_rate_is_no_schedule():
    assert training.build(REGRESSION).rate is None
    assert override(REGRESSION, {"rate.final": 0.5}).rate.is_constant


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        ({"rule": "flow", "rate.decay": "cosine"}, "rate = changing: the flow has no"),
        ({"rate.warm-up": 20}, "rate.warm-up = 20: must be less than steps = 20"),
        ({"rate.decay": "cosin"}, "rate.decay = cosin: must be one of none, linear"),
        ({"rate.final": 1.5}, "rate.final = 1.5: must be at most 1"),
    ],
)
def test_mistakes(changes, line):
    with pytest.raises(InputError, match=line):
        override(REGRESSION, changes)

"""Assembly of two-token tasks with the two-layer transformer and its stacks."""

import dataclasses
import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from piste.experiment import Experiment
from piste.streams import Stream, stream
from piste.training import AbstractForm, InitialState, form

from ..models import Stack, StackWeights, TwoLayer, TwoLayerWeights
from ..probes import MarginView, TwoTokenView
from ..tasks import NoisyImages, SignalNoise
from .needs import two_token_needs
from .stack import StackForm, StackView
from .support import support_blocks
from .two_layer import FullForm, GramForm, ReducedWeights, SupportForm

TWO_TOKEN_TASKS = (SignalNoise, NoisyImages)


def _has_closed_form(experiment: Experiment) -> bool:
    """Whether gradients have the closed form: softmax and one layer."""
    model = experiment.model
    return model.attention == "softmax" and not isinstance(model, Stack)


# Value neurons of the two classes have opposite gradients. All three forms store one for
# both, which is right only under a rule that is odd.


def _gram_rank(experiment: Experiment) -> int | None:
    holds = _has_closed_form(experiment) and experiment.rule.along_gradient
    return 1 if holds and experiment.rule.odd else None


def _exact_rank(experiment: Experiment) -> int | None:
    softmax = experiment.model.attention == "softmax"
    holds = softmax and experiment.rule.sign_of_gradient
    return 2 if holds and experiment.rule.odd else None


def _reduced_rank(experiment: Experiment) -> int | None:
    holds = _has_closed_form(experiment) and experiment.rule.entrywise
    return 3 if holds and experiment.rule.odd else None


def draw_jointly(experiment: Experiment, loaded: Any) -> InitialState:
    """Data from the task and weights from the model, in one compiled program."""
    task, model = experiment.task, experiment.model
    return InitialState(*_draw(task, model, loaded, experiment.seed))


@jax.jit
def _draw(task, model, loaded, seed):
    data, test = task.datasets(loaded, seed=seed)
    return data, test, model.draw_weights(task, key=stream(seed, Stream.INIT))


two_token_form = functools.partial(
    form,
    for_task=TWO_TOKEN_TASKS,
    draw=draw_jointly,
    needs=two_token_needs,
    views=(TwoTokenView, MarginView, StackView),
)
"""What all forms of two-token data share."""


@two_token_form("full", for_model=(TwoLayer, Stack))
def full_form(
    experiment: Experiment, start: InitialState, pad_for_batching: bool
) -> AbstractForm:
    """All weights, gradients by autodiff."""
    model, weights = experiment.model, start.weights
    if isinstance(weights, TwoLayerWeights):
        return FullForm(weights, start.data, start.test, model.attention)
    return _stack_form(experiment, start, exact=False)


def _stack_form(
    experiment: Experiment, start: InitialState, exact: bool
) -> AbstractForm:
    model, weights = experiment.model, start.weights
    assert isinstance(model, Stack) and isinstance(weights, StackWeights)
    return StackForm(model, weights, start.data, start.test, exact)


@two_token_form(
    "exact", for_model=(TwoLayer, Stack), rank=_exact_rank, own_weights=False
)
def exact_form(
    experiment: Experiment, start: InitialState, pad_for_batching: bool
) -> AbstractForm:
    """Signs that are right at any scale."""
    if isinstance(experiment.model, Stack):
        return _stack_form(experiment, start, exact=True)
    return _support_form(experiment, start, pad_for_batching, exact=True)


def _reduce_weights(weights: TwoLayerWeights | StackWeights) -> ReducedWeights:
    assert isinstance(weights, TwoLayerWeights)  # the rank sees to it
    attention = jnp.concatenate([weights.query, weights.key]).T
    return ReducedWeights(weights.mean_value(), attention)


def _value_width(experiment: Experiment) -> int:
    assert isinstance(experiment.model, TwoLayer)  # the rank sees to it
    return experiment.model.value_width


def _support_form(
    experiment: Experiment, start: InitialState, pad_for_batching: bool, exact: bool
) -> AbstractForm:
    """Keep the coordinates of the data, padded to a common width.

    The padding never moves; it lets seeds share one compiled program.
    """
    weights, basis, test = (
        _reduce_weights(start.weights),
        start.data.basis,
        start.test.basis,
    )
    merge = experiment.rule.equal_steps
    minimum_width = sum(basis.shape) if pad_for_batching else 0
    blocks = support_blocks(np.asarray(basis), merge, minimum_width)
    kept = jax.tree.map(lambda matrix: blocks.keep(matrix), weights)
    test_kept = blocks.stretch(test)
    return SupportForm(
        weights=kept,
        data=dataclasses.replace(start.data, basis=blocks.stretch(basis)),
        test=dataclasses.replace(start.test, basis=test_kept),
        offsets=(
            test @ weights.value - test_kept @ kept.value,
            test @ weights.attention - test_kept @ kept.attention,
        ),
        value_width=_value_width(experiment),
        copies=jnp.asarray(blocks.copies),
        exact=exact,
    )


@two_token_form("gram", for_model=TwoLayer, rank=_gram_rank, own_weights=False)
def gram_form(
    experiment: Experiment, start: InitialState, pad_for_batching: bool
) -> AbstractForm:
    """Coefficients of the data: all movement is in their span."""
    weights, basis = _reduce_weights(start.weights), start.data.basis
    rows, test = basis.shape[0], start.test.basis
    return GramForm(
        weights=jax.tree.map(
            lambda matrix: jnp.zeros((rows, *matrix.shape[1:])), weights
        ),
        products=(basis @ weights.value, basis @ weights.attention),
        gram=basis @ basis.T,
        data=start.data,
        test=start.test,
        test_products=(test @ weights.value, test @ weights.attention),
        test_gram=test @ basis.T,
        value_width=_value_width(experiment),
    )


@two_token_form("reduced", for_model=TwoLayer, rank=_reduced_rank, own_weights=False)
def reduced_form(
    experiment: Experiment, start: InitialState, pad_for_batching: bool
) -> AbstractForm:
    """One value vector on the coordinates of the data."""
    return _support_form(experiment, start, pad_for_batching, exact=False)

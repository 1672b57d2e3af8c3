"""Assembly of two-token tasks with the two-layer transformer and its stacks."""

import dataclasses
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np

from piste.experiment import Experiment
from piste.models import Stack, StackWeights, TwoLayer, TwoLayerWeights
from piste.rules import GD, Adam, Flow, Lion, NormalisedGD, SignGD
from piste.streams import Stream, stream
from piste.tasks import NoisyImages, SignalNoise

from ._base import AbstractForm, Assembly, Start
from .stack import StackForm
from .support import support_blocks
from .two_layer import FullForm, GramForm, Reduced, SupportForm

ENTRYWISE = (SignGD, GD, NormalisedGD, Adam, Lion, Flow)
"""Rules that are odd, act entry by entry up to a common factor, and leave weights without
a gradient where they are: what the reduced forms rely on."""
LINEAR = (GD, NormalisedGD, Flow)
"""Rules that move along the gradient, and so stay in the span of the data."""


def _start(experiment: Experiment, loaded) -> Start:
    return Start(*_draw(experiment.task, experiment.model, loaded, experiment.seed))


@jax.jit
def _draw(task, model, loaded, seed):
    data, test = task.datasets(loaded, seed=seed)
    weights = model.init(key=stream(seed, Stream.INIT), dimension=task.dimension)
    return data, test, weights


def _forms(experiment: Experiment) -> dict[str, bool]:
    rule, model = experiment.rule, experiment.model
    softmax = model.kernel == "softmax"
    closed = softmax and not isinstance(model, Stack)
    return {
        "gram": closed and isinstance(rule, LINEAR),
        "exact": softmax and isinstance(rule, SignGD),
        "reduced": closed and isinstance(rule, ENTRYWISE),
        "full": True,
    }


def _make(name: str, experiment: Experiment, start: Start, whole: bool) -> AbstractForm:
    return _FORMS[name](experiment, start, whole)


def _full(experiment: Experiment, start: Start, whole: bool) -> AbstractForm:
    model, weights = experiment.model, start.weights
    if isinstance(weights, TwoLayerWeights):
        return FullForm(weights, start.data, start.test, model.kernel)
    return _stack(experiment, start, exact=False)


def _stack(experiment: Experiment, start: Start, exact: bool) -> AbstractForm:
    model, weights = experiment.model, start.weights
    assert isinstance(model, Stack) and isinstance(weights, StackWeights)
    return StackForm(model, weights, start.data, start.test, exact)


def _exact(experiment: Experiment, start: Start, whole: bool) -> AbstractForm:
    if isinstance(experiment.model, Stack):
        return _stack(experiment, start, exact=True)
    return _support(experiment, start, whole, exact=True)


def _reduced(weights: TwoLayerWeights | StackWeights) -> Reduced:
    assert isinstance(weights, TwoLayerWeights)  # choose_form sees to it
    attention = jnp.concatenate([weights.query, weights.key]).T
    return Reduced(weights.mean_value(), attention)


def _value_width(experiment: Experiment) -> int:
    assert isinstance(experiment.model, TwoLayer)  # choose_form sees to it
    return experiment.model.value_width


def _support(
    experiment: Experiment, start: Start, whole: bool, exact: bool
) -> AbstractForm:
    """Keep the coordinates of the data, filled up to a common width with still ones.

    The filling makes seeds share one compiled program.
    """
    weights, basis, test = _reduced(start.weights), start.data.basis, start.test.basis
    merge = isinstance(experiment.rule, (SignGD, Lion))
    least = sum(basis.shape) if whole else 0
    blocks = support_blocks(np.asarray(basis), merge, least)
    keep = jax.tree.map(lambda part: blocks.keep(part), weights)
    test_kept = blocks.stretch(test)
    return SupportForm(
        weights=keep,
        data=dataclasses.replace(start.data, basis=blocks.stretch(basis)),
        test=dataclasses.replace(start.test, basis=test_kept),
        offsets=(
            test @ weights.value - test_kept @ keep.value,
            test @ weights.attention - test_kept @ keep.attention,
        ),
        value_width=_value_width(experiment),
        copies=jnp.asarray(blocks.copies),
        exact=exact,
    )


def _gram(experiment: Experiment, start: Start, whole: bool) -> AbstractForm:
    weights, basis = _reduced(start.weights), start.data.basis
    rows, test = basis.shape[0], start.test.basis
    return GramForm(
        weights=jax.tree.map(lambda part: jnp.zeros((rows, *part.shape[1:])), weights),
        products=(basis @ weights.value, basis @ weights.attention),
        gram=basis @ basis.T,
        data=start.data,
        test=start.test,
        test_products=(test @ weights.value, test @ weights.attention),
        test_gram=test @ basis.T,
        value_width=_value_width(experiment),
    )


_FORMS = {
    "full": _full,
    "reduced": partial(_support, exact=False),
    "exact": _exact,
    "gram": _gram,
}

TWO_TOKEN = Assembly(
    (SignalNoise, NoisyImages), (TwoLayer, Stack), _start, _forms, _make
)

"""From an experiment to a system that can be trained."""

import dataclasses
import re
from dataclasses import dataclass
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np

from piste.errors import InputError
from piste.experiment import Experiment
from piste.models import Stack, StackWeights, TwoLayerWeights
from piste.rules import GD, Adam, Lion, NormalisedGD, SignGD
from piste.streams import Stream, stream
from piste.tasks import TwoTokenData
from piste.values import word_of

from ._base import AbstractForm
from .engine import System
from .stack import StackForm
from .support import support_blocks
from .two_layer import FullForm, GramForm, Reduced, SupportForm

ENTRYWISE = (SignGD, GD, NormalisedGD, Adam, Lion)
"""Rules that are odd, act entry by entry up to a common factor, and leave weights without
a gradient where they are: what the reduced forms rely on."""


@dataclass(frozen=True)
class Start:
    """What a run begins with: training data, test data and initial weights."""

    data: TwoTokenData
    test: TwoTokenData
    weights: TwoLayerWeights | StackWeights


def draw(experiment: Experiment) -> Start:
    """Draw the data and the initial weights, always in float64.

    A float32 run starts from the same numbers, rounded.
    """
    task, model, loaded = experiment.task, experiment.model, load_data(experiment)
    with jax.enable_x64(True):
        return Start(*_draw(task, model, loaded, experiment.seed))


def load_data(experiment: Experiment):
    """Read what the task needs from disk, or say in one line why not."""
    try:
        return experiment.task.load()
    except InputError as error:
        # A field is one of the task's; a file or a variable has its own name.
        field = re.match(r"[a-z-]+ = ", str(error))
        raise InputError(f"task.{error}" if field else str(error)) from None


@jax.jit
def _draw(task, model, loaded, seed):
    data, test = task.datasets(loaded, seed=seed)
    weights = model.init(key=stream(seed, Stream.INIT), dimension=task.dimension)
    return data, test, weights


def build(experiment: Experiment, whole: bool = False) -> System:
    """Choose the form, draw the data, and round to the experiment's precision.

    Systems built as a ``whole`` have shapes that do not depend on the seed: a batch.
    """
    form_name = choose_form(experiment)
    start = draw(experiment)
    with jax.enable_x64(True):
        form = _FORMS[form_name](experiment, start, whole)
        return System(*_rounded((form, experiment.rule), experiment.precision))


def choose_form(experiment: Experiment) -> str:
    """The form that is fastest and most exact among those that hold; checks a choice."""
    rule, model = experiment.rule, experiment.model
    closed = model.kernel == "softmax" and not isinstance(model, Stack)
    holds = {
        "gram": closed and isinstance(rule, (GD, NormalisedGD)),
        "exact": closed and isinstance(rule, SignGD),
        "reduced": closed and isinstance(rule, ENTRYWISE),
        "full": True,
    }
    allowed = [name for name, held in holds.items() if held]
    if experiment.form == "auto":
        return allowed[0]
    if experiment.form not in allowed:
        where = f"rule {word_of(rule)} and kernel {model.kernel}"
        if isinstance(model, Stack):
            where = f"model {word_of(model)}"
        raise InputError(
            f"form = {experiment.form}: does not hold for {where}; "
            f"must be auto, {', '.join(allowed)}"
        )
    return experiment.form


def _rounded(tree, precision: str):
    def cast(leaf):
        leaf = jnp.asarray(leaf)
        inexact = jnp.issubdtype(leaf.dtype, jnp.inexact)
        return leaf.astype(precision) if inexact else leaf

    return jax.tree.map(cast, tree)


def _full(experiment: Experiment, start: Start, whole: bool) -> AbstractForm:
    model, weights = experiment.model, start.weights
    if isinstance(weights, TwoLayerWeights):
        return FullForm(weights, start.data, start.test, model.kernel)
    assert isinstance(model, Stack)
    return StackForm(model, weights, start.data, start.test)


def _reduced(weights: TwoLayerWeights | StackWeights) -> Reduced:
    assert isinstance(weights, TwoLayerWeights)  # choose_form sees to it
    attention = jnp.concatenate([weights.query, weights.key]).T
    return Reduced(weights.mean_value(), attention)


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
        value_width=experiment.model.value_width,
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
        value_width=experiment.model.value_width,
    )


_FORMS = {
    "full": _full,
    "reduced": partial(_support, exact=False),
    "exact": partial(_support, exact=True),
    "gram": _gram,
}

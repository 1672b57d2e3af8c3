"""The contracts of a task and of a model."""

from typing import Any

import jax
import numpy as np

from piste.attention import KERNELS
from piste.models import AbstractModel
from piste.registry import name_of
from piste.streams import Stream, stream
from piste.tasks import AbstractTask, LoadsData
from piste.training import FORMS

from ._contract import alike, check_member, dtypes_of, finite, require, same


def check_task(task: AbstractTask) -> None:
    """Check a task; give one that is small, as its data are drawn several times.

    It must be a frozen value that JSON brings back. What it loads must have a ``digest``,
    or be None. ``datasets`` must return a pair of trees of arrays, training and test data
    (or None), with floats in float64; equal for equal seeds, and others for other seeds
    unless the task says ``random = False``. If its seed can be traced by JAX, the data must
    be the same.
    """
    about = check_member(task, AbstractTask)
    loaded = task.load() if isinstance(task, LoadsData) else None
    if loaded is not None:
        digest = getattr(loaded, "digest", None)
        text = f"{about}: what it loads has no digest; must be a word that tells it"
        require(isinstance(digest, str) and bool(digest), text)
    with jax.enable_x64(True):
        drawn = task.datasets(loaded, seed=0)
        pair = isinstance(drawn, tuple) and len(drawn) == 2
        require(pair, f"{about}: datasets must return a pair, training and test data")
        _check_arrays(drawn, f"{about}: its data")
        _check_seeds(
            lambda seed: task.datasets(loaded, seed=seed), about, "data", task.random
        )
        _check_traced(lambda seed: task.datasets(loaded, seed=seed), 0, drawn, about)


def check_model(model: AbstractModel, task: AbstractTask) -> None:
    """Check a model with a small task that it can read.

    It must be a frozen value that JSON brings back, name a known kernel if it has one,
    and draw finite weights in float64: equal for equal keys, and others for other keys
    unless the model says ``random = False``. There must be a form that trains it on the
    task.
    """
    about = check_member(model, AbstractModel)
    kernel = model.attention
    require(
        not kernel or kernel in KERNELS,
        f"{about}: its kernel '{kernel}' is not known; declare the field with "
        "option(choices=KERNELS)",
    )
    with jax.enable_x64(True):

        def draw(seed):
            return model.draw_weights(task, key=stream(seed, Stream.INIT))

        drawn = draw(0)
        require(bool(jax.tree.leaves(drawn)), f"{about}: has no weights")
        _check_arrays(drawn, f"{about}: its weights")
        require(finite(drawn), f"{about}: its weights are not finite")
        _check_seeds(draw, about, "weights", model.random)
        _check_traced(draw, 0, drawn, about)
    trains = any(
        isinstance(task, form.tasks) and isinstance(model, form.models)
        for form in FORMS
    )
    text = f"{about}: no form trains it on task {name_of(task)}; add one by @form"
    require(trains, text)


def _check_arrays(tree: Any, about: str) -> None:
    for leaf in jax.tree.leaves(tree):
        array = isinstance(leaf, (jax.Array, np.ndarray, np.generic))
        found = type(leaf).__name__
        require(array, f"{about} hold a {found}; must be arrays (of JAX or NumPy)")
    others = sorted(dtypes_of(tree) - {"float64"})
    require(not others, f"{about} are in {', '.join(others)}; must be in float64")


def _check_seeds(draw, about: str, what: str, random: bool) -> None:
    first = draw(0)
    text = f"{about}: the same seed gives other {what} when drawn again"
    require(alike(first, draw(0)), text)
    equal = alike(first, draw(1))
    text = f"{about}: another seed gives the same {what}; must draw from its stream"
    require(not random or not equal, f"{text}, or say random = False")
    text = f"{about}: says random = False, but another seed gives other {what}"
    require(random or equal, text)


def _check_traced(draw, seed: int, drawn: Any, about: str) -> None:
    try:
        traced = jax.jit(draw)(seed)
    except Exception:  # most ways to need a number's value end in an error of their own
        return
    same(traced, drawn, f"{about}: draws otherwise where its seed is traced")

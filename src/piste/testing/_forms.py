"""The contract of a form."""

import dataclasses
from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from piste.experiment import Experiment
from piste.training import (
    ABILITIES,
    AbstractForm,
    System,
    apply_updates,
    build,
    evaluation_loss,
    find_form,
    gradient_norm,
)
from piste.training.abilities import HasFixedLoss

from ._contract import alike, dtypes_of, finite, require
from ._probes import check_array, check_words

STEP = 1e-5
"""Step of central differences, as a share of the parameters."""
ACCURACY = 1e-5
"""Allowed error of a slope, as a share of the longest it could be."""


def check_form(experiment: Experiment) -> None:
    """Check the form in which an experiment trains; give one that is small.

    ``loss_and_gradient`` must be pure, compile, and give a finite number and a gradient
    like the parameters. Where the parameters are the weights themselves (``own_weights``)
    it must agree with finite differences, and so must ``gradient`` with
    ``evaluation_loss``. ``apply`` must keep the parameters' shapes, all probes must give
    the axes that they declare, and other seeds must have the same shapes when they are
    padded for batching, so that sweeps can run them together.
    """
    experiment = dataclasses.replace(experiment, precision="float64")
    entry = find_form(experiment)
    about = f"form {entry.name}"
    system = build(experiment)
    form = system.form
    text = f"{about}: builds a {type(form).__name__}; must inherit from AbstractForm"
    require(isinstance(form, AbstractForm), text)
    _check_abilities(form, about)
    with jax.enable_x64(True):
        compiled = jax.jit(lambda params: form.loss_and_gradient(params))
        _check_gradient(form, compiled, about)
        if entry.own_weights:
            _check_slopes(form, compiled, about)
        _check_probes(system, about)
    _check_shapes(experiment, about)


def _check_abilities(form: AbstractForm, about: str) -> None:
    for ability in ABILITIES:
        methods = [name for name in vars(ability) if not name.startswith("_")]
        missing = [name for name in methods if not hasattr(form, name)]
        text = f"{about}: has part of the ability {ability.__name__}, but no "
        half = 0 < len(missing) < len(methods)
        require(not half, text + " and no ".join(missing))


def _check_gradient(form: AbstractForm, compiled: Callable, about: str) -> None:
    params = form.initial()
    require(bool(jax.tree.leaves(params)), f"{about}: has nothing to train")
    text = f"{about}: its parameters are in {dtypes_of(params)}; must be in float64"
    require(dtypes_of(params) == {"float64"}, text)
    # Compiled, as a run does it: by itself every operation would be compiled apart.
    loss, gradient = compiled(params)
    require(np.ndim(loss) == 0, f"{about}: its loss has {np.ndim(loss)} axes, not 0")
    require(finite(loss), f"{about}: its loss is not finite at the start")
    text = f"{about}: its gradient is not a tree like its parameters"
    require(_like(gradient) == _like(params), text)
    require(finite(gradient), f"{about}: its gradient is not finite at the start")
    text = f"{about}: gives another loss or gradient when called again"
    require(alike((loss, gradient), compiled(params)), text)
    applied = jax.eval_shape(partial(apply_updates, form), params, gradient)
    text = f"{about}: apply changes the shape or the type of the parameters"
    require(_like(applied) == _like(params), text)


def _like(tree: Any) -> Any:
    leaves, structure = jax.tree.flatten(tree)
    return structure, [(np.shape(leaf), str(jnp.result_type(leaf))) for leaf in leaves]


def _check_slopes(form: AbstractForm, compiled: Callable, about: str) -> None:
    params = _moved(form.initial(), _direction(form.initial(), seed=0), 0.1)
    _, gradient = compiled(params)
    text = f"{about}: loss_and_gradient's gradient"
    _check_slope(lambda params: compiled(params)[0], gradient, params, text)
    if isinstance(form, HasFixedLoss):
        loss = jax.jit(partial(evaluation_loss, form))
        slope = jax.jit(lambda params: form.gradient(params))(params)
        text = f"{about}: gradient, of the loss that evaluation_loss gives,"
        _check_slope(loss, slope, params, text)
    squares = [float((leaf**2).sum()) for leaf in jax.tree.leaves(gradient)]
    length, given = sum(squares) ** 0.5, float(gradient_norm(form, gradient))
    text = f"{about}: norm says that a gradient of length {length:.6g} has {given:.6g}"
    require(abs(length - given) <= 1e-9 * length, text)


def _check_slope(loss: Callable, gradient: Any, params: Any, about: str) -> None:
    way = _direction(params, seed=1)
    there, back = (float(loss(_moved(params, way, sign * STEP))) for sign in (1, -1))
    measured = (there - back) / (2 * STEP)
    pairs = zip(jax.tree.leaves(gradient), jax.tree.leaves(way), strict=True)
    products = [float(jnp.abs(g * v).sum()) for g, v in pairs]
    pairs = zip(jax.tree.leaves(gradient), jax.tree.leaves(way), strict=True)
    given = sum(float((g * v).sum()) for g, v in pairs)
    # The difference of two losses has lost the digits that they share.
    rounding = 1e-15 * (abs(there) + abs(back)) / STEP
    text = f"{about} is {given:.6g} where finite differences are {measured:.6g}"
    require(abs(given - measured) <= ACCURACY * sum(products) + rounding, text)


def _direction(params: Any, seed: int) -> Any:
    random = np.random.default_rng(seed)
    return jax.tree.map(
        lambda leaf: jnp.asarray(random.normal(size=leaf.shape)), params
    )


def _moved(params: Any, way: Any, step: float) -> Any:
    return jax.tree.map(lambda leaf, v: leaf + step * v, params, way)


def _check_probes(system: System, about: str) -> None:
    probes = {probe.name: probe for probe in system.probes()}
    names = [probe.name for probe in system.probes()]
    twice = sorted({name for name in names if names.count(name) > 1})
    require(not twice, f"{about}: has two probes of the name {', '.join(twice)}")
    measure = jax.jit(lambda state: system.measure(state, jnp.array(True)))
    for name, measured in measure(system.start()).items():
        check_words(probes[name])
        check_array(probes[name], measured, system)


def _check_shapes(experiment: Experiment, about: str) -> None:
    other = dataclasses.replace(experiment, seed=experiment.seed + 1)
    first, second = (build(e, pad_for_batching=True) for e in (experiment, other))
    text = f"{about}: two seeds have other shapes when they are padded for batching"
    require(_like(first.form) == _like(second.form), text)

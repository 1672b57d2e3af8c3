"""Settle what a rule leaves open until the form and its start are known."""

import dataclasses

import jax
import numpy as np

from piste.errors import InputError
from piste.rules import GD, Flow, Rule

from ._base import AbstractForm


def settled(rule: Rule, form: AbstractForm) -> Rule:
    """The rule with what depends on the form replaced by what it means there."""
    if isinstance(rule, Flow) and rule.solver == "auto":
        solver = "kvaerno5" if form.stiff(rule.time_step) else "tsit5"
        return dataclasses.replace(rule, solver=solver)
    if isinstance(rule, GD) and rule.unit == "curvature":
        curvature = float(_curvature(form))
        if not 0 < curvature < np.inf:
            must = f"must be absolute, the curvature at the start is {curvature:g}"
            raise InputError(f"rule.unit = curvature: {must}")
        rate = rule.learning_rate / curvature
        return dataclasses.replace(rule, learning_rate=rate, unit="absolute")
    return rule


@jax.jit
def _curvature(form: AbstractForm):
    return form.curvature(form.initial())

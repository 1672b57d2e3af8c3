"""What a run needs, in bytes, from the sizes in its experiment: nothing is drawn.

Arrays are counted by their shapes. How often an array is there at once (copies while
data is drawn, what the compiler keeps of a backward pass) is a factor, measured on runs
of some hundred megabytes; ``tests/training/test_size.py`` says how well it holds. Every
form brings its own count.
"""

import functools
from dataclasses import dataclass

import jax
import jax.numpy as jnp

from piste.experiment import Experiment
from piste.probes.curvature import DEPTH
from piste.rules import (
    AbstractDescent,
    AbstractFlow,
    AbstractRule,
    measures_curvature,
)

DRAWN = 8
"""Bytes of a number as it is drawn: float64, whatever the precision."""


@dataclass(frozen=True)
class Needs:
    """Bytes that are needed at the same time, by what for."""

    data: float = 0.0
    """Training, validation and test data."""
    weights: float = 0.0
    """All weights, as they are drawn."""
    drawing: float = 0.0
    """Everything while it is drawn, data and weights included."""
    params: float = 0.0
    """What is trained, in the form and precision of the run."""
    working: float = 0.0
    """Arrays of one step or one measurement."""
    record: float = 0.0
    """A record, and what only some records have."""
    test_record: float = 0.0
    stiff: bool = False
    """Whether a flow takes an implicit solver, if the choice is left open."""


def width_of(experiment: Experiment) -> int:
    """Bytes of a number while training."""
    return 4 if experiment.precision == "float32" else 8


def rule_state(experiment: Experiment) -> int:
    """Count the arrays like the parameters that a rule remembers."""
    return _remembered(experiment.rule)


@functools.lru_cache(maxsize=256)
def _remembered(rule: AbstractRule) -> int:
    """Count the arrays of a rule's state, given weights of an unusual shape."""
    if not isinstance(rule, AbstractDescent):
        return 0
    like = jax.ShapeDtypeStruct((3, 5, 7), jnp.float32)
    transform = rule.transform(lambda gradient: jnp.zeros(()))
    state = jax.eval_shape(transform.init, like)
    return sum(leaf.shape == like.shape for leaf in jax.tree.leaves(state))


def rule_copies(experiment: Experiment) -> int:
    """Count the arrays like the parameters that training keeps besides them."""
    rule = experiment.rule
    # A basis of that depth, and its products.
    curved = measures_curvature(rule) or experiment.record.curvature
    measured = 2 * DEPTH if curved else 0
    stages = 10 if isinstance(rule, AbstractFlow) else 0
    return measured + stages + 2 * rule_state(experiment)


def is_implicit(experiment: Experiment, stiff: bool) -> bool:
    """Whether a solver writes down the Jacobian of all parameters."""
    rule = experiment.rule
    if not isinstance(rule, AbstractFlow):
        return False
    solver = rule.solver_settings().solver
    return solver == "kvaerno5" or (solver == "auto" and stiff)

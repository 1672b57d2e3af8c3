"""Small experiments, trained once for all tests that look at them."""

import functools
from dataclasses import dataclass

import jax
import numpy as np

from piste import training
from piste.datasets import TextSet
from piste.experiment import Experiment, Schedule
from piste.papers.kernels.models import KernelLayer
from piste.papers.kernels.tasks import TokenRegression
from piste.rules import Adam
from piste.values import override

REGRESSION = Experiment(
    task=TokenRegression(sequences=3, length=3, dimension=4),
    model=KernelLayer(heads=2, width=3, values="random"),
    rule=Adam(0.01),
    steps=20,
    record=Schedule(dense=5, chunk=8),
)
"""A layer of attention with two heads on three sequences."""
SHORT_REGRESSION = override(
    REGRESSION,
    {"steps": 8, "record.dense": 2, "record.chunk": 2, "record.test-every": 4},
)
SEEDS = tuple(override(SHORT_REGRESSION, {"seed": seed}) for seed in range(2))
"""The same for a moment, and its first seeds."""


def reviews() -> TextSet:
    """Sixty-six reviews to train on and twenty to test; the first word tells the class."""
    words = tuple(("good" if k % 2 else "bad") + f" film {k}" for k in range(66))
    tests = tuple(("good" if k % 2 else "bad") + f" other {k}" for k in range(20))
    return TextSet(words, np.arange(66) % 2, tests, np.arange(20) % 2)


@dataclass(frozen=True)
class Run:
    """A finished run: what was recorded, when, and the last state."""

    system: training.System
    plan: training.Plan
    records: dict[str, np.ndarray]
    state: training.State


@functools.cache
def run(experiment: Experiment) -> Run:
    """Train an experiment; each is trained once."""
    return finish(training.build(experiment), training.Plan.of(experiment))


def finish(system: training.System, plan: training.Plan) -> Run:
    """Train a system through a plan and join its chunks."""
    chunks = list(training.train(system, plan, system.start()))
    names = chunks[0].records
    records = {
        name: np.concatenate([chunk.records[name] for chunk in chunks])
        for name in names
    }
    return Run(system, plan, records, chunks[-1].state)


@functools.cache
def start(experiment: Experiment) -> training.InitialState:
    """The data and the initial weights of an experiment."""
    return training.draw(experiment)


def stacked(trees):
    """One tree whose arrays have a leading axis over the given trees."""
    return jax.tree.map(lambda *leaves: jax.numpy.stack(leaves), *trees)

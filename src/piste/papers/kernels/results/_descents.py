"""Many seeds side by side: their starts, the constants there, and their descents.

Drawing, constants and descents are compiled apart, because compiling takes longer than
training here: a draw does not depend on the kernel, nor constants on what is trained.
"""

import dataclasses
import functools
from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from piste.attention import KERNELS, softmax
from piste.experiment import Schedule
from piste.rules import GD
from piste.training import System

from .forms.regression import RegressionForm
from .models import (
    KernelLayer,
    KernelWeights,
    begin,
    features,
    squared_loss,
    teacher_key,
    teacher_weights,
)
from .probes import RegressionView
from .tasks import RegressionData, TokenRegression
from .theory import ConvergenceTheorem, QueryTheorem, convergence_theorem, query_theorem

Measure = Callable[[RegressionView], dict[str, Array]]


def starts(
    task: TokenRegression, model: KernelLayer, seeds: range
) -> tuple[RegressionData, KernelWeights]:
    """Data and weights of all seeds, along a first axis."""
    # Only the hardest targets depend on the kernel: others share one program.
    kernel = model.kernel if task.targets == "hardest" else "softmax"
    model = dataclasses.replace(model, kernel=kernel, train="QKV")
    return _starts(task, model, jnp.asarray(seeds))


@jax.jit
def _starts(task: TokenRegression, model: KernelLayer, seeds: Int[Array, " seed"]):
    return jax.vmap(lambda seed: begin(task, model, seed=seed))(seeds)


@functools.partial(jax.jit, static_argnames=("kernel",))
def first_theorem(
    kernel: str, data: RegressionData, weights: KernelWeights
) -> ConvergenceTheorem:
    r"""The constants of Theorem 1 for all seeds.

    From $W^V = 0$ the Jacobian in $W^Q$ and $W^K$ is zero: $\sigma_{max}(J_0)$ is that
    in $W^V$ alone, whichever matrices are trained.
    """
    return jax.vmap(lambda w, d: convergence_theorem(kernel, w, d, "V"))(weights, data)


@functools.partial(jax.jit, static_argnames=("kernel",))
def second_theorem(
    kernel: str, data: RegressionData, weights: KernelWeights
) -> QueryTheorem:
    """The constants of Theorem 2 for all seeds."""
    return jax.vmap(lambda w, d: query_theorem(kernel, w, d))(weights, data)


def teacher_shares(
    model: KernelLayer, data: RegressionData, weights: KernelWeights, seeds: range
) -> Float[Array, " seed"]:
    """Softmax's loss with the teacher's W^Q, of that at its start: 0 for a solution."""
    # A teacher does not depend on the kernel: both share one program.
    model = dataclasses.replace(model, kernel="softmax")
    return _teacher_shares(model, data, weights, jnp.asarray(seeds))


@jax.jit
def _teacher_shares(model, data, weights, seeds):
    def one(data, weights, seed):
        teacher = teacher_weights(model, weights, key=teacher_key(seed))
        first = squared_loss(softmax, weights, data)
        return squared_loss(softmax, teacher, data) / first

    return jax.vmap(one)(data, weights, seeds)


def floors(
    kernel: str, data: RegressionData, weights: KernelWeights
) -> Float[np.ndarray, " seed"]:
    r"""The least $f$ that $W^V$ alone can reach: what $B_0$ cannot say of the targets.

    Where every $W_h^O$ has full rank, the outputs of all $W^V$ are the columns' span.
    """
    b = np.asarray(_features(kernel, weights, data.tokens))
    y = np.asarray(data.targets).reshape(*b.shape[:2], -1)
    rest = [t - m @ np.linalg.lstsq(m, t)[0] for m, t in zip(b, y, strict=True)]
    return (np.stack(rest) ** 2).sum((1, 2)) / 2


@functools.partial(jax.jit, static_argnames=("kernel",))
def _features(kernel: str, weights: KernelWeights, tokens):
    return jax.vmap(lambda w, x: features(KERNELS[kernel], w, x))(weights, tokens)


def schedule(steps: int, dense: int) -> Int[np.ndarray, " record"]:
    """The recorded steps: every one at first, then ever more thinly."""
    return Schedule(dense=dense).times(steps)


def descend(
    kernel: str,
    train: str,
    start: tuple[RegressionData, KernelWeights],
    rates: Float[Array, " seed"],
    times: Int[np.ndarray, " record"],
    measure: Measure,
) -> dict[str, np.ndarray]:
    """Gradient descent of all seeds, each with its own η, measured at some steps."""
    gaps = jnp.asarray(np.diff(times, prepend=0))
    found = _descend(*start, jnp.asarray(rates), gaps, kernel, train, measure)
    return {name: np.asarray(part) for name, part in found.items()}


@functools.partial(jax.jit, static_argnames=("kernel", "train", "measure"))
def _descend(data, weights, rates, gaps, kernel, train, measure):
    def one(data, weights, rate):
        form = RegressionForm(weights, data, kernel, train)
        system = System(form, GD(learning_rate=rate))

        def record(state, gap):
            state = system.advance(state, gap)
            return state, measure(form.view(state.params))

        return jax.lax.scan(record, system.start(), gaps)[1]

    return jax.vmap(one)(data, weights, rates)

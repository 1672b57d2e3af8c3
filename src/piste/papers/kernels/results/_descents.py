"""Many seeds side by side: what they start from, the constants there, and their descents.

Draws, constants and descents are compiled separately, because compiling takes longer than
training here: a draw does not depend on the kernel, nor constants on what is trained.
"""

import dataclasses
import functools

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from piste.attention import KERNELS, softmax
from piste.experiment import Schedule
from piste.probes import Probe
from piste.rules import GD
from piste.training import Plan, System, at_rates, train_cells

from ..forms import RegressionForm
from ..models import (
    KernelLayer,
    KernelWeights,
    draw_data_and_weights,
    features,
    squared_loss,
    teacher_key,
    teacher_weights,
)
from ..probes import RegressionView
from ..tasks import RegressionData, TokenRegression
from ..theory import (
    ConvergenceTheorem,
    QueryTheorem,
    convergence_theorem,
    query_theorem,
)

LOSS = Probe("loss", "$f$", "loss of all sequences", RegressionView.loss)


def draw_starts(
    task: TokenRegression, model: KernelLayer, seeds: range
) -> tuple[RegressionData, KernelWeights]:
    """Draw the data and initial weights of all seeds, along a first axis."""
    # Only the hardest targets depend on the kernel: others share one program.
    kernel = model.kernel if task.targets == "hardest" else "softmax"
    model = dataclasses.replace(model, kernel=kernel, train="QKV")
    return _draw_starts(task, model, jnp.asarray(seeds))


@jax.jit
def _draw_starts(task: TokenRegression, model: KernelLayer, seeds: Int[Array, " seed"]):
    return jax.vmap(lambda seed: draw_data_and_weights(task, model, seed=seed))(seeds)


@functools.partial(jax.jit, static_argnames=("kernel",))
def theorem_1_constants(
    kernel: str, data: RegressionData, weights: KernelWeights
) -> ConvergenceTheorem:
    r"""Constants of Theorem 1 for all seeds.

    From $W^V = 0$ the Jacobian in $W^Q$ and $W^K$ is zero: $\sigma_{max}(J_0)$ is that
    in $W^V$ alone, whichever matrices are trained.
    """
    return jax.vmap(lambda w, d: convergence_theorem(kernel, w, d, "V"))(weights, data)


@functools.partial(jax.jit, static_argnames=("kernel",))
def theorem_2_constants(
    kernel: str, data: RegressionData, weights: KernelWeights
) -> QueryTheorem:
    """Constants of Theorem 2 for all seeds."""
    return jax.vmap(lambda w, d: query_theorem(kernel, w, d))(weights, data)


def teacher_shares(
    model: KernelLayer, data: RegressionData, weights: KernelWeights, seeds: range
) -> Float[Array, " seed"]:
    """Softmax's loss with the teacher's W^Q over its initial one: 0 for a solution."""
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


def value_floors(
    kernel: str, data: RegressionData, weights: KernelWeights
) -> Float[np.ndarray, " seed"]:
    r"""The least $f$ that $W^V$ alone can reach: the part of the targets outside $B_0$.

    Where every $W_h^O$ has full rank, the outputs of all $W^V$ are the span of the
    columns of $B_0$.
    """
    b = np.asarray(_features(kernel, weights, data.tokens))
    y = np.asarray(data.targets).reshape(*b.shape[:2], -1)
    rest = [t - m @ np.linalg.lstsq(m, t)[0] for m, t in zip(b, y, strict=True)]
    return (np.stack(rest) ** 2).sum((1, 2)) / 2


@functools.partial(jax.jit, static_argnames=("kernel",))
def _features(kernel: str, weights: KernelWeights, tokens):
    return jax.vmap(lambda w, x: features(KERNELS[kernel], w, x))(weights, tokens)


def recorded_steps(steps: int, dense: int) -> Int[np.ndarray, " record"]:
    """Steps that are recorded: every one at first, then at growing distances."""
    return Schedule(dense=dense).times(steps)


def descend(
    kernel: str,
    train: str,
    start: tuple[RegressionData, KernelWeights],
    learning_rates: Float[Array, " seed"],
    times: Int[np.ndarray, " record"],
    probes: tuple[Probe, ...],
) -> dict[str, np.ndarray]:
    """Train all seeds by gradient descent, each with its own η; measure at some steps."""
    data, weights = start
    form = RegressionForm(weights, data, kernel, train)
    rule = at_rates(GD(), learning_rates)
    names = tuple(probe.name for probe in probes)
    system = System(form, rule, only=names, brought=probes)
    plan = Plan(times, np.zeros(times.size, bool), times.size)
    (chunk,) = train_cells(system, plan)
    return chunk.records

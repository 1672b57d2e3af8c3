"""Token regression: random sequences with a target for each of their tokens."""

import itertools
import math

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, Key

from piste.errors import field_error
from piste.streams import Stream, stream
from piste.tasks import AbstractTask, task
from piste.values import option


class RegressionData(eqx.Module):
    r"""Sequences $X_i \in \mathbb{R}^{n\times D}$ with targets $y_i$; one row per token."""

    tokens: Float[Array, "sequence token dimension"]
    targets: Float[Array, "sequence token output"]


def draw_normals(
    key: Key[Array, ""], *shapes: tuple[int, ...]
) -> list[Float[Array, "..."]]:
    """Draw standard normal arrays of the given shapes, all from one draw."""
    sizes = [math.prod(shape) for shape in shapes]
    flat = jax.random.normal(key, (sum(sizes),))
    parts = jnp.split(flat, list(itertools.accumulate(sizes))[:-1])
    return [part.reshape(shape) for part, shape in zip(parts, shapes, strict=True)]


def _gaussian(
    drawn: Float[Array, "*sequence dimension"],
) -> Float[Array, "*sequence dimension"]:
    r"""Entries $N(0, 1)$."""
    return drawn


def _sphere(
    drawn: Float[Array, "*sequence dimension"],
) -> Float[Array, "*sequence dimension"]:
    r"""$(x, 1)$ with $x$ uniform on the sphere of radius $\sqrt{D-1}$."""
    x = drawn[..., 1:]
    x = x.shape[-1] ** 0.5 * x / jnp.linalg.norm(x, axis=-1, keepdims=True)
    return jnp.concatenate([x, jnp.ones_like(x[..., :1])], -1)


INPUTS = {"gaussian": _gaussian, "sphere": _sphere}
TARGETS = ("gaussian", "teacher", "hardest")


@task("token-regression")
class TokenRegression(AbstractTask):
    r"""$N$ sequences of $n$ tokens in $\mathbb{R}^D$, a target in $\mathbb{R}^o$ for each.

    The objective is $f = \frac12\sum_i\|\mathrm{MH}(X_i) - y_i\|^2$; all data is training
    data. Gaussian targets are drawn here. The others depend on the weights of the model,
    which computes them (:func:`piste.papers.kernels.models.draw_data_and_weights`).
    """

    sequences: int = option(default=8, minimum=1)
    """Number of sequences, $N$."""
    length: int = option(default=4, minimum=1)
    """Number of tokens per sequence, $n$."""
    dimension: int = option(default=8, minimum=1)
    """Dimension of a token, $D$."""
    outputs: int = option(default=1, minimum=1)
    """Dimension of a target, $o$."""
    inputs: str = option(default="gaussian", choices=INPUTS)
    r"""Entries $N(0,1)$, or tokens $(x, 1)$ of norm $\sqrt D$, $x$ on a sphere."""
    targets: str = option(default="gaussian", choices=TARGETS)
    """N(0,1); the outputs of a softmax teacher; or the direction that is learnt last."""

    def __post_init__(self):
        if self.inputs == "sphere" and self.dimension < 2:
            raise field_error(
                "dimension", self.dimension, "must be at least 2 on a sphere"
            )
        if self.targets == "hardest" and self.outputs > 1:
            raise field_error("outputs", self.outputs, "must be 1 for hardest targets")

    def datasets(
        self, loaded: None, *, seed: int | Int[Array, ""]
    ) -> tuple[RegressionData, RegressionData]:
        """The training set, which also stands where a test set is expected."""
        data = self.sample(key=stream(seed, Stream.DATA))
        return data, data

    def sample(self, *, key: Key[Array, ""]) -> RegressionData:
        """Draw the sequences and Gaussian targets."""
        shape = (self.sequences, self.length)
        drawn, targets = draw_normals(
            key, (*shape, self.dimension), (*shape, self.outputs)
        )
        return RegressionData(INPUTS[self.inputs](drawn), targets)

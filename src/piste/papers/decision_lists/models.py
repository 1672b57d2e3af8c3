"""One attention layer on one-hot tokens, and a softmax over labels."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, Key

from piste.attention import KERNELS, attend
from piste.models import AbstractModel, model
from piste.values import option


class OneHotWeights(eqx.Module):
    r"""The matrices $W$ (a row per key token, a column per query token) and $V$."""

    attention: Float[Array, "token token"]
    value: Float[Array, "label token"]


@model("one-hot")
class OneHot(AbstractModel):
    r"""The transformer $f_{W,V}(X) = \sigma(V X \sigma(X^\top W X))$, softmax by columns.

    The tokens are one-hot, so the embedding has the dimension $L$ of the vocabulary.
    Another kernel takes the place of the inner softmax.
    """

    train: str = option(default="both", choices=("both", "attention", "value"))
    """Which of $W$ (attention) and $V$ (value) is trained."""
    start: str = option(default="random", choices=("random", "permutation"))
    """Small random weights; or $W_0 = 0$ and $V_0 = cP$, as in the theorems."""
    init_scale: float = option(default=0.01, minimum=0)
    r"""Standard deviation of the random initial weights, $\sigma_0$."""
    value_scale: float = option(default=0.0, minimum=0)
    """The scale $c$ of $V_0 = cP$; 0 takes the constant of the theorem: of Theorem 1 if
    only $W$ is trained, else of Theorem 2."""
    kernel: str = option(default="softmax", choices=KERNELS)
    """How queries and keys become attention weights."""

    def draw_weights(self, task: Any, *, key: Key[Array, ""]) -> OneHotWeights:
        """The weights for the task's vocabulary."""
        return self.init(key=key, vocabulary=task.vocabulary)

    def init(self, *, key: Key[Array, ""], vocabulary: int) -> OneHotWeights:
        r"""Draw all weights from $N(0, \sigma_0^2)$; a fixed $W$ is 0."""
        attention, value = jax.random.normal(key, (2, vocabulary, vocabulary))
        scale = 0.0 if self.train == "value" else self.init_scale
        return OneHotWeights(scale * attention, self.init_scale * value)


def at_permutation(
    permutation: Int[Array | np.ndarray, " token"], scale: Float[Array, ""] | float
) -> OneHotWeights:
    r"""The start of the theorems: $W = 0$ and $V = cP$, $P e_a = e_{\pi(a)}$."""
    size = permutation.shape[0]
    zeros = jnp.zeros((size, size))
    return OneHotWeights(zeros, zeros.at[permutation, jnp.arange(size)].set(scale))


def matrix_logits(
    weights: OneHotWeights,
    columns: Float[Array, "token position"],
    kernel: str = "softmax",
) -> Float[Array, "label position"]:
    r"""$V X \sigma(X^\top W X)$ as written, for $X = [e_{i_1}|…|e_{i_n}]$."""
    keys = columns.T
    queries = keys @ weights.attention.T
    return attend(KERNELS[kernel], queries, keys, keys @ weights.value.T).T


def token_attention(
    weights: OneHotWeights, tokens: Int[Array, " position"], kernel: str = "softmax"
) -> Float[Array, "key_position position"]:
    r"""$\sigma(X^\top W X)$ for token numbers: products with $X$ pick columns."""
    if kernel == "softmax":
        scores = weights.attention[tokens[:, None], tokens]
        return jax.nn.softmax(scores, axis=0)
    keys = jax.nn.one_hot(tokens, len(weights.attention), dtype=weights.value.dtype)
    return KERNELS[kernel](weights.attention.T[tokens], keys).T


def token_logits(
    weights: OneHotWeights, tokens: Int[Array, " position"], kernel: str = "softmax"
) -> Float[Array, "label position"]:
    """The logits of :func:`matrix_logits` for a sequence of token numbers."""
    return weights.value[:, tokens] @ token_attention(weights, tokens, kernel)


def label_loss(
    logits: Float[Array, "label position"], labels: Int[Array, " position"]
) -> Float[Array, ""]:
    r"""$\frac1n\sum_j -\log f(X)_{y_j,j}$, with $f = \sigma(\mathrm{logits})$."""
    log_f = jax.nn.log_softmax(logits, axis=0)
    return -jnp.take_along_axis(log_f, labels[None], axis=0).mean()


def label_margin(
    logits: Float[Array, "label position"], labels: Int[Array, " position"]
) -> Float[Array, " position"]:
    """By how much the logit of the label exceeds the best of the others."""
    right = jnp.arange(logits.shape[0])[:, None] == labels
    others = jnp.where(right, -jnp.inf, logits).max(0)
    return jnp.where(right, logits, 0).sum(0) - others

"""One attention layer on one-hot tokens, and a softmax over labels."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, Key

from piste.values import option, value

from .attention import attend, softmax


class OneHotWeights(eqx.Module):
    r"""The trained matrices $W$ (key token a row, query token a column) and $V$."""

    attention: Float[Array, "token token"]
    value: Float[Array, "label token"]


@value
class OneHot:
    r"""The transformer $f_{W,V}(X) = \sigma(V X \sigma(X^\top W X))$, softmax by columns.

    The tokens are one-hot, so the embedding has the dimension $L$ of the vocabulary.
    """

    init_scale: float = option(default=0.01, least=0)
    r"""Standard deviation of the initial weights, $\sigma_0$."""

    def init(self, *, key: Key[Array, ""], vocabulary: int) -> OneHotWeights:
        r"""Draw all weights from $N(0, \sigma_0^2)$."""
        draws = jax.random.normal(key, (2, vocabulary, vocabulary))
        return OneHotWeights(*(self.init_scale * draws))


def matrix_logits(
    weights: OneHotWeights, columns: Float[Array, "token position"]
) -> Float[Array, "label position"]:
    r"""$V X \sigma(X^\top W X)$ as written, for $X = [e_{i_1}|…|e_{i_n}]$."""
    keys = columns.T
    queries = keys @ weights.attention.T
    return attend(softmax, queries, keys, keys @ weights.value.T).T


def token_logits(
    weights: OneHotWeights, tokens: Int[Array, " position"]
) -> Float[Array, "label position"]:
    r"""The same for a sequence of token numbers: products with $X$ pick columns."""
    scores = weights.attention[tokens[:, None], tokens]
    return weights.value[:, tokens] @ jax.nn.softmax(scores, axis=0)


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

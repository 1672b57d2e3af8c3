r"""One multi-head attention layer with any kernel, for regression of every token.

$\mathrm{MH}(M; X) = \sum_h S_h X W_h^V W_h^O$ with $S_h$ the kernel of the queries
$XW_h^Q$ and the keys $XW_h^K$, both scaled by $d^{-1/4}$. Any of $W^Q, W^K, W^V$ is
trained and $W^O$ is fixed ("Unraveling the Gradient Descent Dynamics of Transformers").
"""

import dataclasses
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, Key

from piste.attention import KERNELS, KernelFunction, attend, softmax
from piste.errors import field_error
from piste.models import AbstractModel, model
from piste.streams import Stream, stream
from piste.values import option

from ..tasks import RegressionData, TokenRegression, draw_normals

MATRICES = {"Q": "query", "K": "key", "V": "value"}
"""The letter of each matrix that can be trained."""
SUBSETS = ("Q", "K", "V", "QK", "QV", "KV", "QKV")


class KernelWeights(eqx.Module):
    r"""The matrices $W_h^Q, W_h^K, W_h^V, W_h^O$ of all heads; a token is a row."""

    query: Float[Array, "head dimension width"]
    key: Float[Array, "head dimension width"]
    value: Float[Array, "head dimension width"]
    output: Float[Array, "head width output"]


@model("kernel-layer")
class KernelLayer(AbstractModel):
    r"""$H$ heads of width $d$ with one kernel, and how their matrices are initialised.

    The matched start puts every query near its own key: the Gaussian kernel then has
    large derivatives in $W^Q$, and softmax is saturated at one key.
    """

    heads: int = option(default=4, minimum=1)
    """Number of attention heads, $H$."""
    width: int = option(default=8, minimum=1)
    """Width of a head, $d$."""
    kernel: str = option(default="softmax", choices=KERNELS)
    """How queries and keys become attention weights."""
    train: str = option(default="QKV", choices=SUBSETS)
    """Letters of the matrices that are trained."""
    init: str = option(default="random", choices=("random", "matched"))
    r"""$W_h^Q, W_h^K$: independent $N(0, s^2/D)$; or $W_h^K$ is $s$ times orthogonal
    and $W_h^Q = W_h^K + r N(0, 1/D)$."""
    values: str = option(default="zero", choices=("zero", "random", "signed"))
    r"""$W_h^V$: 0; $N(0, v^2/D)$; or such that $W_h^V W_h^O = (N(0, v^2/D), (-1)^h)$."""
    output: str = option(default="random", choices=("random", "equal"))
    r"""$W_h^O$: $N(0, \alpha^2/d)$; or $\alpha$ times orthonormal columns, so that all
    heads weigh the same."""
    key_scale: float = option(default=1.0, greater_than=0)
    """Scale $s$ of queries and keys."""
    query_offset: float = option(default=0.7, minimum=0)
    """How far matched queries are from their keys, $r$."""
    value_scale: float = option(default=0.5, greater_than=0)
    """Scale $v$ of the values."""
    output_scale: float = option(default=1.0, greater_than=0)
    r"""Scale $\alpha$ of the output."""

    def draw_weights(self, task: Any, *, key: Key[Array, ""]) -> KernelWeights:
        """Draw the matrices in the sizes of the task's tokens and targets."""
        sizes = {"dimension": task.dimension, "outputs": task.outputs}
        return self.init_weights(key=key, **sizes)

    def init_weights(
        self, *, key: Key[Array, ""], dimension: int, outputs: int
    ) -> KernelWeights:
        """Draw all matrices."""
        self.check(outputs)
        per_head = (self.heads, dimension, self.width)
        to_output = (self.heads, self.width, outputs)
        # Signed values are drawn as W^V W^O, which has the shape of the outputs.
        signed = (self.heads, dimension, outputs)
        values = signed if self.values == "signed" else per_head
        # One draw for all: each further one adds about a second of compilation.
        q, k, v, o = draw_normals(key, per_head, per_head, values, to_output)
        output, keys = self._output(o), self._keys(k)
        return KernelWeights(
            self._queries(q, keys), keys, self._values(v, output), output
        )

    def check(self, outputs: int) -> None:
        """Refuse a width that is too small for the chosen initialisation."""
        orthogonal = self.output == "equal" or self.values == "signed"
        if orthogonal and self.width < outputs:
            expected = f"must be at least outputs = {outputs} for this start"
            raise field_error("width", self.width, expected)

    def _keys(self, drawn):
        if self.init == "matched":
            return self.key_scale * _orthonormal(drawn)
        return self.key_scale * _scaled_by_rows(drawn)

    def _queries(self, drawn, keys):
        if self.init == "matched":
            return keys + self.query_offset * _scaled_by_rows(drawn)
        return self.key_scale * _scaled_by_rows(drawn)

    def _output(self, drawn):
        if self.output == "equal":
            return self.output_scale * _orthonormal(drawn)
        return self.output_scale * _scaled_by_rows(drawn)

    def _values(self, drawn, output):
        if self.values == "zero":
            return jnp.zeros_like(drawn)
        values = self.value_scale * _scaled_by_rows(drawn)
        if self.values == "random":
            return values
        signs = (-1.0) ** jnp.arange(self.heads)
        return values.at[:, -1].set(signs[:, None]) @ jnp.linalg.pinv(output)


def _scaled_by_rows(drawn):
    r"""Scale standard normal entries to $N(0, 1/D)$, for a matrix with $D$ rows."""
    return drawn / drawn.shape[-2] ** 0.5


def _orthonormal(drawn):
    """Make the columns orthonormal, or the rows where there are fewer of them."""
    rows, columns = drawn.shape[-2:]
    if rows >= columns:
        return jnp.linalg.qr(drawn)[0]
    return jnp.linalg.qr(drawn.swapaxes(-1, -2))[0].swapaxes(-1, -2)


# --- what the layer computes on one sequence -----------------------------------------


def queries_and_keys(
    weights: KernelWeights, tokens: Float[Array, "token dimension"]
) -> tuple[Float[Array, "head token width"], Float[Array, "head token width"]]:
    r"""$XW_h^Q$ and $XW_h^K$, scaled so that their products have $1/\sqrt d$."""
    scale = weights.query.shape[-1] ** -0.25
    return scale * (tokens @ weights.query), scale * (tokens @ weights.key)


def attention(
    kernel: KernelFunction,
    weights: KernelWeights,
    tokens: Float[Array, "token dimension"],
) -> Float[Array, "head token token"]:
    """Attention weights $S_h$ of all heads, query token by key token."""
    return jax.vmap(kernel)(*queries_and_keys(weights, tokens))


def multi_head(
    kernel: KernelFunction,
    weights: KernelWeights,
    tokens: Float[Array, "token dimension"],
) -> Float[Array, "token output"]:
    r"""$\mathrm{MH}(M; X) = \sum_h S_h X W_h^V W_h^O$."""
    queries, keys = queries_and_keys(weights, tokens)
    # Few outputs make it cheaper to multiply the small matrices first.
    values = tokens @ (weights.value @ weights.output)
    heads = jax.vmap(lambda q, k, v: attend(kernel, q, k, v))
    return heads(queries, keys, values).sum(0)


def features(
    kernel: KernelFunction,
    weights: KernelWeights,
    tokens: Float[Array, "sequence token dimension"],
) -> Float[Array, "row column"]:
    r"""$B$ ($Nn \times HD$): rows of $[S_{i1}X_i, …, S_{iH}X_i]$ for all sequences.

    The layer is linear in it: $\mathrm{MH} = \sum_h B_h W_h^V W_h^O$.
    """

    def one(tokens):
        heads = attention(kernel, weights, tokens) @ tokens
        return heads.swapaxes(0, 1).reshape(tokens.shape[0], -1)

    each = jax.vmap(one)(tokens)
    return each.reshape(-1, each.shape[-1])


def squared_loss(
    kernel: KernelFunction, weights: KernelWeights, data: RegressionData
) -> Float[Array, ""]:
    r"""$f(M) = \frac12\sum_i\|\mathrm{MH}(M; X_i) - y_i\|^2$."""
    outputs = jax.vmap(lambda tokens: multi_head(kernel, weights, tokens))
    return ((outputs(data.tokens) - data.targets) ** 2).sum() / 2


# --- what a run starts from ------------------------------------------------------------


def draw_data_and_weights(
    task: TokenRegression, model: KernelLayer, *, seed: int | Int[Array, ""]
) -> tuple[RegressionData, KernelWeights]:
    """Draw data and weights, and compute the targets that depend on both."""
    data, key = task.datasets(None, seed=seed)[0], stream(seed, Stream.INIT)
    weights = model.draw_weights(task, key=key)
    teacher = teacher_key(seed)
    return fill_targets(task.targets, model, weights, data, key=teacher), weights


def teacher_key(seed: int | Int[Array, ""]) -> Key[Array, ""]:
    """Random key from which a teacher is drawn."""
    return jax.random.fold_in(stream(seed, Stream.INIT), 1)


def fill_targets(
    kind: str,
    model: KernelLayer,
    weights: KernelWeights,
    data: RegressionData,
    *,
    key: Key[Array, ""],
) -> RegressionData:
    """Replace the targets by those of another kind; Gaussian ones are drawn already."""
    if kind == "teacher":
        targets = teacher_targets(model, weights, data, key=key)
    elif kind == "hardest":
        targets = hardest_targets(KERNELS[model.kernel], weights, data)
    else:
        return data
    return dataclasses.replace(data, targets=targets)


def teacher_targets(
    model: KernelLayer,
    weights: KernelWeights,
    data: RegressionData,
    *,
    key: Key[Array, ""],
) -> Float[Array, "sequence token output"]:
    r"""Outputs of softmax with the same $W^K, W^V, W^O$ and another $W^Q$.

    So a softmax layer that trains $W^Q$ has a solution with $f = 0$. The teacher's
    $W^Q \sim N(0, 1/(s^2 D))$ undoes the scale $s$ of the keys: its logits are $O(1)$.
    """
    if model.values == "zero":
        expected = "must be random or signed for targets of a teacher"
        raise field_error("values", model.values, expected)
    teacher = teacher_weights(model, weights, key=key)
    return jax.vmap(lambda tokens: multi_head(softmax, teacher, tokens))(data.tokens)


def teacher_weights(
    model: KernelLayer, weights: KernelWeights, *, key: Key[Array, ""]
) -> KernelWeights:
    r"""Replace $W^Q$ by that of the teacher."""
    drawn = jax.random.normal(key, weights.query.shape)
    return dataclasses.replace(weights, query=_scaled_by_rows(drawn) / model.key_scale)


def hardest_targets(
    kernel: KernelFunction, weights: KernelWeights, data: RegressionData
) -> Float[Array, "sequence token output"]:
    r"""Left singular vector of $\sigma_{min}(B_0)$: what $W^V$ learns last."""
    left, _, _ = jnp.linalg.svd(features(kernel, weights, data.tokens))
    return left[:, -1].reshape(data.targets.shape)

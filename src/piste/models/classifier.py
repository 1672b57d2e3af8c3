r"""A transformer that classifies padded sequences, with the kernel as a switch.

Pre-LN blocks, learned positions, GELU, mean over the real positions and a head MLP: the
model of the second paper's experiments on text and Pathfinder, with the choices of the
public code of its dimensions (Chen et al. 2021, arXiv:2111.00035).
"""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, Key

from piste.attention.heads import attend_heads
from piste.attention.kernels import KERNELS
from piste.errors import field_error
from piste.values import option

from ._base import AbstractModel, model
from .dropout import dropout

SIZES = ("vocabulary", "length", "classes")
"""What the classifier must know of a task to draw its weights."""
EPSILON = 1e-5
"""Added to variances in LayerNorm, as PyTorch does."""


class Linear(eqx.Module):
    """The affine map $xW + b$."""

    matrix: Float[Array, "input output"]
    bias: Float[Array, " output"]

    def __call__(self, x: Float[Array, "*any input"]) -> Float[Array, "*any output"]:
        """Apply it to the last axis."""
        return x @ self.matrix + self.bias


class Norm(eqx.Module):
    r"""LayerNorm with trained scale and shift."""

    scale: Float[Array, " dimension"]
    shift: Float[Array, " dimension"]

    def __call__(
        self, x: Float[Array, "*any dimension"]
    ) -> Float[Array, "*any dimension"]:
        """Normalise the last axis."""
        centred = x - x.mean(-1, keepdims=True)
        variance = (centred**2).mean(-1, keepdims=True)
        return centred * jax.lax.rsqrt(variance + EPSILON) * self.scale + self.shift


class BlockWeights(eqx.Module):
    r"""$W^Q, W^K, W^V$ (heads side by side), $W^O$ and the MLP of one layer.

    No biases of $Q, K, V$: the shift of the LayerNorm before them moves all three.
    """

    attention_norm: Norm
    query: Float[Array, "dimension dimension"]
    key: Float[Array, "dimension dimension"]
    value: Float[Array, "dimension dimension"]
    output: Linear
    mlp_norm: Norm
    mlp_in: Linear
    mlp_out: Linear


class ClassifierWeights(eqx.Module):
    """Everything that is trained."""

    embedding: Float[Array, "token dimension"]
    position: Float[Array, "position dimension"]
    blocks: tuple[BlockWeights, ...]
    norm: Norm
    head_in: Linear
    head_out: Linear


@model("classifier")
class Classifier(AbstractModel):
    r"""Transformer classifier: $x \leftarrow x + \mathrm{MH}(\mathrm{LN}\,x)$, then
    $x \leftarrow x + \mathrm{MLP}(\mathrm{LN}\,x)$, in every layer.

    Scores are those of the paper, per head of width $d$: $q\cdot k/\sqrt d$ for softmax and
    $-\|q-k\|^2/(2\sqrt d)$ for the Gaussian, whose weights are not normalised.
    """  # noqa: D205

    shares_batches = True

    layers: int = option(default=2, minimum=1, maximum=1000)
    """Number of blocks, $L$; each is compiled by itself."""
    dimension: int = option(default=64, minimum=1)
    """Dimension of a token, $D$."""
    hidden: int = option(default=128, minimum=1)
    """Neurons of the MLPs in the blocks and in the head."""
    heads: int = option(default=2, minimum=1)
    """Attention heads, $H$; each has width $d = D/H$."""
    kernel: str = option(default="softmax", choices=KERNELS)
    """How queries and keys become attention weights."""
    dropout: float = option(default=0.1, minimum=0, less_than=1)
    """Probability of dropping an entry of the embeddings and of every update."""

    embedding_scale: float = option(default=0.02, greater_than=0)
    """Standard deviation of the initial embeddings and positions."""

    def __post_init__(self):
        if self.dimension % self.heads:
            expected = f"must be a multiple of heads = {self.heads}"
            raise field_error("dimension", self.dimension, expected)

    def draw_weights(self, task: Any, *, key: Key[Array, ""]) -> "ClassifierWeights":
        """The weights for the task's vocabulary, length and classes."""
        sizes = {name: getattr(task, name) for name in SIZES}
        return self.init(key=key, **sizes)

    def init(
        self, *, key: Key[Array, ""], vocabulary: int, length: int, classes: int
    ) -> ClassifierWeights:
        r"""Matrices from $N(0, 1/\mathrm{inputs})$, biases 0, scales 1."""
        tokens, positions, into, out, *blocks = jax.random.split(key, 4 + self.layers)
        return ClassifierWeights(
            embedding=self.embedding_scale
            * _normal(tokens, vocabulary, self.dimension),
            position=self.embedding_scale * _normal(positions, length, self.dimension),
            blocks=tuple(self._block(key=part) for part in blocks),
            norm=_norm(self.dimension),
            head_in=_linear(into, self.dimension, self.hidden),
            head_out=_linear(out, self.hidden, classes),
        )

    def _block(self, *, key: Key[Array, ""]) -> BlockWeights:
        query, keys, value, output, into, out = jax.random.split(key, 6)
        size = self.dimension
        return BlockWeights(
            attention_norm=_norm(size),
            query=_linear(query, size, size).matrix,
            key=_linear(keys, size, size).matrix,
            value=_linear(value, size, size).matrix,
            output=_linear(output, size, size),
            mlp_norm=_norm(size),
            mlp_in=_linear(into, size, self.hidden),
            mlp_out=_linear(out, self.hidden, size),
        )


def _normal(key, *shape: int):
    return jax.random.normal(key, shape)


def _linear(key, inputs: int, outputs: int) -> Linear:
    matrix = _normal(key, inputs, outputs) / inputs**0.5
    return Linear(matrix=matrix, bias=jnp.zeros(outputs))


def _norm(size: int) -> Norm:
    return Norm(scale=jnp.ones(size), shift=jnp.zeros(size))


# --- the forward pass ----------------------------------------------------------------

Tokens = Int[Array, "batch position"]
Mask = Bool[Array, "batch position"]
States = Float[Array, "batch position dimension"]
BatchKeys = Key[Array, " batch"]


def logits(
    model: Classifier,
    weights: ClassifierWeights,
    tokens: Tokens,
    mask: Mask,
    *,
    keys: BatchKeys | None = None,
) -> Float[Array, "batch class"]:
    """Logits of a batch; the mask is true at real positions.

    ``keys``, one for each sequence, switch dropout on. A batch, because the attention's
    fast form goes through it sequence by sequence, and all else is best done at once.
    """
    drop = _Dropout(model.dropout, keys)
    x = weights.embedding[tokens] + _positions(weights, tokens.shape[1])
    x = drop(x, 0)
    for number, block in enumerate(weights.blocks):
        x = x + drop(attention(model, block, x, mask), 1 + 2 * number)
        x = x + drop(_mlp(block, x), 2 + 2 * number)
    pooled = _mean_over(weights.norm(x), mask)
    return weights.head_out(gelu(weights.head_in(pooled)))


def attention(model: Classifier, block: BlockWeights, x: States, mask: Mask) -> States:
    r"""The update $\sum_h S_h X W_h^V W_h^O$ from normalised tokens, for a batch.

    Queries and keys are divided by $d^{1/4}$ each, and their matrices instead of them.
    """
    read, scale = block.attention_norm(x), (x.shape[-1] // model.heads) ** -0.25
    # Three products, not one: to cut a product in three costs more when going back.
    queries = _split(read @ (scale * block.query), model.heads)
    keys = _split(read @ (scale * block.key), model.heads)
    values = _split(read @ block.value, model.heads)
    mixed = attend_heads(model.kernel, queries, keys, values, mask)
    return block.output(mixed.swapaxes(1, 2).reshape(x.shape))


def _split(x: States, heads: int) -> Float[Array, "batch head position width"]:
    return x.reshape(*x.shape[:2], heads, -1).swapaxes(1, 2)


def _mlp(block: BlockWeights, x: States) -> States:
    return block.mlp_out(gelu(block.mlp_in(block.mlp_norm(x))))


def gelu(x: Float[Array, "*any"]) -> Float[Array, "*any"]:
    """GELU in its tanh form, which costs half of the one with the error function."""
    return jax.nn.gelu(x, approximate=True)


def _positions(weights: ClassifierWeights, length: int):
    longest = weights.position.shape[0]
    if length > longest:
        raise field_error("length", length, f"the model has {longest} positions")
    return weights.position[:length]


def _mean_over(x: States, mask: Mask) -> Float[Array, "batch dimension"]:
    total = jnp.where(mask[..., None], x, 0).sum(1)
    return total / jnp.maximum(mask.sum(1, keepdims=True), 1)


class _Dropout(eqx.Module):
    """Dropout at numbered places, each with keys of its own; nothing without keys."""

    rate: float | Float[Array, ""]
    keys: BatchKeys | None

    def __call__(self, x: States, place: int) -> States:
        if self.keys is None:
            return x
        keys = jax.vmap(lambda key: jax.random.fold_in(key, place))(self.keys)
        return dropout(x, self.rate, keys=keys)


# --- what is minimised and measured --------------------------------------------------


def cross_entropy(
    found: Float[Array, "batch class"], labels: Int[Array, " batch"]
) -> Float[Array, ""]:
    r"""Mean of $-\log$ of the probability that the softmax gives to the label."""
    log_p = jax.nn.log_softmax(found)
    return -jnp.take_along_axis(log_p, labels[:, None], axis=1).mean()


def accuracy(
    found: Float[Array, "batch class"], labels: Int[Array, " batch"]
) -> Float[Array, ""]:
    """Share of sequences whose largest logit is that of the label."""
    return (found.argmax(-1) == labels).mean()

r"""A transformer that classifies padded sequences, with the kernel as a switch.

Pre-LN blocks, learned positions, GELU, mean over the real positions and a head MLP: the
usual small model for text and Pathfinder, with the choices of the public code of Chen et
al. (2021, arXiv:2111.00035) for the same tasks.
"""

import math
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, Key

from piste.attention.heads import FAST, attend_heads
from piste.attention.kernels import KERNELS
from piste.errors import field_error
from piste.registry import name_of
from piste.values import option

from ._base import model
from .dropout import dropout
from .sequence_classifier import AbstractSequenceClassifier, BatchKeys, Mask, Tokens

SIZES = ("vocabulary", "length", "classes")
"""What the classifier must know of a task to draw its weights."""
GREY_UNIT = 64
"""Grey levels that are one unit of a network's input. Most pixels are black, so that
inputs from 0 to 4 have a standard deviation near 1."""
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


class WindowEmbedding(eqx.Module):
    """What turns the pixels of a window into a token: an MLP."""

    into: Linear
    out: Linear

    def __call__(
        self, pixels: Float[Array, "*any pixel"]
    ) -> Float[Array, "*any dimension"]:
        """Apply it to the last axis."""
        return self.out(gelu(self.into(pixels)))


class ClassifierWeights(eqx.Module):
    """Everything that is trained."""

    embedding: Float[Array, "vocabulary dimension"] | WindowEmbedding
    position: Float[Array, "position dimension"]
    blocks: tuple[BlockWeights, ...]
    norm: Norm
    head_in: Linear
    head_out: Linear


@model("classifier")
class Classifier(AbstractSequenceClassifier):
    r"""Transformer classifier: $x \leftarrow x + \mathrm{MH}(\mathrm{LN}\,x)$, then
    $x \leftarrow x + \mathrm{MLP}(\mathrm{LN}\,x)$, in every layer.

    Scores are those of the paper, per head of width $d$: $q\cdot k/\sqrt d$ for softmax and
    $-\|q-k\|^2/(2\sqrt d)$ for the Gaussian, whose weights are not normalised.
    """  # noqa: D205

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
    window: int = option(default=0, minimum=0)
    """Side of the square windows of an image that become tokens, in pixels; 0 makes a
    token of every pixel or word."""
    stride: int = option(default=4, minimum=1)
    """Pixels from one window to the next; a window lies around a square of this side, and
    windows overlap where they are larger."""

    def __post_init__(self):
        if self.dimension % self.heads:
            expected = f"must be a multiple of heads = {self.heads}"
            raise field_error("dimension", self.dimension, expected)
        if self.window and (
            self.window < self.stride or (self.window - self.stride) % 2
        ):
            expected = f"must be stride = {self.stride}, or more by an even number"
            raise field_error("window", self.window, expected)

    def draw_weights(self, task: Any, *, key: Key[Array, ""]) -> "ClassifierWeights":
        """The weights for the task's vocabulary, length and classes."""
        if not self.window:
            sizes = {name: getattr(task, name) for name in SIZES}
            return self.init(key=key, **sizes)
        key, own = jax.random.split(key)
        into, out = jax.random.split(own)
        length = self.windows_along(task) ** 2
        rest = self.init(key=key, vocabulary=1, length=length, classes=task.classes)
        embedding = WindowEmbedding(
            into=_linear(into, self.window**2, self.hidden),
            out=_linear(out, self.hidden, self.dimension),
        )
        return eqx.tree_at(lambda weights: weights.embedding, rest, embedding)

    def windows_along(self, task: Any) -> int:
        """Count the windows along a side of the task's images."""
        side = getattr(task, "side", 0)
        if not side:
            expected = f"task {name_of(task)} has no images; must be 0"
            raise field_error("model.window", self.window, expected)
        if side % self.stride:
            expected = f"must divide the side of an image, {side} pixels"
            raise field_error("model.stride", self.stride, expected)
        return side // self.stride

    def positions(self, task: Any) -> int:
        """Count the tokens that attend to each other."""
        return self.windows_along(task) ** 2 if self.window else task.length

    def logits(
        self,
        weights: "ClassifierWeights",
        tokens: Tokens,
        mask: Mask,
        *,
        keys: BatchKeys | None = None,
    ) -> Float[Array, "batch class"]:
        """Compute the logits of a batch.

        A batch, because the attention's fast form goes through it sequence by sequence,
        and all else is best done at once.
        """
        return logits(self, weights, tokens, mask, keys=keys)

    def activations(self, task: Any) -> float:
        """Estimate how many numbers a training step keeps of one sequence."""
        length = self.positions(task)
        token = 14 * self.dimension + 4 * self.hidden
        # Kernels without a blockwise form write down all weights of all heads.
        written = 0 if self.kernel in FAST else 4 * self.heads * length
        return self.layers * length * (token + written)

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

States = Float[Array, "batch position dimension"]


def logits(
    model: Classifier,
    weights: ClassifierWeights,
    tokens: Tokens,
    mask: Mask,
    *,
    keys: BatchKeys | None = None,
) -> Float[Array, "batch class"]:
    """Logits of a batch; ``keys``, one for each sequence, switch dropout on."""
    drop = _Dropout(model.dropout, keys)
    x, mask = _embedded(model, weights.embedding, tokens, mask)
    x = drop(x + _positions(weights, x.shape[1]), 0)
    for number, block in enumerate(weights.blocks):
        x = x + drop(attention(model, block, x, mask), 1 + 2 * number)
        x = x + drop(_mlp(block, x), 2 + 2 * number)
    pooled = _mean_over(weights.norm(x), mask)
    return weights.head_out(gelu(weights.head_in(pooled)))


def _embedded(
    model: Classifier,
    embedding: Float[Array, "vocabulary dimension"] | WindowEmbedding,
    tokens: Int[Array, "batch token"],
    mask: Bool[Array, "batch token"],
) -> tuple[States, Mask]:
    """The tokens that attend, and which of them are real: images have no padding."""
    if not isinstance(embedding, WindowEmbedding):
        return embedding[tokens], mask
    side = math.isqrt(tokens.shape[1])
    images = tokens.reshape(-1, side, side) / GREY_UNIT
    x = embedding(
        windows(images.astype(embedding.into.bias.dtype), model.window, model.stride)
    )
    return x, jnp.ones(x.shape[:2], bool)


def windows(
    images: Float[Array, "image side side"], size: int, stride: int
) -> Float[Array, "image window pixel"]:
    """Cut a square window around every square of ``stride`` pixels, row by row.

    Beyond the border there are zeros.

    >>> image = jnp.arange(1.0, 5.0).reshape(1, 2, 2)
    >>> windows(image, 1, 1)[0].astype(int).tolist()
    [[1], [2], [3], [4]]
    >>> windows(image, 3, 1)[0].astype(int).tolist()[0]
    [0, 0, 0, 0, 1, 2, 0, 3, 4]
    """
    around, count = (size - stride) // 2, images.shape[1] // stride
    padded = jnp.pad(images, ((0, 0), (around, around), (around, around)))
    places = stride * jnp.arange(count)[:, None] + jnp.arange(size)
    cut = padded[:, places[:, None, :, None], places[None, :, None, :]]
    return cut.reshape(len(images), count**2, size**2)


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
    """Share of sequences whose largest logit is that of the label.

    NaN where a logit is none: it would count as the largest one.
    """
    right = found.argmax(-1) == labels
    share = right.astype(found.dtype).mean()
    return jnp.where(jnp.isnan(found).any(), jnp.nan, share)

r"""The two-layer transformer with more heads, more layers, residuals and LayerNorm.

The last layer is the paper's read-out and everything that it has in common with
:class:`TwoLayer` is drawn and computed alike: one head and one layer are that model.
"""

from typing import Any, ClassVar

import equinox as eqx
import jax
from jaxtyping import Array, Float, Key

from piste.attention import KERNELS, KernelFunction
from piste.errors import field_error
from piste.models import AbstractModel, model
from piste.values import option

from .two_layer import TwoLayer, TwoLayerWeights

LENGTH_EPSILON = 1e-12
"""Added to squared lengths: a token of zeros stays zero, with a finite gradient."""


class HiddenWeights(eqx.Module):
    r"""$W_Q, W_K, W_V$, one row per neuron, and $W_O$, which leads back to the tokens."""

    query: Float[Array, "neuron dimension"]
    key: Float[Array, "neuron dimension"]
    value: Float[Array, "value_neuron dimension"]
    output: Float[Array, "dimension value_neuron"]


class StackWeights(eqx.Module):
    """The hidden layers, first to last, and the read-out."""

    hidden: tuple[HiddenWeights, ...]
    readout: TwoLayerWeights

    def arrays(self) -> dict[str, Array]:
        """All matrices by name; the hidden layers are numbered."""
        matrices = dict(vars(self.readout))
        for depth, layer in enumerate(self.hidden):
            matrices |= {
                f"hidden_{depth}_{name}": matrix for name, matrix in vars(layer).items()
            }
        return matrices


@model("stack")
class Stack(AbstractModel):
    r"""Attention layers with several heads; the last one is the paper's read-out.

    A hidden layer maps every token to $[h^{(l)} +] \sum_h W_O^h W_V^h H s_l^h$, where
    $H$ has the tokens $h^{(l)}$ for columns and $s_l^h$ is head $h$'s attention of token
    $l$. The read-out is $f = F_1 - F_{-1}$, $F_j = \frac1{m_v}\sum_{h,l} 1^\top
    W_{V,j}^h H s_l^h$. Heads share out the neurons: $m_k/H$ and $m_v/H$ to each.
    """

    neuron_axis: ClassVar[int] = -1

    heads: int = option(default=1, minimum=1)
    """Attention heads of a layer, $H$; consecutive rows of a matrix are one head."""
    depth: int = option(default=1, minimum=1, maximum=1000)
    """Attention layers, the read-out included; each is compiled by itself."""
    residual: bool = False
    """Whether a hidden layer adds to its input or replaces it, see ``path_scale``."""
    layer_norm: bool = False
    """Whether every layer reads normalised tokens, see :func:`layer_norm`."""
    key_width: int = option(default=100, minimum=1)
    """Neurons of a query and of a key matrix, all heads together, $m_k$."""
    value_width: int = option(default=20, minimum=1)
    """Neurons of a value matrix, all heads together, $m_v$."""
    init_scale: float = option(default=0.1, greater_than=0)
    r"""Scale of the initial weights, $\sigma_0\sqrt{d}$."""
    kernel: str = option(default="softmax", choices=KERNELS)
    """How queries and keys become attention weights."""

    def __post_init__(self):
        for name in ("key_width", "value_width"):
            if getattr(self, name) % self.heads:
                expected = f"must be a multiple of heads = {self.heads}"
                raise field_error(name, getattr(self, name), expected)

    def draw_weights(self, task: Any, *, key: Key[Array, ""]) -> "StackWeights":
        """The weights for tokens of the task's dimension."""
        return self.init(key=key, dimension=task.dimension)

    def init(self, *, key: Key[Array, ""], dimension: int) -> StackWeights:
        r"""Draw all weights from $N(0, \sigma_0^2)$, but see :meth:`path_scale`.

        The read-out is drawn as :class:`TwoLayer` draws it, whatever is below.
        """
        readout = TwoLayer(self.key_width, self.value_width, self.init_scale)
        # The read-out splits the key in four, which takes the numbers 0 to 3.
        keys = [jax.random.fold_in(key, 4 + layer) for layer in range(self.depth - 1)]
        return StackWeights(
            hidden=tuple(
                self._draw_hidden(key=one, dimension=dimension) for one in keys
            ),
            readout=readout.init(key=key, dimension=dimension),
        )

    def _draw_hidden(self, *, key: Key[Array, ""], dimension: int) -> HiddenWeights:
        query, key, value, output = jax.random.split(key, 4)
        sigma_0, path = self.init_scale / dimension**0.5, self.path_scale(dimension)
        keys, values = (self.key_width, dimension), (self.value_width, dimension)
        return HiddenWeights(
            query=sigma_0 * jax.random.normal(query, keys),
            key=sigma_0 * jax.random.normal(key, keys),
            value=path * jax.random.normal(value, values),
            output=path * jax.random.normal(output, values[::-1]),
        )

    def path_scale(self, dimension: int) -> float | Float[Array, ""]:
        r"""Standard deviation of the initial $W_V$ and $W_O$ of a hidden layer.

        With a residual it is $\sigma_0$ as everywhere, and the layer begins near the
        identity. Without one that would shrink the data by $\sigma_0^2\sqrt{d m_v}$ at
        each layer, so it is $(d m_v)^{-1/4}$: then $E\|W_O W_V h\|^2 = \|h\|^2$.
        """
        if self.residual:
            return self.init_scale / dimension**0.5
        return (dimension * self.value_width) ** -0.25


def layer_norm(
    tokens: Float[Array, "token dimension"],
) -> Float[Array, "token dimension"]:
    r"""LayerNorm without trained parameters, $(x - \bar x)/\|x - \bar x\|$.

    The usual length is $\sqrt d$; a fixed gain of $1/\sqrt d$ makes it 1, the length of
    the paper's signal, so that learning rates keep their meaning. Subtracting the mean
    $\bar x$ changes a sparse token by about $1/\sqrt d$ of its length, but in every
    coordinate. All tokens become equally long: what the model reads has SNR 1.
    """
    centred = tokens - tokens.mean(-1, keepdims=True)
    squares = (centred**2).sum(-1, keepdims=True)
    return centred * jax.lax.rsqrt(squares + LENGTH_EPSILON)


class LayerView(eqx.Module):
    """What one attention layer reads, and how it attends."""

    tokens: Float[Array, "token dimension"]
    attention: Float[Array, "head query_token key_token"]


def stack_form(
    model: Stack,
    weights: StackWeights,
    tokens: Float[Array, "token dimension"],
    kernel: KernelFunction | None = None,
    nudges: Float[Array, "layer head query_token key_token"] | None = None,
) -> tuple[Float[Array, ""], tuple[LayerView, ...]]:
    r"""$f(W, X)$, and what every layer sees, the read-out last; ``tokens`` is $X^\top$.

    A ``kernel`` that is given takes the place of the model's: the same function, with
    another way to differentiate it. ``nudges`` are added to the attention of the layers:
    the derivative by them, at zero, is that by the attention weights.
    """
    views = []
    for depth, layer in enumerate((*weights.hidden, weights.readout)):
        read = layer_norm(tokens) if model.layer_norm else tokens
        s = _attention(model, layer, read, kernel)
        s = s if nudges is None else s + nudges[depth]
        views.append(LayerView(read, s))
        if isinstance(layer, HiddenWeights):
            update = _mix_values(model, layer, read, s) @ layer.output.T
            tokens = tokens + update if model.residual else update
    values = _mean_values(model, weights.readout) @ read.T
    return (s.sum(1) * values).sum(), tuple(views)


def _attention(
    model: Stack,
    layer: HiddenWeights | TwoLayerWeights,
    tokens: Float[Array, "token dimension"],
    kernel: KernelFunction | None,
) -> Float[Array, "head token token"]:
    queries = by_head(model, tokens @ layer.query.T)
    keys = by_head(model, tokens @ layer.key.T)
    return jax.vmap(kernel or KERNELS[model.kernel])(queries, keys)


def _mix_values(
    model: Stack,
    layer: HiddenWeights,
    tokens: Float[Array, "token dimension"],
    attention: Float[Array, "head token token"],
) -> Float[Array, "token value_neuron"]:
    """Average the values by attention; those of all heads are side by side."""
    mixed = attention @ by_head(model, tokens @ layer.value.T)
    return mixed.swapaxes(0, 1).reshape(tokens.shape[0], -1)


def by_head(
    model: Stack, products: Float[Array, "token neuron"]
) -> Float[Array, "head token width"]:
    """Split neurons among the heads: consecutive ones belong together."""
    return products.reshape(products.shape[0], model.heads, -1).swapaxes(0, 1)


def _mean_values(
    model: Stack, readout: TwoLayerWeights
) -> Float[Array, "head dimension"]:
    r"""What each head adds to $v = \frac1{m_v}\sum_r (w_{V,1,r} - w_{V,-1,r})$.

    The read-out is linear in the values, so only these enter: the scalar form.
    """
    difference = readout.value_plus - readout.value_minus
    by_head = difference.reshape(model.heads, -1, difference.shape[-1])
    return by_head.sum(1) / model.value_width

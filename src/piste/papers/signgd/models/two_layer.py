"""One attention layer and a fixed linear layer, in two equivalent forms."""

from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Key

from piste.attention import KERNELS, KernelFunction, attend
from piste.models import AbstractModel, model
from piste.values import option


class TwoLayerWeights(eqx.Module):
    r"""The trained matrices $W_{V,1}, W_{V,-1}, W_Q, W_K$, one row per neuron."""

    value_plus: Float[Array, "value_neuron dimension"]
    value_minus: Float[Array, "value_neuron dimension"]
    query: Float[Array, "neuron dimension"]
    key: Float[Array, "neuron dimension"]

    def mean_value(self) -> Float[Array, " dimension"]:
        r"""The mean value $v = \frac1{m_v}\sum_r (w_{V,1,r} - w_{V,-1,r})$."""
        return (self.value_plus - self.value_minus).mean(0)


@model("two-layer")
class TwoLayer(AbstractModel):
    r"""The two-layer transformer $f = F_1 - F_{-1}$ (Li et al. 2025).

    $F_j = \frac{1}{m_v}\sum_l 1^\top W_{V,j} X\,\mathrm{softmax}(X^\top W_K^\top W_Q
    x^{(l)})$, with no $1/\sqrt{m_k}$ in the softmax.
    """

    neuron_axis: ClassVar[int] = -1

    key_width: int = option(default=100, minimum=1)
    """Neurons of the query and of the key matrix, $m_k$."""
    value_width: int = option(default=20, minimum=1)
    """Neurons of each value matrix, $m_v$."""
    init_scale: float = option(default=0.1, greater_than=0)
    r"""Scale of the initial weights, $\sigma_0\sqrt{d}$."""
    kernel: str = option(default="softmax", choices=KERNELS)
    """How queries and keys become attention weights."""

    def draw_weights(self, task: Any, *, key: Key[Array, ""]) -> TwoLayerWeights:
        """The weights for tokens of the task's dimension."""
        return self.init(key=key, dimension=task.dimension)

    def init(self, *, key: Key[Array, ""], dimension: int) -> TwoLayerWeights:
        r"""Draw all weights from $N(0, \sigma_0^2)$."""
        widths = (self.value_width, self.value_width, self.key_width, self.key_width)
        keys = jax.random.split(key, len(widths))
        draws = (
            jax.random.normal(part, (width, dimension))
            for part, width in zip(keys, widths, strict=True)
        )
        sigma_0 = self.init_scale / dimension**0.5
        return TwoLayerWeights(*(sigma_0 * draw for draw in draws))


def matrix_form(
    weights: TwoLayerWeights,
    tokens: Float[Array, "token dimension"],
    kernel: KernelFunction,
) -> Float[Array, ""]:
    r"""$f(W, X)$ as written with matrices; ``tokens`` is $X^\top$."""
    queries, keys = tokens @ weights.query.T, tokens @ weights.key.T

    def class_score(value):
        return attend(kernel, queries, keys, tokens @ value.T).sum() / value.shape[0]

    return class_score(weights.value_plus) - class_score(weights.value_minus)


def scalar_form(
    weights: TwoLayerWeights,
    tokens: Float[Array, "token dimension"],
    kernel: KernelFunction,
) -> Float[Array, ""]:
    r"""The same $f(W, X)$ from the attention that each token receives.

    $f = \sum_a (s_{1a}+s_{2a})\langle v, x^{(a)}\rangle$.
    """
    s = kernel(tokens @ weights.query.T, tokens @ weights.key.T)
    return (s.sum(0) * (tokens @ weights.mean_value())).sum()


def logistic_loss(margin: Float[Array, "*any"]) -> Float[Array, "*any"]:
    r"""$\ell(z) = \log(1 + e^{-z})$ at the margin $z = y f$."""
    return jnp.logaddexp(0.0, -margin)

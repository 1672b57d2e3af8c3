r"""The gradient of a stack up to positive factors: what sign descent needs, at any scale.

With $z$ the difference of the two scores of a query, a weight of $W_Q$ or $W_K$ has a
gradient that is a sum over samples and tokens of terms with the factor

    σ(−y_i f_i) · s₁ s₂ = exp(log σ(−y_i f_i) + log σ(z) + log σ(−z)),

and both parts leave the range of floating point long before training ends. Here the
factors are kept in log space, and in every head the largest one is set to 1: that changes
no sign. The rest of the gradient (values, outputs) has only the first part.
"""

import dataclasses

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from piste.models import (
    HiddenWeights,
    LayerView,
    Stack,
    StackWeights,
    TwoLayerWeights,
    by_head,
    stack_form,
    two_key_softmax,
)
from piste.tasks import TwoTokenData


def scaled_gradient(
    model: Stack, params: StackWeights, data: TwoTokenData
) -> tuple[Float[Array, " sample"], StackWeights]:
    """The margins, and the gradient of the loss up to positive factors."""
    margins, gradient, views, slopes = _pulled_back(model, params, data)
    layers = zip(
        (*params.hidden, params.readout),
        (*gradient.hidden, gradient.readout),
        views,
        slopes,
        strict=True,
    )
    found = []
    for layer, plain, view, slope in layers:
        part = _coefficients(model, layer, view, slope)
        x = view.tokens
        query = jnp.einsum("iln,ild->nd", part.query, x)
        key = jnp.einsum("in,id->nd", part.key, x[:, 0] - x[:, 1])
        found.append(dataclasses.replace(plain, query=query, key=key))
    *hidden, readout = found
    return margins, StackWeights(tuple(hidden), readout)


def readout_parts(
    model: Stack, params: StackWeights, data: TwoTokenData
) -> TwoLayerWeights:
    """What each sample adds to the read-out's gradient: one value neuron of a head."""
    margins, _, views, slopes = _pulled_back(model, params, data)
    view, x = views[-1], views[-1].tokens
    part = _coefficients(model, params.readout, view, slopes[-1])
    query = jnp.einsum("iln,ild->ind", part.query, x)
    key = jnp.einsum("in,id->ind", part.key, x[:, 0] - x[:, 1])
    factor = scaled_slopes(margins) * data.labels / model.value_width
    value = jnp.einsum("i,ihla,iad->ihd", factor, view.attention, x)
    return TwoLayerWeights(value, -value, query, key)


def _pulled_back(model: Stack, params: StackWeights, data: TwoTokenData):
    """Margins, gradient, views, and the derivative by every layer's attention."""
    tokens = data.tokens()
    shape = (len(params.hidden) + 1, tokens.shape[0], model.heads, 2, 2)

    def margins(params, nudges):
        def one(tokens, nudges):
            return stack_form(model, params, tokens, two_key_softmax, nudges)

        outputs, views = jax.vmap(one, in_axes=(0, 1))(tokens, nudges)
        return data.labels * outputs, views

    zeros = jnp.zeros(shape, tokens.dtype)
    found, pull, views = jax.vjp(margins, params, zeros, has_aux=True)
    gradient, slopes = pull(scaled_slopes(found))
    return found, gradient, views, slopes


def scaled_slopes(margins: Float[Array, " sample"]) -> Float[Array, " sample"]:
    r"""The factor of every sample, $-\sigma(-m_i)$, with the largest set to 1."""
    logs = jax.nn.log_sigmoid(-margins)
    return -jnp.exp(logs - logs.max())


class Coefficients(eqx.Module):
    """The gradient of query and key as a sum of tokens: what each of them is times."""

    query: Float[Array, "sample token neuron"]
    """Of a token, in the gradient of the query matrix."""
    key: Float[Array, "sample neuron"]
    """Of the difference of the two tokens, in that of the key matrix."""


def _coefficients(
    model: Stack,
    layer: HiddenWeights | TwoLayerWeights,
    view: LayerView,
    slope: Float[Array, "sample head query_token key_token"],
) -> Coefficients:
    """The coefficients, from the derivative by the attention weights."""
    queries, keys = (
        jax.vmap(lambda rows: by_head(model, rows))(view.tokens @ matrix.T)
        for matrix in (layer.query, layer.key)
    )
    difference = keys[:, :, 0] - keys[:, :, 1]
    z = (queries * difference[:, :, None]).sum(-1)
    pull = slope[..., 0] - slope[..., 1]
    factor = _relative(jax.nn.log_sigmoid(z) + jax.nn.log_sigmoid(-z), pull)
    query = jnp.einsum("ihl,ihm->ilhm", factor, difference)
    key = jnp.einsum("ihl,ihlm->ihm", factor, queries)
    samples = z.shape[0]
    return Coefficients(query.reshape(samples, 2, -1), key.reshape(samples, -1))


def _relative(
    log_scale: Float[Array, "sample head token"],
    pull: Float[Array, "sample head token"],
) -> Float[Array, "sample head token"]:
    """``exp(log_scale) * pull``, divided by the largest size in each head."""
    size = log_scale + jnp.log(jnp.abs(pull))
    top = size.max((0, 2), keepdims=True)
    top = jnp.where(jnp.isfinite(top), top, 0)  # a head without any gradient
    return jnp.sign(pull) * jnp.exp(size - top)

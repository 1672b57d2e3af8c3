r"""The gradient of a stack up to positive factors: what sign descent needs, at any scale.

The gradient of a query, a key or a read-out value is a sum of tokens. With $z$ the
difference of the two scores of a query, the coefficients have the factors

    σ(−y_i f_i) · s₁ s₂ = exp(log σ(−y_i f_i) + log σ(z) + log σ(−z)),

which leave the range of floating point long before training ends. They are kept in log
space, and every coordinate of every head is brought to scale 1 by a positive factor of
its own (``closed_form.column_scaled``): that changes no sign. Values and outputs of
hidden layers have only the first part; there the largest of all samples is set to 1.
"""

import dataclasses

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from ..models import (
    HiddenWeights,
    LayerView,
    Stack,
    StackWeights,
    TwoLayerWeights,
    by_head,
    stack_form,
)
from ..tasks import TwoTokenData
from .closed_form import ScaledCoefficients, column_scaled, count_near_zero

LOG_OF_ZERO = -1e300
"""Stands for the log of a coefficient of zero: finite, so that differences are too."""


class TokenSum(eqx.Module):
    """The gradient of one matrix, head by head: coefficients of some rows."""

    rows: Float[Array, "row dimension"]
    coefficients: ScaledCoefficients
    """By head and row; the factor has the neurons of a head."""

    def gradient(self) -> Float[Array, "neuron dimension"]:
        """The sum, each coordinate of each head up to a positive factor."""

        def one(scaled: ScaledCoefficients):
            return scaled.factor.T @ column_scaled(self.rows, scaled.log_scale)

        gradients = jax.vmap(one)(self.coefficients)
        return gradients.reshape(-1, self.rows.shape[-1])

    def count_undecided(self) -> Float[Array, ""]:
        """How many entries are within rounding of zero."""
        copies = jnp.ones(self.rows.shape[-1], self.rows.dtype)

        def one(scaled: ScaledCoefficients):
            basis = column_scaled(self.rows, scaled.log_scale)
            return count_near_zero(basis, scaled.factor, copies)

        return jax.vmap(one)(self.coefficients).sum()


class LayerSums(eqx.Module):
    """The gradients of query and key of a layer."""

    query: TokenSum
    key: TokenSum


def scaled_gradient(
    model: Stack, params: StackWeights, data: TwoTokenData
) -> tuple[Float[Array, " sample"], StackWeights]:
    """The margins, and the gradient of the loss up to positive factors."""
    margins, views, layers = _layers(model, params, data)
    value = _readout_value(model, views[-1], margins, data).gradient()
    value = jnp.repeat(value, model.value_width // model.heads, axis=0)
    last = layers[-1]
    readout = TwoLayerWeights(value, -value, last.query.gradient(), last.key.gradient())
    plain = _hidden_gradient(model, params, data)
    hidden = tuple(
        dataclasses.replace(g, query=sums.query.gradient(), key=sums.key.gradient())
        for g, sums in zip(plain, layers[:-1], strict=True)
    )
    return margins, StackWeights(hidden, readout)


def count_undecided_signs(
    model: Stack, params: StackWeights, data: TwoTokenData
) -> Float[Array, " layer"]:
    """Count entries of the read-out's gradient near zero: value, query and key.

    All value neurons of a head have one gradient, so that one of them is counted.
    """
    margins, views, layers = _layers(model, params, data)
    value = _readout_value(model, views[-1], margins, data)
    sums = (value, layers[-1].query, layers[-1].key)
    return jnp.stack([one.count_undecided() for one in sums])


def _layers(model: Stack, params: StackWeights, data: TwoTokenData):
    """Margins, what every layer sees, and the gradients of all queries and keys."""
    tokens = data.tokens()
    shape = (len(params.hidden) + 1, tokens.shape[0], model.heads, 2, 2)

    def margins(nudges):
        outputs, views = jax.vmap(
            lambda x, nudges: stack_form(model, params, x, two_key_softmax, nudges),
            in_axes=(0, 1),
        )(tokens, nudges)
        return data.labels * outputs, views

    values, pull_back, views = jax.vjp(
        margins, jnp.zeros(shape, tokens.dtype), has_aux=True
    )
    # A sample's margin depends on its own attention alone, so that the derivatives of all
    # margins come at once; their factors in the loss follow in log space.
    (slopes,) = pull_back(-jnp.ones_like(values))
    log_factor = jax.nn.log_sigmoid(-values)
    layers = zip((*params.hidden, params.readout), views, slopes, strict=True)
    return values, views, [_layer_sums(model, *one, log_factor) for one in layers]


def _layer_sums(
    model: Stack,
    layer: HiddenWeights | TwoLayerWeights,
    view: LayerView,
    slope: Float[Array, "sample head query_token key_token"],
    log_factor: Float[Array, " sample"],
) -> LayerSums:
    x = view.tokens
    queries, keys = (
        jax.vmap(lambda rows: by_head(model, rows))(x @ matrix.T)
        for matrix in (layer.query, layer.key)
    )
    difference = keys[:, :, 0] - keys[:, :, 1]
    z = (queries * difference[:, :, None]).sum(-1)
    pull = slope[..., 0] - slope[..., 1]
    # sample, head, query token
    logs = jax.nn.log_sigmoid(z) + jax.nn.log_sigmoid(-z) + log_factor[:, None, None]
    logs = logs + jnp.where(pull == 0, LOG_OF_ZERO, jnp.log(jnp.abs(pull)))
    top = logs.max(-1)
    relative = jnp.sign(pull) * jnp.exp(logs - top[..., None])
    query = jnp.einsum("ihl,ihm->hilm", jnp.sign(pull), difference)
    key = jnp.einsum("ihl,ihlm->him", relative, queries)
    heads, flat = model.heads, x.reshape(-1, x.shape[-1])
    return LayerSums(
        TokenSum(
            flat,
            ScaledCoefficients(
                logs.swapaxes(0, 1).reshape(heads, -1),
                query.reshape(heads, len(flat), -1),
            ),
        ),
        TokenSum(x[:, 0] - x[:, 1], ScaledCoefficients(top.T, key)),
    )


def _readout_value(
    model: Stack,
    view: LayerView,
    margins: Float[Array, " sample"],
    data: TwoTokenData,
) -> TokenSum:
    """The gradient of one value neuron of each head of the read-out."""
    x = view.tokens
    total = view.attention.sum(2)  # sample, head, key token
    log_total = jnp.where(
        total > 0, jnp.log(jnp.where(total > 0, total, 1)), LOG_OF_ZERO
    )
    logs = jax.nn.log_sigmoid(-margins)[:, None, None] + log_total
    signs = jnp.broadcast_to(-data.labels[:, None, None], total.shape)
    heads = model.heads
    return TokenSum(
        x.reshape(-1, x.shape[-1]),
        ScaledCoefficients(
            logs.swapaxes(0, 1).reshape(heads, -1),
            signs.swapaxes(0, 1).reshape(heads, -1, 1),
        ),
    )


def _hidden_gradient(
    model: Stack, params: StackWeights, data: TwoTokenData
) -> tuple[HiddenWeights, ...]:
    """The gradient of the hidden layers, with the largest factor of a sample set to 1."""
    if not params.hidden:
        return ()

    def margins(hidden):
        weights = StackWeights(hidden, params.readout)
        outputs, _ = jax.vmap(lambda x: stack_form(model, weights, x, two_key_softmax))(
            data.tokens()
        )
        return data.labels * outputs

    values, pull_back = jax.vjp(margins, params.hidden)
    logs = jax.nn.log_sigmoid(-values)
    return pull_back(-jnp.exp(logs - logs.max()))[0]


def two_key_softmax(
    queries: Float[Array, "query width"], keys: Float[Array, "two width"]
) -> Float[Array, "query two"]:
    r"""Softmax over two keys, whose derivative $s_1 s_2$ keeps all its digits.

    The derivative of the usual softmax has $1 - s_1$ in place of $s_2$, which is zero as
    soon as $s_2 < 10^{-16}$; this one goes down to $10^{-308}$.
    """
    z = queries @ (keys[0] - keys[1])
    return jnp.stack([_logistic(z), _logistic(-z)], axis=-1)


@jax.custom_jvp
def _logistic(z: Float[Array, " query"]) -> Float[Array, " query"]:
    return jnp.exp(jax.nn.log_sigmoid(z))


@_logistic.defjvp
def _logistic_jvp(primals, tangents):
    (z,), (change,) = primals, tangents
    slope = jnp.exp(jax.nn.log_sigmoid(z) + jax.nn.log_sigmoid(-z))
    return _logistic(z), slope * change

r"""Closed-form gradients of the two-layer transformer, with scales in log space.

With $z_l = \langle W_Q x^{(l)}, W_K(x^{(1)}-x^{(2)})\rangle$ the attention is
$s_{l1} = \sigma(z_l)$, $s_{l2} = \sigma(-z_l)$, and $f = \sum_l s_{l1} a + s_{l2} b$ for
$a = \langle v, x^{(1)}\rangle$, $b = \langle v, x^{(2)}\rangle$. Hence, for each sample,

    ∂L/∂v     = Σ_t  λ (s_{1t} + s_{2t}) x⁽ᵗ⁾,              λ = −y σ(−y f)/n
    ∂L/∂w_Q   = Σ_l  λ s_{l1}s_{l2} (a − b) ⟨w_K, x⁽¹⁾−x⁽²⁾⟩ x⁽ˡ⁾
    ∂L/∂w_K   = Σ_l  λ s_{l1}s_{l2} (a − b) ⟨w_Q, x⁽ˡ⁾⟩ (x⁽¹⁾−x⁽²⁾)

Every gradient is a combination of tokens. The factors $\sigma(-yf)$ and
$s_{l1}s_{l2}$ leave the range of floating point long before training ends, so each
coefficient is kept as ``exp(log_scale) * factor``.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from ..models import logistic_loss
from ..probes import TwoTokenView
from ..tasks import TwoTokenData


class ScaledCoefficients(eqx.Module):
    """Coefficients of tokens, or of basis rows: ``exp(log_scale) * factor``."""

    log_scale: Float[Array, "*row"]
    factor: Float[Array, "*row neuron"]

    def plain(self) -> Float[Array, "*row neuron"]:
        """The coefficients themselves; small ones underflow to zero."""
        return jnp.exp(self.log_scale)[..., None] * self.factor


class Gradients(eqx.Module):
    """Coefficients of the gradients of the value, the query and the key."""

    value: ScaledCoefficients
    query: ScaledCoefficients
    key: ScaledCoefficients


def token_gradients(view: TwoTokenView) -> tuple[Float[Array, ""], Gradients]:
    """Compute the loss, and the coefficient of every token in every gradient.

    For softmax attention only.
    """
    q, k, (a, b) = view.query, view.key, view.value
    difference = k[0] - k[1]
    z = (q * difference).sum(-1)
    log_s1, log_s2 = jax.nn.log_sigmoid(z), jax.nn.log_sigmoid(-z)
    s1, s2 = jnp.exp(log_s1), jnp.exp(log_s2)
    margin = view.labels * (s1 * a + s2 * b).sum(0)
    log_lambda = jax.nn.log_sigmoid(-margin) - jnp.log(margin.size)

    log_both = jnp.stack([jnp.logaddexp(*log_s1), jnp.logaddexp(*log_s2)])
    value_factor = jnp.broadcast_to(-view.labels, log_both.shape)
    pull = (-view.labels * (a - b))[:, None]
    log_kappa = log_lambda + log_s1 + log_s2
    top = log_kappa.max(0)
    key_factor = pull * (jnp.exp(log_kappa - top)[..., None] * q).sum(0)
    gradients = Gradients(
        value=ScaledCoefficients(log_lambda + log_both, value_factor[..., None]),
        query=ScaledCoefficients(
            log_kappa, jnp.broadcast_to(pull * difference, q.shape)
        ),
        key=ScaledCoefficients(
            jnp.stack([top, top]), jnp.stack([key_factor, -key_factor])
        ),
    )
    return logistic_loss(margin).mean(), gradients


def row_gradients(
    gradient: ScaledCoefficients, data: TwoTokenData
) -> ScaledCoefficients:
    """Collect the coefficients of tokens into those of the distinct basis rows."""
    log_scale = data.largest(gradient.log_scale)
    relative = jnp.exp(gradient.log_scale - data.spread(log_scale))
    return ScaledCoefficients(
        log_scale, data.collect(relative[..., None] * gradient.factor)
    )


def column_scaled(
    basis: Float[Array, "row coordinate"], log_scale: Float[Array, " row"]
) -> Float[Array, "row coordinate"]:
    """Scale the rows, each coordinate by a positive factor of its own.

    The factor puts the largest row present in a coordinate at scale 1, so products with
    the result have the exact signs however small the scales are.
    """
    present = basis != 0
    top = jnp.where(present, log_scale[:, None], -jnp.inf).max(0)
    relative = jnp.where(present, log_scale[:, None] - top, -jnp.inf)
    return basis * jnp.exp(relative)


def exact_sign(
    basis: Float[Array, "row coordinate"], gradient: ScaledCoefficients
) -> Float[Array, "coordinate neuron"]:
    """The sign of the gradient at every weight, free of underflow."""
    return jnp.sign(column_scaled(basis, gradient.log_scale).T @ gradient.factor)


def count_near_zero(
    basis: Float[Array, "row coordinate"],
    factor: Float[Array, "row neuron"],
    copies: Float[Array, " coordinate"],
) -> Float[Array, ""]:
    r"""Count gradient entries within rounding of zero; a coordinate may stand for many.

    An entry is a sum of $k$ non-zero terms; it counts when
    $|\sum| \leq k\epsilon\sum|\cdot|$, the bound on its rounding error. Sums that
    vanish because all terms underflowed count too.
    """
    terms = (basis != 0).sum(0)[:, None]
    total, size = basis.T @ factor, jnp.abs(basis).T @ jnp.abs(factor)
    close = jnp.abs(total) <= terms * jnp.finfo(basis.dtype).eps * size
    return ((close & (terms > 0)) * copies[:, None]).sum()

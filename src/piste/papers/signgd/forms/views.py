"""What the probes see of some data, from inner products with its basis rows."""

import jax
from jaxtyping import Array, Float

from ..probes import MarginView, TwoTokenView
from ..tasks import TwoTokenData

Products = tuple[Float[Array, " row"], Float[Array, "row two_neurons"]]
"""Inner products of basis rows with the mean value, and with queries beside keys."""


def token_view(products: Products, data: TwoTokenData, kernel: str) -> TwoTokenView:
    """Inner products with all tokens, for probes of the training data."""
    value, attention = products
    width = attention.shape[-1] // 2
    attention = data.expand(attention)
    return TwoTokenView(
        value=data.expand(value),
        query=attention[..., :width],
        key=attention[..., width:],
        labels=data.labels,
        kernel=kernel,
    )


def softmax_margins(products: Products, data: TwoTokenData) -> MarginView:
    """Margins under softmax attention, from inner products with basis rows alone.

    Test sets are large: inner products with all their tokens would be twice as many.
    """
    value, attention = products
    width = attention.shape[-1] // 2
    (q1, q2), (k1, k2) = (
        data.split(attention[:, :width]),
        data.split(attention[:, width:]),
    )
    w, (v1, v2) = data.weight, data.split(value)
    # z_l: how much more token l attends to the first token than to the second.
    z1 = w * w * (q1 * k1).sum(-1) - w * (q1 * k2).sum(-1)
    z2 = w * (q2 * k1).sum(-1) - (q2 * k2).sum(-1)
    s1 = jax.nn.sigmoid(z1) + jax.nn.sigmoid(z2)
    s2 = jax.nn.sigmoid(-z1) + jax.nn.sigmoid(-z2)
    return MarginView(data.labels * (s1 * w * v1 + s2 * v2))

"""What is measured of two-token models: inner products, attention, losses and errors."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from piste.attention import KERNELS
from piste.probes import RARELY, Probe, summarise

from .models import logistic_loss


class TwoTokenView(eqx.Module):
    """A model seen through its inner products with the tokens of some data."""

    value: Float[Array, "token sample"]
    query: Float[Array, "token sample neuron"]
    key: Float[Array, "token sample neuron"]
    labels: Float[Array, " sample"]
    kernel: str = eqx.field(static=True)
    near_zero: Float[Array, " layer"] | None = None
    """Gradient entries within rounding of zero, where the form can tell."""

    def attention(self) -> Float[Array, "sample query_token key_token"]:
        """The attention weights $s_{i,la}$ of query token $l$ on key token $a$."""
        return jax.vmap(KERNELS[self.kernel], in_axes=1)(self.query, self.key)

    def margins(self) -> Float[Array, " sample"]:
        """The margins $y_i f(W, X_i)$, by the scalar form."""
        weights = self.attention().sum(1)
        return self.labels * (weights * self.value.T).sum(-1)

    def loss(self) -> Float[Array, ""]:
        """The mean logistic loss."""
        return logistic_loss(self.margins()).mean()

    def signed(self, products: Float[Array, "token sample *neuron"], token: int):
        """Inner products with $y_i x_i$ for one token."""
        extra = products.ndim - 2
        return products[token] * self.labels.reshape(self.labels.shape + (1,) * extra)


class MarginView(eqx.Module):
    """The margins of some data, where a form computes nothing else of it."""

    margin: Float[Array, " sample"]

    def margins(self) -> Float[Array, " sample"]:
        """The margins $y_i f(W, X_i)$."""
        return self.margin

    def loss(self) -> Float[Array, ""]:
        """The mean logistic loss."""
        return logistic_loss(self.margin).mean()


def _error(margins: Float[Array, " sample"]) -> Float[Array, ""]:
    """The share that is not positive; NaN if a margin is, as it is not wrong either."""
    share = (margins <= 0).astype(margins.dtype).mean()
    return jnp.where(jnp.isnan(margins).any(), jnp.nan, share)


SIGNAL, NOISE = 0, 1
"""The tokens of a sample, as the first axis of inner products has them."""
LAYERS = ("value", "query", "key")
"""The trained matrices, as probes of all of them list them."""

PROBES = (
    Probe(
        "train_loss",
        r"$L_S(W)$",
        "mean logistic loss on the training set",
        TwoTokenView.loss,
    ),
    Probe(
        "value_signal",
        r"$\langle v, \mu\rangle$",
        "mean value along the signal",
        lambda view: view.signed(view.value, SIGNAL).mean(),
    ),
    Probe(
        "value_noise",
        r"$\langle v, y_i\xi_i\rangle$",
        "mean value along each sample's noise",
        lambda view: view.signed(view.value, NOISE),
        ("sample",),
    ),
    Probe(
        "query_signal",
        r"$\langle w_{Q,s}, \mu\rangle$",
        "query neurons along the signal",
        lambda view: view.signed(view.query, SIGNAL).mean(0),
        ("neuron",),
    ),
    Probe(
        "key_signal",
        r"$\langle w_{K,s}, \mu\rangle$",
        "key neurons along the signal",
        lambda view: view.signed(view.key, SIGNAL).mean(0),
        ("neuron",),
    ),
    Probe(
        "query_noise",
        r"$\langle w_{Q,s}, y_i\xi_i\rangle$",
        "query neurons along each sample's noise",
        lambda view: view.signed(view.query, NOISE).T,
        ("neuron", "sample"),
    ),
    Probe(
        "key_noise",
        r"$\langle w_{K,s}, y_i\xi_i\rangle$",
        "key neurons along each sample's noise",
        lambda view: view.signed(view.key, NOISE).T,
        ("neuron", "sample"),
    ),
    Probe(
        "attention_signal_signal",
        r"$s_{i,11}$",
        "attention of the signal token on itself",
        lambda view: view.attention()[:, SIGNAL, SIGNAL],
        ("sample",),
    ),
    Probe(
        "attention_noise_signal",
        r"$s_{i,21}$",
        "attention of the noise token on the signal token",
        lambda view: view.attention()[:, NOISE, SIGNAL],
        ("sample",),
    ),
    Probe(
        "near_zero_gradients",
        r"$\#\{|\nabla L| \leq \mathrm{rounding}\}$",
        "gradient entries whose sign is within rounding of being undecided",
        lambda view: view.near_zero,
        ("layer",),
        LAYERS,
        along=RARELY,
    ),
    Probe(
        "test_loss",
        r"$L_D(W)$",
        "mean logistic loss on fresh samples",
        lambda view: view.loss(),
        along=RARELY,
        on_test=True,
    ),
    Probe(
        "test_error",
        r"$\Pr[y f(W, X) \leq 0]$",
        "share of fresh samples classified wrongly",
        lambda view: _error(view.margins()),
        along=RARELY,
        on_test=True,
    ),
)
summarise("test_error")

"""The stack of attention layers: all weights, gradients by automatic differentiation.

Its view is what the probes of two-token data see, so that the stage detector runs on it
unchanged. A stack has more than these probes show; they are told about the read-out,
the layer that the paper's statements are about:

- inner products are those of the read-out's weights with the raw tokens, μ and ξ_i,
  also where hidden layers or LayerNorm come before it (they say little about deep
  stacks without residuals, whose read-out does not live in the space of the tokens);
- neurons are those of all heads side by side, attention is the mean over heads;
- losses and margins come from the forward pass of the whole stack.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from piste.models import Stack, StackWeights, logistic_loss, stack_form
from piste.probes import PROBES, TwoTokenView
from piste.tasks import TwoTokenData

from ._base import AbstractForm


class StackView(eqx.Module):
    """A stack as the probes see it; what they cannot work out themselves is given."""

    value: Float[Array, "token sample"]
    query: Float[Array, "token sample neuron"]
    key: Float[Array, "token sample neuron"]
    labels: Float[Array, " sample"]
    heads: Float[Array, "sample head query_token key_token"]
    """Attention of the read-out's heads."""
    outputs: Float[Array, " sample"]
    """What the whole stack says, $f(W, X_i)$."""

    def attention(self) -> Float[Array, "sample query_token key_token"]:
        """The read-out's attention $s_{i,la}$, the mean over heads."""
        return self.heads.mean(1)

    def margins(self) -> Float[Array, " sample"]:
        """The margins $y_i f(W, X_i)$, by the forward pass."""
        return self.labels * self.outputs

    # These are written in terms of the two above and serve both views.
    loss = TwoTokenView.loss
    signed = TwoTokenView.signed


class StackForm(AbstractForm):
    """All weights of all layers, on tokens written out."""

    model: Stack
    weights: StackWeights
    data: TwoTokenData
    test: TwoTokenData

    def initial(self):
        """All weight matrices."""
        return self.weights

    def loss_and_gradient(self, params, step=0):
        """Differentiate the forward pass."""
        return jax.value_and_grad(self._loss)(params)

    def _loss(self, params):
        outputs, _ = self._forward(params, self.data)
        return logistic_loss(self.data.labels * outputs).mean()

    def _forward(self, params, data):
        # Hidden layers move tokens apart, so that a shared basis gains little here.
        one = jax.vmap(lambda tokens: stack_form(self.model, params, tokens))
        return one(data.tokens())

    def view(self, params):
        """The read-out on the training tokens, and the outputs of the stack."""
        return self._view(params, self.data)

    def test_view(self, params):
        """The read-out on the test tokens, and the outputs of the stack."""
        return self._view(params, self.test)

    def _view(self, params, data):
        outputs, heads = self._forward(params, data)
        readout = params.readout
        products = jnp.concatenate([readout.query, readout.key]) @ data.basis.T
        query, key = jnp.split(data.expand(products.T), 2, axis=-1)
        return StackView(
            value=data.expand(data.basis @ readout.mean_value()),
            query=query,
            key=key,
            labels=data.labels,
            heads=heads,
            outputs=outputs,
        )

    def probes(self):
        """All but the counts near zero, which need a closed form of the gradient."""
        return tuple(p for p in PROBES if p.name != "near_zero_gradients")

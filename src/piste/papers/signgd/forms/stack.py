"""The stack of attention layers: all weights, gradients by automatic differentiation.

Its view is what the probes of two-token data see, so that the stage detector runs on it
unchanged. A stack has more than these probes show; they are told about the read-out,
the layer that the paper's statements are about:

- inner products are those of the read-out's weights with the tokens that it reads, after
  the hidden layers and LayerNorm: the raw tokens μ and ξ_i only where there are none;
- neurons are those of all heads side by side, attention is the mean over heads;
- losses and margins come from the forward pass of the whole stack.
"""

import dataclasses

import equinox as eqx
import jax
from jaxtyping import Array, Float

from piste.training import AbstractForm

from ..models import Stack, StackWeights, logistic_loss, stack_form
from ..probes import PROBES, TwoTokenView
from ..tasks import TwoTokenData
from .near_zero import SampleGradients, count_near_zero_entries
from .stack_signs import count_undecided_signs, scaled_gradient


class StackView(eqx.Module):
    """A stack as the probes see it, with what they cannot compute themselves."""

    value: Float[Array, "token sample"]
    query: Float[Array, "token sample neuron"]
    key: Float[Array, "token sample neuron"]
    labels: Float[Array, " sample"]
    heads: Float[Array, "sample head query_token key_token"]
    """Attention of the read-out's heads."""
    outputs: Float[Array, " sample"]
    """What the whole stack says, $f(W, X_i)$."""
    near_zero: Float[Array, " layer"] | None = None
    """Entries of the read-out's gradient within rounding of zero, on training data."""

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
    """All weights of all layers, on all tokens in full."""

    model: Stack
    weights: StackWeights
    data: TwoTokenData
    test: TwoTokenData
    exact: bool = eqx.field(static=True)
    """Take the gradient up to positive factors, see ``stack_signs``: for SignGD only."""

    def initial(self):
        """All weight matrices."""
        return self.weights

    def loss_and_gradient(self, params, step=0):
        """Differentiate the forward pass; in exact mode, up to positive factors."""
        if not self.exact:
            return jax.value_and_grad(self.evaluation_loss)(params)
        margins, gradient = scaled_gradient(self.model, params, self.data)
        return logistic_loss(margins).mean(), gradient

    def evaluation_loss(self, params):
        """The mean logistic loss."""
        outputs, _ = self._forward(params, self.data)
        return logistic_loss(self.data.labels * outputs).mean()

    def gradient(self, params):
        """Its derivative, as it is."""
        return jax.grad(self.evaluation_loss)(params)

    def _forward(self, params, data):
        # Hidden layers move tokens apart, so that a shared basis gains little here.
        one = jax.vmap(lambda tokens: stack_form(self.model, params, tokens))
        return one(data.tokens())

    def view(self, params):
        """The read-out on the training tokens, and the outputs of the stack."""
        view, read = self._view(params, self.data)
        if self.exact:
            counts = count_undecided_signs(self.model, params, self.data)
        else:
            counts = count_near_zero_entries(self._sample_gradients(params), read)
        return dataclasses.replace(view, near_zero=counts)

    def test_view(self, params):
        """The read-out on the test tokens, and the outputs of the stack."""
        return self._view(params, self.test)[0]

    def _view(self, params, data):
        """The view, and the tokens that the read-out reads."""
        outputs, views = self._forward(params, data)
        read, readout = views[-1].tokens, params.readout
        tokens = read.swapaxes(0, 1)  # token, sample, dimension
        view = StackView(
            value=tokens @ readout.mean_value(),
            query=tokens @ readout.query.T,
            key=tokens @ readout.key.T,
            labels=data.labels,
            heads=views[-1].attention,
            outputs=outputs,
        )
        return view, read

    def _sample_gradients(self, params) -> SampleGradients:
        """What each sample adds to the gradient of the read-out."""

        def loss(params, tokens, label):
            f, _ = stack_form(self.model, params, tokens)
            return logistic_loss(label * f) / self.data.labels.size

        one = jax.vmap(jax.grad(loss), in_axes=(None, 0, 0))
        readout = one(params, self.data.tokens(), self.data.labels).readout
        # All value neurons of a head have one gradient: the first stands for them.
        width = self.model.value_width // self.model.heads
        value = readout.value_plus[:, ::width]
        return SampleGradients(value, readout.query, readout.key)

    def probes(self):
        """All of them."""
        return PROBES

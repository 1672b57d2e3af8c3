"""Data of two tokens per sample, stored once per distinct vector.

Every weight enters the loss through its inner products with the tokens. Tokens that
share a vector (all signals are ±μ) share a row of ``basis``, so the inner products of
a whole data set are one product with ``basis``.
"""

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float


class TwoTokenData(eqx.Module):
    """Samples $X_i = [x_i^{(1)}, x_i^{(2)}]$ with labels $y_i = ±1$.

    The last $n$ rows of ``basis`` are the second tokens. The rows before them are the
    first tokens, or the one vector that all first tokens share; sample $i$ has it times
    ``weight[i]``.
    """

    basis: Float[Array, "row dimension"]
    weight: Float[Array, " sample"]
    labels: Float[Array, " sample"]

    @property
    def shared(self) -> bool:
        """Whether one row serves all first tokens."""
        return self.basis.shape[0] == self.labels.size + 1

    def split(
        self, products: Float[Array, "row *neuron"]
    ) -> tuple[Float[Array, "first *neuron"], Float[Array, "sample *neuron"]]:
        """Split what belongs to basis rows by token: the first ones, and the second."""
        return products[: -self.labels.size], products[-self.labels.size :]

    def expand(
        self, products: Float[Array, "row *neuron"]
    ) -> Float[Array, "token sample *neuron"]:
        """Turn inner products with the basis into inner products with the tokens."""
        first, second = self.split(products)
        return jnp.stack([self._weighted(first), second])

    def collect(
        self, parts: Float[Array, "token sample *neuron"]
    ) -> Float[Array, "row *neuron"]:
        """Sum what belongs to each basis row: the transpose of :meth:`expand`."""
        first = self._weighted(parts[0])
        first = first.sum(0, keepdims=True) if self.shared else first
        return jnp.concatenate([first, parts[1]])

    def largest(self, parts: Float[Array, "token sample"]) -> Float[Array, " row"]:
        """The largest of what belongs to each basis row."""
        first = parts[0].max(keepdims=True) if self.shared else parts[0]
        return jnp.concatenate([first, parts[1]])

    def spread(self, rows: Float[Array, " row"]) -> Float[Array, "token sample"]:
        """Give every token what its basis row has."""
        first, second = self.split(rows)
        return jnp.stack([jnp.broadcast_to(first, second.shape), second])

    def arrays(self) -> dict[str, Array]:
        """The tokens and labels by name, for readers outside piste."""
        return {"tokens": self.tokens(), "labels": self.labels}

    def tokens(self) -> Float[Array, "sample token dimension"]:
        """All tokens of all samples, in full."""
        return self.expand(self.basis).swapaxes(0, 1)

    def _weighted(self, first: Float[Array, "first *neuron"]):
        return self.weight.reshape((-1,) + (1,) * (first.ndim - 1)) * first

"""Data of two tokens a sample, stored once per distinct vector.

Every weight enters the loss through its inner products with the tokens. Tokens that
share a vector (all signals are ±μ) share a row of ``basis``, so the inner products of
a whole data set are one product with ``basis``.
"""

import equinox as eqx
from jaxtyping import Array, Float, Int


class TwoTokenData(eqx.Module):
    """Samples $X_i = [x_i^{(1)}, x_i^{(2)}]$ with labels $y_i = ±1$.

    Token $l$ of sample $i$ is ``weight[l, i] * basis[row[l, i]]``.
    """

    basis: Float[Array, "row dimension"]
    row: Int[Array, "token sample"]
    weight: Float[Array, "token sample"]
    labels: Float[Array, " sample"]

    def expand(
        self, products: Float[Array, "row *neuron"]
    ) -> Float[Array, "token sample *neuron"]:
        """Turn inner products with the basis into inner products with the tokens."""
        extra = products.ndim - 1
        return products[self.row] * self.weight.reshape(
            self.weight.shape + (1,) * extra
        )

    def collect(
        self, parts: Float[Array, "token sample *neuron"]
    ) -> Float[Array, "row *neuron"]:
        """Sum what belongs to each basis row: the transpose of :meth:`expand`."""
        extra = parts.ndim - 2
        weighted = parts * self.weight.reshape(self.weight.shape + (1,) * extra)
        flat = weighted.reshape((-1,) + parts.shape[2:])
        zeros = flat[:1] * 0
        sums = zeros.repeat(self.basis.shape[0], axis=0)
        return sums.at[self.row.reshape(-1)].add(flat)

    def tokens(self) -> Float[Array, "sample token dimension"]:
        """The samples written out."""
        return self.expand(self.basis).swapaxes(0, 1)

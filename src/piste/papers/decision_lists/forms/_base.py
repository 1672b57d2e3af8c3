"""A population: an instance's distribution in a form that gives exact expectations."""

import abc

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from .cases import Cases


class AbstractPopulation(eqx.Module):
    r"""The loss over a whole distribution, as a function of the weights.

    With $V = cP$ the parameters are ``scores``, a column per query. Where tokens are
    exchangeable there is one column for all queries whose lists are equally long, and in
    it one row per place in the list and one for all other tokens.
    """

    cases: eqx.AbstractVar[Cases]
    frequency: eqx.AbstractVar[Float[Array | np.ndarray, " column"]]
    """Probability that a random position holds a query of the column."""
    column: eqx.AbstractVar[Int[Array | np.ndarray, " token"]]
    """The column that stands for each query token."""
    entries: eqx.AbstractVar[Float[Array | np.ndarray, "key column"]]
    """How many entries of $W$ each score stands for."""
    length: eqx.AbstractVar[int]
    """Tokens in a sequence, $n$."""
    repeats: eqx.AbstractVar[bool]
    """Whether a token may occur twice in a sequence."""

    @abc.abstractmethod
    def loss(
        self, attention: Float[Array, "token token"], value: Float[Array, "label token"]
    ) -> Float[Array, ""]:
        r"""$\mathcal{L}(W, V)$ for any matrices."""

    @abc.abstractmethod
    def condense(
        self, attention: Float[Array, "token token"]
    ) -> Float[Array, "key column"]:
        """The scores that stand for a matrix $W$ which has the same symmetry."""

    def attention_loss(
        self, scores: Float[Array, "key column"], scale: Float[Array, ""] | float
    ) -> Float[Array, ""]:
        r"""$\mathcal{L}(W, cP)$."""
        return (self.cases.weight * self.cases.losses(scores, scale)).sum()

    def attention_gradient(
        self, scores: Float[Array, "key column"], scale: Float[Array, ""] | float
    ) -> Float[Array, "key column"]:
        r"""$\partial\mathcal{L}(W, cP)/\partial W[b,a]$ for one entry of each score."""
        return jax.grad(self.attention_loss)(scores, scale) / self.entries

    def column_losses(
        self, scores: Float[Array, "key column"], scale: Float[Array, ""] | float
    ) -> Float[Array, " column"]:
        r"""$l_a(W[:,a])$: the expected loss of a position that holds query $a$."""
        weighted = self.cases.weight * self.cases.losses(scores, scale)
        sums = jnp.zeros(len(self.frequency)).at[self.cases.query].add(weighted)
        return sums / jnp.where(self.frequency > 0, self.frequency, 1)

    def margin(self, scores: Float[Array, "key column"]) -> Float[Array, ""]:
        """Positive if and only if all sequences are classified perfectly with $V = cP$."""
        return self.cases.margin(scores)

    def initial(self) -> Float[Array, "key column"]:
        """Uniform attention, $W = 0$."""
        return jnp.zeros(self.entries.shape)

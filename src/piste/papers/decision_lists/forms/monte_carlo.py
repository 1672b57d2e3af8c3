"""Fresh batches where a population cannot be tabulated, with their standard error."""

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float, Key

from ..tasks import Instance
from .listed import ListedPopulation


class Estimate(eqx.Module):
    """A mean over a batch of sequences, and its standard error."""

    mean: Float[Array, ""]
    standard_error: Float[Array, ""]


class MonteCarlo(eqx.Module):
    """Batches of independent sequences; every call with a new key is a new batch."""

    instance: Instance
    batch: int = eqx.field(static=True)
    kernel: str = eqx.field(static=True, default="softmax")

    def draw(self, *, key: Key[Array, ""]) -> ListedPopulation:
        """A population of ``batch`` random sequences of equal weight."""
        tokens = self.instance.sequences.sample(key=key, size=self.batch)
        weight = jnp.full(self.batch, 1 / self.batch)
        return ListedPopulation.of(self.instance, tokens, weight, self.kernel)

    def loss(
        self,
        attention: Float[Array, "token token"],
        value: Float[Array, "label token"],
        *,
        key: Key[Array, ""],
    ) -> Estimate:
        r"""$\mathcal{L}(W, V)$ for any matrices."""
        return estimate(self.draw(key=key).losses(attention, value))

    def attention_loss(
        self,
        scores: Float[Array, "token token"],
        scale: Float[Array, ""] | float,
        *,
        key: Key[Array, ""],
    ) -> Estimate:
        r"""$\mathcal{L}(W, cP)$."""
        losses = self.draw(key=key).cases.losses(scores, scale)
        return estimate(losses.reshape(self.batch, -1).mean(-1))


def estimate(losses: Float[Array, " sequence"]) -> Estimate:
    """The mean of a batch and its standard error."""
    # The positions of one sequence are not independent, so the sequence is the unit.
    return Estimate(losses.mean(), losses.std(ddof=1) / len(losses) ** 0.5)

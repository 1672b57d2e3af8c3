"""Fresh batches where a population cannot be tabulated, with their standard error."""

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float, Key

from piste.tasks.decision_lists import Instance

from .listed import Listed


class Estimate(eqx.Module):
    """A mean over a batch of sequences, and its standard error."""

    mean: Float[Array, ""]
    standard_error: Float[Array, ""]


class MonteCarlo(eqx.Module):
    """Batches of independent sequences; every call with a new key is a new batch."""

    instance: Instance
    batch: int = eqx.field(static=True)

    def draw(self, *, key: Key[Array, ""]) -> Listed:
        """A population of ``batch`` random sequences of equal weight."""
        tokens = self.instance.sequences.sample(key=key, size=self.batch)
        weight = jnp.full(self.batch, 1 / self.batch)
        return Listed.of(self.instance, tokens, weight)

    def loss(
        self,
        attention: Float[Array, "token token"],
        value: Float[Array, "label token"],
        *,
        key: Key[Array, ""],
    ) -> Estimate:
        r"""$\mathcal{L}(W, V)$ for any matrices."""
        return _estimate(self.draw(key=key).losses(attention, value))

    def attention_loss(
        self,
        scores: Float[Array, "token token"],
        scale: Float[Array, ""] | float,
        *,
        key: Key[Array, ""],
    ) -> Estimate:
        r"""$\mathcal{L}(W, cP)$."""
        losses = self.draw(key=key).cases.losses(scores, scale)
        return _estimate(losses.reshape(self.batch, -1).mean(-1))


def _estimate(losses: Float[Array, " sequence"]) -> Estimate:
    # The positions of one sequence are not independent, so the sequence is the unit.
    return Estimate(losses.mean(), losses.std(ddof=1) / len(losses) ** 0.5)

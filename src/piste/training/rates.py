"""The factor by which a step's update is multiplied where the rate changes."""

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from piste.experiment import Experiment


class RateFactor(eqx.Module):
    """A warm-up in equal parts, then a decay to a share of the rate at the last step."""

    final: Float[Array, "*cell"] | float
    warm_up: int = eqx.field(static=True)
    decay: str = eqx.field(static=True)
    steps: int = eqx.field(static=True)

    @staticmethod
    def of(experiment: Experiment) -> "RateFactor | None":
        """The factor of an experiment; None where every step has the rule's own rate."""
        rate = experiment.rate
        if rate.is_constant:
            return None
        return RateFactor(rate.final, rate.warm_up, rate.decay, experiment.steps)

    def __call__(self, step: Int[Array, ""] | int) -> Float[Array, ""]:
        """The factor of one step; the first is 1/warm-up, the last the final one."""
        # A whole number of 32 bits would otherwise become a float of 32 bits.
        done = jnp.asarray(step).astype(float) + 1
        parts = max(self.warm_up, 1)
        warming = jnp.minimum(done / parts, 1)
        if self.decay == "none":
            return warming
        share = jnp.clip((done - parts) / max(self.steps - parts, 1), 0, 1)
        left = (
            1 - share if self.decay == "linear" else (1 + jnp.cos(jnp.pi * share)) / 2
        )
        return warming * (self.final + (1 - self.final) * left)

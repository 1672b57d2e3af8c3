r"""Theorem 1: gradient flow on $W$ from 0 with $V = cP$ is perfect within a time."""

import math
from dataclasses import dataclass

from piste.claims import Condition

from ..tasks import Instance
from .conditions import positive_mass
from .masses import masses

SCALE_CONDITION = "V = cP, c = 4n log(L)/δ"
"""What the theorem asks of the fixed value matrix."""


@dataclass(frozen=True)
class AttentionTheorem:
    """The constants of Theorem 1, what it asks for and what it promises."""

    gamma: float
    delta: float
    scale: float
    r"""$c = 4n\log(L)/\delta$."""
    bound: float
    r"""The time $4M/(\log(L)\gamma)$, as stated."""
    proved_bound: float
    r"""$\frac{16}{9}\frac{M}{\log L}\sum_a 1/\gamma_a$: all columns at once, as derived."""
    time_unit: float
    r"""$\delta/(16\gamma\log^2 L)$, the scale of the measured times."""

    def conditions(self, value_scale: float) -> tuple[Condition, ...]:
        """What is asked of $V$ and of the distribution; $W_0 = 0$ is asked apart."""
        detail = f"V = {value_scale:.4g} P, 4n log(L)/δ = {self.scale:.4g}"
        return (
            Condition(SCALE_CONDITION, self.is_stated_scale(value_scale), detail),
            positive_mass("δ", self.delta),
            positive_mass("γ", self.gamma),
        )

    def is_stated_scale(self, value_scale: float, tolerance: float = 1e-9) -> bool:
        """Whether a scale of $V$ is the stated $c$, up to a relative error."""
        return math.isclose(value_scale, self.scale, rel_tol=tolerance)

    def step_bound(self, learning_rate: float) -> int:
        r"""The bound on the time of the flow in steps of descent, rounded up."""
        return math.ceil(self.bound / learning_rate)


def attention_theorem(instance: Instance) -> AttentionTheorem:
    """Compute the constants of Theorem 1 for an instance."""
    mass, log_size = masses(instance), math.log(instance.vocabulary)
    gamma, delta, longest = mass.rarest, mass.conditional, instance.list_bound
    occurring = mass.frequency[mass.frequency > 0]
    return AttentionTheorem(
        gamma=gamma,
        delta=delta,
        scale=4 * instance.length * log_size / delta,
        bound=4 * longest / (log_size * gamma),
        proved_bound=16 / 9 * longest / log_size * float((1 / occurring).sum()),
        time_unit=delta / (16 * gamma * log_size**2),
    )

r"""Gradient descent on $W$ alone with $V = cP$: the paper's first result, in steps.

The abstract says that gradient descent learns these parameters efficiently, and states a
time for gradient flow. Here descent at $\eta = $ share $/\max\lambda_{max}$ of its path is
compared with that time: is $\eta t^*$ within the flow's bound, and how near to the flow's
own first perfect time is it?
"""

import math

import jax.numpy as jnp
import xarray as xr

from piste.values import option, value

from .calculations import follow, listed_loss
from .forms import AttentionLoss, FlowData, Problem, common_sizes, descend_to_perfection
from .instances import RandomInstances, table

SHARES = (1.0, 0.1)
r"""Learning rates, in units of $1/\max\lambda_{max}$ of the path."""


@value
class AttentionDescents:
    """Random instances, descended on with large and with small steps."""

    draws: RandomInstances = RandomInstances("each", count=60, largest=10, longest=4)
    batch: int = option(default=30, minimum=1)
    """Instances in a part."""
    limit: int = option(default=5000, minimum=1)
    """Steps after which a descent ends unfinished."""

    def parts(self) -> int:
        """One for every batch."""
        return self.draws.batches(self.batch)

    def part(self, index: int) -> xr.Dataset:
        """Follow the flow of every instance, and descend."""
        flows = follow(self.draws.batch(index, self.batch), listed_loss)
        sizes = common_sizes([one.problem for one in flows])
        return table(
            [
                one.row() | self._descend(one.problem, sizes, share)
                for one in flows
                for share in SHARES
            ]
        )

    def _descend(self, problem: Problem, sizes: tuple[int, ...], share: float) -> dict:
        objective = AttentionLoss(FlowData.of(problem, sizes))
        start = jnp.zeros(sizes[2:])
        found = descend_to_perfection(objective, start, share=share, limit=self.limit)
        steps = math.nan if found.steps is None else float(found.steps)
        return {
            "share": share,
            "limit": self.limit,
            "learning_rate": found.learning_rate,
            "steepest": found.steepest,
            "first_curvature": found.curvatures[0],
            "descent_start_size": float(jnp.abs(start).max()),
            "steps": steps,
            "last_step": len(found.margins) - 1,
            "descent_time": found.learning_rate * steps,
        }

r"""Theorem 2: descent on $W$ and $V$ from 0 and near $cP$ is perfect at some step."""

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass

from piste.claims import Condition, inequality
from piste.errors import field_error

from ..tasks import Instance
from .conditions import is_small_step
from .masses import masses

CONDITIONS = (
    "c = 10n²L₀/δ + 4εn has a solution",
    "‖V₀ − cP‖∞ ≤ ε/2",
    "A < L₀ − 6ε/n",
    "A² > 4mL₀/ε",
    "η ≤ 1/λ_max along the path",
)
"""What the theorem asks for, in the order in which it is checked."""
SOLVABLE, CLOSE_START, LARGEST_PROGRESS, SMALLEST_PROGRESS, SMALL_STEP = CONDITIONS


@dataclass(frozen=True)
class ValueTheorem:
    """The constants of Theorem 2, what it asks for and what it promises."""

    delta: float
    scale: float
    r"""$c = 10n^2\mathcal{L}_0/\delta + 4\epsilon n$, a fixed point; infinite if none."""
    initial_loss: float
    r"""$\mathcal{L}_0$."""
    epsilon: float
    progress: float
    """$A$."""
    list_bound: int
    conditions: tuple[Condition, ...]
    """All but the one on the step size, which depends on the path."""

    @property
    def possible(self) -> bool:
        """Whether all conditions hold (the one on the step size is apart)."""
        return all(condition.met for condition in self.conditions)

    def step_condition(self, learning_rate: float, curvature: float) -> Condition:
        r"""$\eta \leq 1/\lambda_{max}$, with the largest curvature met on the path."""
        met = is_small_step(learning_rate, curvature)
        return inequality(SMALL_STEP, learning_rate, 1 / curvature, met)

    def travel(self) -> float:
        r"""How far the weights can move in the longest $T$: $\sqrt{\epsilon\mathcal{L}_0}$.

        With $\eta \leq 1/\lambda_{max}$ a step lowers the loss by $\eta\|g\|^2/2$ at
        least, so $\sum\eta\|g\| \leq \sqrt{2\eta T\mathcal{L}_0}$ by Cauchy and Schwarz.
        """
        return math.sqrt(self.epsilon * self.initial_loss)

    def steps(self, learning_rate: float) -> tuple[float, float]:
        r"""The interval of $T$: $[2m\mathcal{L}_0/(A^2\eta), \epsilon/(2\eta)]$."""
        shortest = 2 * self.list_bound * self.initial_loss / self.progress**2
        return shortest / learning_rate, self.epsilon / (2 * learning_rate)


def value_theorem(
    instance: Instance,
    epsilon: float | None = None,
    start_error: float = 0.0,
    initial_loss: Callable[[float], float] | None = None,
) -> ValueTheorem:
    r"""Compute the constants and conditions of Theorem 2 for an instance.

    $\mathcal{L}_0$ as a function of $c$ is known for $V_0 = cP$ without repetition; give
    it otherwise. Without ``epsilon`` the most favourable one is taken, $n\mathcal{L}_0/18$;
    $A$ is as large as it may be, because then the theorem says most.
    """
    loss_of = initial_loss or _loss_without_repetition(instance)
    delta, n, m = masses(instance).joint, instance.length, instance.list_bound
    c, loss, epsilon = _fixed_point(loss_of, n, delta, epsilon)
    upper, lower = loss - 6 * epsilon / n, math.sqrt(4 * m * loss / epsilon)
    # The largest A, up to 0.1 %, has the widest interval of T: the strictest statement.
    progress = 0.999 * upper
    if progress <= lower < upper:
        progress = (upper + lower) / 2
    close = start_error <= epsilon / 2
    conditions = (
        inequality(SOLVABLE, c, math.inf, math.isfinite(c)),
        inequality(CLOSE_START, start_error, epsilon / 2, close),
        inequality(LARGEST_PROGRESS, progress, upper, 0 < progress < upper),
        inequality(SMALLEST_PROGRESS, progress**2, lower**2, 0 < lower < progress),
    )
    return ValueTheorem(delta, c, loss, epsilon, progress, m, conditions)


def _loss_without_repetition(instance: Instance) -> Callable[[float], float]:
    if instance.sequences.repeats:
        expected = "with repetition the initial loss must be given as a function of c"
        raise field_error("initial_loss", None, expected)
    size, n = instance.vocabulary, instance.length
    return lambda c: math.log(n + (size - n) * math.exp(-c / n))


def _fixed_point(
    loss_of: Callable[[float], float], n: int, delta: float, epsilon: float | None
) -> tuple[float, float, float]:
    r"""Iterate $c$; return it with $\mathcal{L}_0$ and $\epsilon$.

    Growth beyond all bounds means that there is no solution. A loss that is not a number
    says nothing about solutions: then $c$ is none either.
    """
    c = 0.0
    for _ in range(500):
        loss = float(loss_of(c))
        chosen = n * loss / 18 if epsilon is None else epsilon
        c, before = 10 * n**2 * loss / delta + 4 * chosen * n, c
        # The tolerance leaves room for the rounding of a loss with large logits.
        if abs(c - before) <= 1e-9 * c:
            return c, loss, chosen
        if math.isnan(c):
            return math.nan, loss, chosen
        if not c < 1e100:
            break
    return math.inf, loss, chosen


def smallest_length(list_bound: int) -> int:
    r"""The smallest $n$ at which Theorem 2 can hold: $n\log^2 n > 162m$.

    Its two conditions on $A$ leave room if $(\mathcal{L}_0-6\epsilon/n)^2\epsilon >
    4m\mathcal{L}_0$; the left side is largest at $\epsilon = n\mathcal{L}_0/18$, and
    $\mathcal{L}_0 = \log n$ at the scale $c$ of the theorem.

    >>> [smallest_length(m) for m in (1, 2, 3, 4)]
    [19, 29, 38, 45]
    """
    lengths = itertools.count(2)
    return next(n for n in lengths if n * math.log(n) ** 2 > 162 * list_bound)

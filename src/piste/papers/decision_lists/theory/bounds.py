r"""The constants of the theorems on decision lists, computed from the distribution.

The abstract calls $\gamma$ and $\delta$ "minimum probability masses"; here $\gamma$ is the
probability that a random position holds the rarest token, and $\delta$ the least positive

    Pr[ a_k determines the label of a, and b occurs | a random position holds a ]

over lists, places $k$ and tokens $b$ after $a_k$ or outside the list: with it the proof
gives the stated $c = 4n\log(L)/\delta$ exactly. Theorem 2 uses the joint probability
$\Pr[a \in s, a_k$ determines its label, $b \in s]$.
"""

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from piste.claims import Condition, inequality
from piste.errors import InputError, field_error

from ..tasks.decision_lists import Instance
from ..tasks.sequences import Independent, UniformSets, counted

MOST_PAIRS = 50_000_000
"""The most (sequence, query, token) triples that are summed one by one."""


MOST_TERMS = 10_000_000
"""The most (query, place, token) triples that are gone through, a microsecond each."""


@dataclass(frozen=True)
class Masses:
    """The probabilities on which the theorems depend."""

    frequency: Float[np.ndarray, " token"]
    r"""$\gamma_a$: probability that a random position holds $a$."""
    conditional: float
    r"""$\delta$ of Theorem 1."""
    joint: float
    r"""$\delta$ of Theorem 2."""

    @property
    def rarest(self) -> float:
        r"""$\gamma = \min_a \gamma_a$ over the tokens that occur."""
        return float(self.frequency[self.frequency > 0].min())


def masses(instance: Instance) -> Masses:
    r"""$\gamma_a$ and both $\delta$, exactly."""
    if isinstance(instance.sequences, UniformSets):
        return _uniform_masses(instance)
    if isinstance(instance.sequences, Independent):
        return _independent_masses(instance, instance.sequences.probability)
    return _listed_masses(instance)


def _uniform_masses(instance: Instance) -> Masses:
    size, n = instance.vocabulary, instance.length
    found = [
        occurrence(size, n, present, k)
        for m in np.unique(instance.list_lengths)
        for k in range(int(m))
        for present in ((1, 2) if k < m - 1 else (1,))
    ]
    least = _least(found)
    return Masses(np.full(size, 1 / size), least, least * n / size)


def occurrence(vocabulary: int, length: int, present: int, absent: int) -> float:
    """Probability that given tokens join a query, and others do not (uniform sets)."""
    ways = math.prod(max(length - 1 - i, 0) for i in range(present))
    ways *= math.prod(max(vocabulary - length - i, 0) for i in range(absent))
    return ways / math.prod(vocabulary - 1 - i for i in range(present + absent))


def _independent_masses(instance: Instance, q: Float[np.ndarray, " token"]) -> Masses:
    _check_loop(instance)
    n, conditional, joint = instance.length, [], []
    for a, m in enumerate(instance.list_lengths):
        for k, decider in enumerate(instance.lists[a, :m]):
            before = instance.lists[a, :k]
            later = np.setdiff1d(np.arange(q.size), instance.lists[a, : k + 1])
            for b in later:
                needed = {int(decider), int(b)} - {a}
                conditional.append(_occur(q, needed, before, n - 1))
                joint.append(_occur(q, needed | {a}, before, n))
    return Masses(q, _least(conditional), _least(joint))


def _check_loop(instance: Instance) -> None:
    terms = int(instance.list_lengths.sum()) * instance.vocabulary
    if terms > MOST_TERMS:
        rule = f"{terms:.2g} terms to sum, at most {MOST_TERMS:.2g}; give value-scale"
        raise field_error("vocabulary", instance.vocabulary, rule)


def _occur(q, needed: set[int], absent, places: int) -> float:
    """Probability that all needed tokens occur in some places, and no absent one."""
    outside, total = q[absent].sum(), 0.0
    for size in range(len(needed) + 1):
        for missing in itertools.combinations(needed, size):
            left = 1 - outside - q[list(missing)].sum()
            total += (-1) ** size * left**places
    return total if total > 1e-13 else 0.0


def _least(found) -> float:
    return min((float(mass) for mass in found if mass > 0), default=1.0)


def _listed_masses(instance: Instance) -> Masses:
    """Sum over the sequences, each with its queries $a$ and co-occurring tokens $b$."""
    size, n = instance.vocabulary, instance.length
    _check_terms(instance)
    tokens, p = instance.sequences.rows()
    tokens = tokens[p > 0].astype(np.int64)
    p = p[p > 0, None, None]
    decider = np.asarray(instance.deciders(tokens))
    first = (tokens[:, :, None] == tokens[:, None, :]).argmax(-1) == np.arange(n)
    others = first[:, None, :] & (decider[:, :, None] != tokens[:, None, :])
    triple = (tokens * size + decider)[:, :, None] * size + tokens[:, None, :]
    kinds, place = np.unique(triple[others], return_inverse=True)
    frequency = np.bincount(tokens.ravel(), (p[:, 0] / n).repeat(n), size)
    joint = np.bincount(place, (p * first[:, :, None] * others)[others])
    each = np.bincount(place, (p / n * others)[others])
    return Masses(frequency, _least(each / frequency[kinds // size**2]), _least(joint))


def _check_terms(instance: Instance) -> None:
    cost = instance.length**2 * instance.sequences.count()
    if cost > MOST_PAIRS:
        rule = f"{counted(cost)} terms to sum, at most {MOST_PAIRS:.2g}"
        rule += "; use uniform or iid, or give value-scale"
        raise field_error("sequences", type(instance.sequences).__name__, rule)


# --- Theorem 1 ----------------------------------------------------------------------


@dataclass(frozen=True)
class AttentionTheorem:
    r"""Theorem 1: gradient flow on $W$ from 0 with $V = cP$ is perfect within a time."""

    gamma: float
    delta: float
    scale: float
    r"""$c = 4n\log(L)/\delta$."""
    bound: float
    r"""$4M/(\log(L)\gamma)$, as stated."""
    proved_bound: float
    r"""$\frac{16}{9}\frac{M}{\log L}\sum_a 1/\gamma_a$: all columns at once, as derived."""
    time_unit: float
    r"""$\delta/(16\gamma\log^2 L)$, the scale of the measured times."""


def attention_theorem(instance: Instance) -> AttentionTheorem:
    """The constants of Theorem 1 for an instance."""
    found, log_size = masses(instance), math.log(instance.vocabulary)
    gamma, delta, longest = found.rarest, found.conditional, instance.list_bound
    each = found.frequency[found.frequency > 0]
    return AttentionTheorem(
        gamma=gamma,
        delta=delta,
        scale=4 * instance.length * log_size / delta,
        bound=4 * longest / (log_size * gamma),
        proved_bound=16 / 9 * longest / log_size * float((1 / each).sum()),
        time_unit=delta / (16 * gamma * log_size**2),
    )


# --- Theorem 2 ----------------------------------------------------------------------


@dataclass(frozen=True)
class ValueTheorem:
    r"""Theorem 2: descent on $W$ and $V$ from 0 and near $cP$ is perfect at some step."""

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

    @property
    def possible(self) -> bool:
        """Whether all conditions hold (the one on the step size is apart)."""
        return all(condition.met for condition in self.conditions)

    def step_condition(self, learning_rate: float, curvature: float) -> Condition:
        r"""$\eta \leq 1/\lambda_{max}$, with the largest curvature met on the path."""
        holds = learning_rate <= 1 / curvature
        return inequality("η ≤ 1/λ_max", learning_rate, 1 / curvature, holds)

    def travel(self) -> float:
        r"""How far the weights can move in the longest $T$: $\sqrt{\epsilon\mathcal{L}_0}$.

        With $\eta \leq 1/\lambda_{max}$ a step lowers the loss by $\eta\|g\|^2/2$ at
        least, so $\sum\eta\|g\| \leq \sqrt{2\eta T\mathcal{L}_0}$ by Cauchy and Schwarz.
        """
        return math.sqrt(self.epsilon * self.initial_loss)

    def steps(self, learning_rate: float) -> tuple[float, float]:
        r"""The interval of $T$: $[2m\mathcal{L}_0/(A^2\eta), \epsilon/(2\eta)]$."""
        least = 2 * self.list_bound * self.initial_loss / self.progress**2
        return least / learning_rate, self.epsilon / (2 * learning_rate)


def value_theorem(
    instance: Instance,
    epsilon: float | None = None,
    start_error: float = 0.0,
    initial_loss: Callable[[float], float] | None = None,
) -> ValueTheorem:
    r"""The constants and conditions of Theorem 2 for an instance.

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
    conditions = (
        inequality("c = 10n²L₀/δ + 4εn has a solution", c, math.inf, math.isfinite(c)),
        inequality(
            "‖V₀−cP‖ ≤ ε/2", start_error, epsilon / 2, start_error <= epsilon / 2
        ),
        inequality("A < L₀ − 6ε/n", progress, upper, 0 < progress < upper),
        inequality("A² > 4mL₀/ε", progress**2, lower**2, 0 < lower < progress),
    )
    return ValueTheorem(delta, c, loss, epsilon, progress, m, conditions)


def _loss_without_repetition(instance: Instance) -> Callable[[float], float]:
    if instance.sequences.repeats:
        rule = "with repetition the initial loss must be given as a function of c"
        raise InputError(f"initial-loss = None: {rule}")
    size, n = instance.vocabulary, instance.length
    return lambda c: math.log(n + (size - n) * math.exp(-c / n))


def _fixed_point(loss_of, n: int, delta: float, epsilon: float | None):
    """Iterate $c$; growth beyond all bounds means that there is no solution.

    A loss that is not a number says nothing about solutions: then $c$ is none either.
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

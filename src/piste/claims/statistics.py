"""Tests over seeds and models, each with its side."""

from dataclasses import dataclass

import numpy as np
from scipy.stats import binomtest, t

from piste.errors import field_error

from .judging import Numbers
from .verdict import Condition, Outcome, Verdict

SIGNIFICANCE_LEVEL = 0.05
"""Probability below which a difference is not taken for chance."""
CONFIDENCE = 1 - SIGNIFICANCE_LEVEL
"""Confidence of the intervals of means and of shares."""
CONFIDENCE_PERCENT = f"{100 * CONFIDENCE:g} %"
"""The same as captions write it."""


@dataclass(frozen=True)
class SignTest:
    """Pairs counted by which of the two is lower; ties are left out of the test."""

    lower: int
    """Pairs in which the first is lower."""
    higher: int
    ties: int
    missing: int
    """Pairs without two finite numbers: they are evidence of nothing."""
    median_difference: float
    """First less second, the median over the pairs."""

    def p_value(self, side: str = "two-sided") -> float:
        """How likely so uneven a split is if both are equally likely to be lower.

        ``side`` is "two-sided"; or "lower" ("higher") for the probability of so many
        pairs or more in which the first is lower (higher).

        >>> sign_test([1, 1, 1], [2, 2, 2]).p_value("lower")
        0.125
        """
        if not self.lower + self.higher:
            return 1.0
        sides = {"two-sided": "two-sided", "lower": "greater", "higher": "less"}
        alternative = sides[side]
        found = binomtest(self.lower, self.lower + self.higher, alternative=alternative)
        return float(found.pvalue)

    def summary_text(self, side: str = "two-sided") -> str:
        """The split and its probability, in one line."""
        pairs = self.lower + self.higher + self.ties + self.missing
        parts = [f"lower in {self.lower} of {pairs} pairs, higher in {self.higher}"]
        parts += [f"{self.ties} ties"] if self.ties else []
        parts += [f"{self.missing} without a number"] if self.missing else []
        kind = "two-sided" if side == "two-sided" else "one-sided"
        return f"{', '.join(parts)} ({kind} sign test, p = {self.p_value(side):.3g})"


def sign_test(first: Numbers, second: Numbers) -> SignTest:
    """Compare two lists of numbers pair by pair.

    >>> sign_test([1, 2, 3, 4], [2, 3, 4, 5]).p_value()
    0.125
    """
    pairs = [np.asarray(first, float).ravel(), np.asarray(second, float).ravel()]
    if pairs[0].size != pairs[1].size:
        expected = f"must be as long as the other list, {pairs[1].size}"
        raise field_error("first", f"{pairs[0].size} numbers", expected)
    pairs = np.stack(pairs)
    known = pairs[:, np.isfinite(pairs).all(0)]
    difference = known[0] - known[1]
    lower, higher = int((difference < 0).sum()), int((difference > 0).sum())
    return SignTest(
        lower=lower,
        higher=higher,
        ties=difference.size - lower - higher,
        missing=pairs.shape[1] - difference.size,
        median_difference=float(np.median(difference)) if difference.size else np.nan,
    )


def mean_interval(
    values: Numbers, confidence: float = CONFIDENCE
) -> tuple[float, float]:
    """Student's interval for the mean of a few numbers; NaN for fewer than two of them.

    >>> low, high = mean_interval([1.0, 2.0, 3.0])
    >>> round(low, 2), round(high, 2)
    (-0.48, 4.48)
    """
    known = np.asarray(values, float)
    if known.size < 2 or not np.isfinite(known).all():
        return np.nan, np.nan
    reach = t.ppf((1 + confidence) / 2, known.size - 1) * known.std(ddof=1)
    half = float(reach / np.sqrt(known.size))
    return float(known.mean()) - half, float(known.mean()) + half


def fewest_pairs(side: str = "two-sided", level: float = SIGNIFICANCE_LEVEL) -> int:
    """How many pairs must be there for a sign test to tell, if all of them agree.

    >>> fewest_pairs(), fewest_pairs("lower")
    (6, 5)
    """
    pairs = 1
    while SignTest(pairs, 0, 0, 0, 0.0).p_value(side) >= level:
        pairs += 1
    return pairs


def compare_pairs(
    instance: str,
    first: Numbers,
    second: Numbers,
    *,
    predicted: str,
    side: str = "two-sided",
    level: float = SIGNIFICANCE_LEVEL,
    conditions: tuple[Condition, ...] = (),
    numbers: dict[str, float] | None = None,
    runs: tuple[str, ...] = (),
) -> Verdict:
    """Judge that the first is lower than the second, by a sign test.

    The test is two-sided unless ``side`` is "lower". A split that chance could make is
    inconclusive, also where all pairs agree: three of three have p = 0.125 one-sided.
    Where there are too few for any split to tell, it says how many would be enough.
    """
    found = sign_test(first, second)
    p = found.p_value(side)
    against = p if side == "two-sided" else found.p_value("higher")
    outcome = Outcome.INCONCLUSIVE
    if p < level and found.lower > found.higher:
        outcome = Outcome.HOLDS
    if against < level and found.higher > found.lower:
        outcome = Outcome.VIOLATED
    if found.missing:
        outcome = Outcome.INCONCLUSIVE
    if not all(condition.met for condition in conditions):
        outcome = Outcome.UNMET
    counts = {"lower": found.lower, "higher": found.higher, "p": p}
    enough = fewest_pairs(side, level)
    few = found.lower + found.higher < enough
    more = f"; {enough} that all agree would decide" if few else ""
    return Verdict(
        instance,
        outcome,
        predicted=f"{predicted} (sign test, p < {level:g})",
        measured=found.summary_text(side) + more,
        margin=None,
        conditions=conditions,
        numbers=counts | (numbers or {}),
        runs=runs,
    )

"""A claim judged: the outcome, the arithmetic behind it, and the runs that show it."""

import enum
import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any


class Outcome(enum.StrEnum):
    """The four things that can be said of a claim on a run."""

    HOLDS = "holds"
    VIOLATED = "violated"
    UNMET = "conditions unmet"
    INCONCLUSIVE = "inconclusive"

    @property
    def sign(self) -> str:
        """A mark that does not rely on colour."""
        return {"holds": "✓", "violated": "✗", "conditions unmet": "○"}.get(self, "?")


@dataclass(frozen=True)
class Condition:
    """One condition of a claim, with the numbers that decide it."""

    name: str
    met: bool
    detail: str = ""


@dataclass(frozen=True)
class Verdict:
    """What one instance of a claim came to."""

    instance: str
    """What was looked at: a seed, a learning rate, a size."""
    outcome: Outcome
    predicted: str
    measured: str
    margin: float | None = None
    """Relative distance to the threshold, positive on the side where the claim holds."""
    conditions: tuple[Condition, ...] = ()
    numbers: dict[str, float] = field(default_factory=dict)
    runs: tuple[str, ...] = ()

    def sentence(self) -> str:
        """The verdict and its arithmetic in one line."""
        margin = "" if self.margin is None else f", margin {self.margin:+.2g}"
        return (
            f"{self.outcome.sign} {self.outcome} ({self.instance}): predicted "
            f"{self.predicted}; measured {self.measured}{margin}"
        )

    def _repr_html_(self) -> str:
        return f"<p>{self.sentence()}</p>"


@dataclass(frozen=True)
class Claim:
    """A theorem or a statement, and how to judge it on the runs of a paper."""

    name: str
    statement: str
    judge: Callable[[Any], Sequence[Verdict]]
    needs: tuple[str, ...] = ()
    """The studies whose evidence it looks at; without them it is not judged."""
    figure: str = ""
    """The name of the figure that shows it."""
    remark: str = ""
    """What a reader should know: the condition under which it holds, a reading chosen."""


@dataclass(frozen=True)
class Judgement:
    """A claim with the verdicts on all its instances."""

    claim: Claim
    verdicts: tuple[Verdict, ...]

    def count(self, outcome: Outcome) -> int:
        """How many instances had this outcome."""
        return sum(verdict.outcome == outcome for verdict in self.verdicts)

    @property
    def outcome(self) -> Outcome:
        """The outcome that all instances share; inconclusive if they differ."""
        outcomes = {verdict.outcome for verdict in self.verdicts}
        if len(outcomes) > 1:
            outcomes -= {Outcome.UNMET}
        return outcomes.pop() if len(outcomes) == 1 else Outcome.INCONCLUSIVE

    @property
    def in_part(self) -> bool:
        """Whether it holds for some instances and is violated for others."""
        return bool(self.count(Outcome.HOLDS) and self.count(Outcome.VIOLATED))

    def words(self) -> str:
        """The row of a table: ``holds``, or ``holds 2 of 5``."""
        if len({verdict.outcome for verdict in self.verdicts}) == 1:
            return str(self.outcome)
        decided = [v for v in self.verdicts if v.outcome != Outcome.UNMET]
        return f"holds {self.count(Outcome.HOLDS)} of {len(decided)}"

    @property
    def sign(self) -> str:
        """A mark for the row."""
        return "◐" if self.in_part else self.outcome.sign

    def margin(self) -> float | None:
        """The smallest margin of any instance."""
        margins = [v.margin for v in self.verdicts if v.margin is not None]
        return min(margins) if margins else None

    def to_json(self) -> dict[str, Any]:
        """Plain data for ``verdicts.json``."""
        return {
            "claim": self.claim.name,
            "statement": self.claim.statement,
            "verdict": self.words(),
            "remark": self.claim.remark,
            "figure": self.claim.figure,
            "instances": [asdict(verdict) for verdict in self.verdicts],
        }


def judge(claims: Sequence[Claim], evidence: Any) -> list[Judgement]:
    """Judge every claim for which the evidence is there."""
    ready = (claim for claim in claims if set(claim.needs) <= set(evidence))
    return [Judgement(claim, tuple(claim.judge(evidence))) for claim in ready]


def compare(
    instance: str,
    measured: float,
    *,
    most: float | None = None,
    least: float | None = None,
    predicted: str,
    **more: Any,
) -> Verdict:
    """Judge one number against a limit from above or from below.

    A condition that is not met makes the verdict say so, whatever the number.
    """
    limit = most if most is not None else least
    assert limit is not None
    room = (limit - measured) if most is not None else (measured - limit)
    margin = room / abs(limit) if limit else room
    outcome = Outcome.HOLDS if room >= 0 else Outcome.VIOLATED
    if math.isnan(measured):
        outcome, margin = Outcome.INCONCLUSIVE, None
    if not all(condition.met for condition in more.get("conditions", ())):
        outcome, margin = Outcome.UNMET, None
    return Verdict(instance, outcome, predicted, f"{measured:.4g}", margin, **more)

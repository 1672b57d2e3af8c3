"""A claim judged: the outcome, the arithmetic behind it, and the runs that show it."""

import enum
import html
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from piste.brought import is_brought
from piste.errors import reason


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
    """The numbers in words, where a reader is to see them."""
    left: float | None = None
    """The numbers on both sides, where the condition is an inequality."""
    right: float | None = None


def inequality(
    name: str, left: float, right: float, met: bool, detail: str = ""
) -> Condition:
    """A condition that compares two numbers, with both of them."""
    return Condition(name, bool(met), detail, float(left), float(right))


@dataclass(frozen=True)
class Verdict:
    """What one instance of a claim came to."""

    instance: str
    """What was looked at: a seed, a learning rate, a size."""
    outcome: Outcome
    predicted: str
    measured: str
    margin: float | None = None
    """Distance to the threshold as a share of it, positive where the claim holds.

    None where there is no threshold to divide by, and where the quantity cannot go far
    beyond it (a share, an R²), so that the distance would say nothing."""
    conditions: tuple[Condition, ...] = ()
    numbers: dict[str, float] = field(default_factory=dict)
    runs: tuple[str, ...] = ()

    def sentence(self) -> str:
        """The verdict and its arithmetic in one line."""
        distance = margin_text(self.margin)
        distance = f", margin {distance} of the threshold" if distance else ""
        return (
            f"{self.outcome.sign} {self.outcome} ({self.instance}): predicted "
            f"{self.predicted}; measured {self.measured}{distance}"
        )

    def _repr_html_(self) -> str:
        return f"<p>{html.escape(self.sentence())}</p>"


def margin_text(margin: float | None) -> str:
    """A margin in per cent of the threshold, whatever its size.

    >>> [margin_text(m) for m in (None, 0.052, -0.5, 4650.0)]
    ['', '+5 %', '-50 %', '+465,000 %']
    """
    if margin is None:
        return ""
    percent = 100 * margin
    if abs(percent) >= 1e7:
        return f"{percent:+.1e} %"
    # Three digits of large ones: more would pretend to a precision that nobody needs.
    return f"{float(f'{percent:.3g}'):+,.0f} %"


@dataclass(frozen=True)
class Claim:
    """A theorem or a statement, and how to judge it on the runs of a paper."""

    name: str
    statement: str
    judge: Callable[[Any], Verdict | Sequence[Verdict]]
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
        """The outcome that all instances share; inconclusive if they differ.

        Instances whose conditions are not met say nothing beside others that are.
        """
        outcomes = {verdict.outcome for verdict in self.verdicts}
        if len(outcomes) > 1:
            outcomes -= {Outcome.UNMET}
        return outcomes.pop() if len(outcomes) == 1 else Outcome.INCONCLUSIVE

    @property
    def in_part(self) -> bool:
        """Whether it holds for some instances and is violated for others."""
        return bool(self.count(Outcome.HOLDS) and self.count(Outcome.VIOLATED))

    def summary_text(self) -> str:
        """The row of a table: ``holds``, or ``holds 2 of 5, 1 inconclusive``."""
        if not self.verdicts:
            return "inconclusive: nothing to judge"
        if len({verdict.outcome for verdict in self.verdicts}) == 1:
            return str(self.outcome)
        held, violated = self.count(Outcome.HOLDS), self.count(Outcome.VIOLATED)
        parts = [f"holds {held} of {held + violated}"] if held + violated else []
        for outcome in (Outcome.INCONCLUSIVE, Outcome.UNMET):
            if self.count(outcome):
                parts.append(f"{self.count(outcome)} {outcome}")
        return ", ".join(parts)

    @property
    def sign(self) -> str:
        """A mark for the row."""
        return "◐" if self.in_part else self.outcome.sign

    def margin(self) -> float | None:
        """The smallest margin of any instance that was decided."""
        margins = [v.margin for v in self.verdicts if v.margin is not None]
        return min(margins) if margins else None

    def to_json(self) -> dict[str, Any]:
        """Plain data for ``verdicts.json``."""
        return {
            "claim": self.claim.name,
            "statement": self.claim.statement,
            "verdict": self.summary_text(),
            "remark": self.claim.remark,
            "figure": self.claim.figure,
            "instances": [_plain(verdict) for verdict in self.verdicts],
        }

    def __repr__(self) -> str:
        return str(Judgements([self]))

    def _repr_html_(self) -> str:
        return Judgements([self])._repr_html_()


HEADINGS = ("claim", "verdict", "margin (% of the threshold)")


def _plain(verdict: Verdict) -> dict[str, Any]:
    """A verdict as plain data; sides that a condition does not have are left out."""
    found = asdict(verdict)
    for condition in found["conditions"]:
        for side in ("left", "right"):
            if condition[side] is None:
                del condition[side]
    return found


class Judgements(list[Judgement]):
    """Judged claims: a list that prints as a table."""

    def rows(self) -> list[tuple[str, str, str]]:
        """A row for each claim, as :data:`HEADINGS` names them."""
        return [
            (j.claim.name, f"{j.sign} {j.summary_text()}", margin_text(j.margin()))
            for j in self
        ]

    def __repr__(self) -> str:
        rows = [HEADINGS, *self.rows()]
        widths = [max(len(row[i]) for row in rows) for i in range(len(HEADINGS))]
        lines = (
            "  ".join(
                cell.ljust(width) for cell, width in zip(row, widths, strict=True)
            )
            for row in rows
        )
        return "\n".join(line.rstrip() for line in lines)

    __str__ = __repr__

    def _repr_html_(self) -> str:
        def cells(row, tag):
            return "".join(f"<{tag}>{html.escape(cell)}</{tag}>" for cell in row)

        rows = "".join(f"<tr>{cells(row, 'td')}</tr>" for row in self.rows())
        return f"<table><tr>{cells(HEADINGS, 'th')}</tr>{rows}</table>"


def judge(claims: Sequence[Claim], evidence: Any) -> Judgements:
    """Judge every claim for which the evidence is there."""
    ready = (claim for claim in claims if set(claim.needs) <= set(evidence))
    return Judgements(Judgement(claim, _verdicts(claim, evidence)) for claim in ready)


def _verdicts(claim: Claim, evidence: Any) -> tuple[Verdict, ...]:
    """The verdicts of a claim; for brought code that fails, one that says so."""
    if not is_brought(claim.judge):
        return _several(claim.judge(evidence))
    try:
        found = _several(claim.judge(evidence))
    except Exception as error:  # a stranger's mistake must not cost finished runs
        return (_failed(claim, f"fails ({reason(error)})"),)
    wrong = [type(part).__name__ for part in found if not isinstance(part, Verdict)]
    return (
        (_failed(claim, f"gives a {wrong[0]}, must be a Verdict"),) if wrong else found
    )


def _several(found: Verdict | Sequence[Verdict]) -> tuple[Verdict, ...]:
    return (found,) if isinstance(found, (Verdict, str)) else tuple(found)


def _failed(claim: Claim, why: str) -> Verdict:
    measured = f"the claim's own code {why}"
    return Verdict(
        "not judged", Outcome.INCONCLUSIVE, predicted=claim.statement, measured=measured
    )

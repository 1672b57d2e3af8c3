"""What a paper states or draws, item by item: where it is judged, and how it came out.

Only the words of an item and the names of its claims are written by hand. Studies are
those of the claims, and verdicts are computed, so that nothing goes stale.
"""

from collections.abc import Sequence
from typing import NamedTuple

import pandas as pd

from piste.claims import Claim

from .displays import Table
from .evidence import Evidence

NOT_RUN = "not run"


class Item(NamedTuple):
    """A statement or a picture of a paper, and the claims that judge it."""

    words: str
    claims: tuple[str, ...]


def coverage_rows(
    items: Sequence[Item], claims: Sequence[Claim]
) -> list[tuple[str, str, str]]:
    """Item, studies and claim: a row for each claim of each item."""
    known = {claim.name: claim for claim in claims}
    return [
        (item.words, ", ".join(known[name].needs), name)
        for item in items
        for name in item.claims
    ]


def coverage_table(
    items: Sequence[Item], claims: Sequence[Claim], caption: str, heading: str
) -> Table:
    """The table of a paper's items, with the verdicts on what has been run."""

    def make(evidence: Evidence) -> pd.DataFrame:
        judged = evidence.judged(claims)
        words = {judgement.claim.name: judgement.summary_text() for judgement in judged}
        return pd.DataFrame(
            {heading: item, "study": studies, "claim": claim}
            | {"verdict": words.get(claim, NOT_RUN)}
            for item, studies, claim in coverage_rows(items, claims)
        )

    return Table("coverage", caption, make)

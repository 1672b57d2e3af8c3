"""Beyond the paper: the stages in other models and under other noise."""

import pandas as pd

from piste.claims import Claim, Outcome, Verdict, spread

from .optimiser_claims import BOUNDARIES, cell_timelines
from .studies import VARIANTS


def persistence_table(evidence) -> pd.DataFrame:
    """For each variant and boundary: the median step, and the share of seeds."""
    rows = []
    for name, words in VARIANTS.items():
        timelines = cell_timelines(evidence[name])
        row: dict = {"variant": words}
        for boundary in BOUNDARIES:
            found = spread(timeline.step(boundary) for timeline in timelines)
            row[boundary] = found["median"]
            row[f"{boundary} share"] = found["reached"] / found["runs"]
        error = evidence[name].test_error.isel(test_step=-1)
        rows.append(row | {"test error": float(error.mean())})
    return pd.DataFrame(rows)


def _persist(evidence) -> list[Verdict]:
    """One verdict for each variant: all boundaries must be reached in all seeds."""
    verdicts = []
    for row in persistence_table(evidence).to_dict("records")[1:]:
        lost = [name for name in BOUNDARIES if row[f"{name} share"] < 1]
        times = ", ".join(f"{row[name]:g}" for name in BOUNDARIES if name not in lost)
        verdicts.append(
            Verdict(
                str(row["variant"]),
                Outcome.VIOLATED if lost else Outcome.HOLDS,
                "every boundary of the stages is reached in every seed",
                f"not in every seed: {', '.join(lost)}" if lost else f"at t = {times}",
                numbers={"test error": row["test error"]},
            )
        )
    return verdicts


CLAIMS = (
    Claim(
        "the stages persist beyond the paper",
        "The four stages are seen with more heads, more layers, residuals, LayerNorm and "
        "structured noise (asked by its reviewers; the paper does not claim it).",
        _persist,
        needs=tuple(VARIANTS),
        figure="persistence",
        remark=(
            "In deep stacks the inner products are those of the read-out layer with the "
            "raw tokens. Stacks train by autodiff in float64, so the end of the query "
            "alignment compares with the paper's model in that arithmetic."
        ),
    ),
)

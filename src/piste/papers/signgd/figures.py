"""The figures of the paper, by name."""

from piste import figures
from piste.claims import detect, summary
from piste.figures import Picture

from .slides import TIMES


def pictures(evidence) -> dict[str, Picture]:
    """Draw all figures from the runs of the studies."""
    runs = evidence["stages"]
    one = runs[0]
    return {
        "overview": figures.overview(one),
        "stage_times": figures.stage_times(summary(map(detect, runs)), TIMES),
        "value_noise": figures.value_noise(one),
        "query_key": figures.query_key(one),
        "attention": figures.attention(one),
        "switches": figures.switches(runs),
        "snapshots": figures.snapshots(one),
        "losses": figures.losses(runs),
    }

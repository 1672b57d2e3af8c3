"""What the command line says of a run and of verdicts."""

from collections.abc import Sequence

import numpy as np
import xarray as xr
from rich.console import Console
from rich.text import Text

from piste.claims import Judgement, Outcome, Timeline, judge_run, margin_text, stages
from piste.console import bold, mark, plain_table
from piste.probes import SUMMARY
from piste.store import Run
from piste.values import fields_of


def describe_run(out: Console, run: Run) -> None:
    """A run's name, settings, stages and last numbers."""
    manifest, trajectory = run.manifest, run.trajectory()
    out.print(bold(manifest.name, f"  {run.folder}"))
    environment = manifest.environment
    out.print(
        f"{manifest.form} form · {run.experiment.precision} · {environment['device']} · "
        f"{manifest.seconds:.1f} s · piste {environment['versions']['piste']}"
    )
    if manifest.diverged >= 0:
        ended = f" at step {manifest.diverged:,}: {manifest.ended}"
        out.print(Text.assemble(mark("✗", "stopped"), ended))
    # What nothing was recorded after has no other record to be equal to.
    if 0 <= manifest.still < int(trajectory.step[-1]):
        since = f"{manifest.still:,}"
        out.print(f"from step {since} on all records have the same weights")
    settings = [(name, value) for name, value in fields_of(run.experiment).items()]
    out.print(plain_table(("field", "value"), settings))
    out.print()
    print_stages(out, stages(trajectory))
    out.print()
    for line in _last_numbers(trajectory):
        out.print(line)
    if judgements := judge_run(trajectory):
        out.print()
        print_verdicts(out, judgements)
        for judgement in judgements:
            for verdict in judgement.verdicts:
                out.print(f"  {verdict.sentence()}")


def _last_numbers(trajectory: xr.Dataset) -> list[str]:
    """The last finite numbers, a line for each time at which they were measured.

    A run that stops early has test numbers of an earlier time than its training loss,
    and its very last record may be of the step at which the loss was lost.
    """
    found: dict[int, list[str]] = {}
    for name in (name for name in SUMMARY if name in trajectory):
        series = trajectory[name]
        finite = np.flatnonzero(np.isfinite(series.values))
        if finite.size:
            step = int(series[str(series.dims[0])][finite[-1]])
            text = f"{name.replace('_', ' ')} {float(series[finite[-1]]):.3g}"
            found.setdefault(step, []).append(text)
    times = sorted(found, reverse=True)
    return [f"at t = {step:,}: {' · '.join(found[step])}" for step in times]


def print_stages(out: Console, timeline: Timeline) -> None:
    """The stages that were found, then every boundary with its evidence."""
    if timeline.note:
        out.print(timeline.note)
        return
    out.print(plain_table(("stage", "when", "what"), timeline.rows()))
    out.print()
    found = [(b.name, b.when(), b.sentence()) for b in timeline.boundaries.values()]
    out.print(plain_table(("boundary", "step", "evidence"), found))


def print_verdicts(out: Console, judgements: Sequence[Judgement]) -> None:
    """A row for each claim, and how many hold."""
    rows = [
        (f"  {j.claim.name}", mark(j.sign, j.summary_text()), margin_text(j.margin()))
        for j in judgements
    ]
    out.print(plain_table(("  Claims", "verdict", "margin (% of the threshold)"), rows))
    out.print(f"  {tally(judgements)}")


def tally(judgements: Sequence[Judgement]) -> str:
    """The verdicts counted: ``9 hold · 1 in part``."""
    words = {
        Outcome.HOLDS: "hold",
        Outcome.VIOLATED: "violated",
        Outcome.UNMET: "conditions unmet",
        Outcome.INCONCLUSIVE: "inconclusive",
    }
    parts = sum(judgement.in_part for judgement in judgements)
    whole = [judgement.outcome for judgement in judgements if not judgement.in_part]
    counts = [(whole.count(outcome), word) for outcome, word in words.items()]
    counts.insert(1, (parts, "in part"))
    return " · ".join(f"{count} {word}" for count, word in counts if count)

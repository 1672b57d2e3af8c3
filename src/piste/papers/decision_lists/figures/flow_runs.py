"""Figures of runs of Theorem 1: the scores, and the leads of labels over time."""

import numpy as np
import pandas as pd
import xarray as xr
from matplotlib.axes import Axes

from piste.experiment import Experiment
from piste.figures import BLACK, BLUE, GREEN, ORANGE, PINK, Picture, canvas, styled
from piste.reproduction import Evidence, Figure

from ..results._runs import distribution_text, experiment_of, instance_of
from ..results.theorem_1 import single_runs
from ..theory import attention_theorem

DIRICHLET = "dirichlet"
"""The study of a flow on weighted sets."""
FLOWS = (single_runs.STUDY, DIRICHLET)


def perfect_time(run: xr.Dataset) -> float:
    """The first recorded time at which all labels are right."""
    right = (run.margin > 0).values
    return float(run.time.values[right.argmax()]) if right.any() else np.nan


def _becomes_perfect(run: xr.Dataset) -> bool:
    """Whether there is a first perfect moment, by which times are measured."""
    return "time" in run.coords and bool(np.isfinite(perfect_time(run)))


# --- the scores -----------------------------------------------------------------------


def _scores(evidence: Evidence) -> Picture | None:
    run = evidence.runs(DIRICHLET)[0]
    if not _becomes_perfect(run):
        return None
    experiment = experiment_of(run)
    instance = instance_of(experiment)
    unit = instance.length / attention_theorem(instance).scale
    return draw_scores(run, instance.lists, unit, _scores_caption(experiment))


def _scores_caption(experiment: Experiment) -> str:
    return (
        f"Gradient flow on W, {distribution_text(experiment)}: attention scores in units "
        "of n/c. A numeral k marks the key that stands at place k of the query's list: "
        "the order of the scores becomes the order of the list."
    )


@styled
def draw_scores(
    run: xr.Dataset, lists: np.ndarray, unit: float, caption: str
) -> Picture:
    r"""$W$ at four moments; numerals mark the place of a key in the query's list."""
    steps = run.test_step.values
    # From a quarter of the first perfect moment to the end, in equal ratios.
    first = int(run.step.values[(run.margin > 0).values.argmax()])
    moments = np.geomspace(max(first / 4, steps[1]), steps[-1], 4)
    records = [int(np.abs(steps - moment).argmin()) for moment in moments]
    figure, axes = canvas(1, len(records), 2.2, sharey=True)
    reach = float(np.abs(run.attention_matrix[records[-1]]).max()) / unit
    image = None
    for panel, record in zip(axes[0], records, strict=True):
        matrix = run.attention_matrix.values[record] / unit
        image = panel.imshow(matrix, cmap="PuOr", vmin=-reach, vmax=reach)
        _number_list_places(panel, lists, matrix / reach)
        time = float(run.time.sel(step=steps[record]))
        share = time / perfect_time(run)
        panel.set_title(f"$t$ = {share:.2g} $t^*$", fontsize=8.5)
        panel.set(xlabel="query $a$", xticks=[], yticks=[])
    axes[0, 0].set_ylabel("key $b$")
    assert image is not None
    bar = figure.colorbar(image, ax=axes, shrink=0.85, pad=0.01)
    bar.set_label("$W[b,a]\\ \\cdot\\ c/n$")
    flat = run.attention_matrix.isel(test_step=records).to_dataframe().reset_index()
    return Picture(figure, flat, caption)


def _number_list_places(panel: Axes, lists: np.ndarray, share: np.ndarray) -> None:
    for a, listed in enumerate(lists):
        own = int(np.argmax(listed == a))
        for k, b in enumerate(listed[: own + 1]):
            colour = "white" if abs(share[b, a]) > 0.55 else BLACK
            look = {"ha": "center", "va": "center", "fontsize": 5.5, "color": colour}
            panel.text(a, b, str(k + 1), **look)


# --- the leads ------------------------------------------------------------------------


def _margins(evidence: Evidence) -> Picture | None:
    runs, units, bounds = {}, [], []
    flows = [evidence.runs(name)[0] for name in FLOWS if name in evidence]
    for run in filter(_becomes_perfect, flows):
        experiment = experiment_of(run)
        name = distribution_text(experiment)
        if name in runs:
            continue
        instance = instance_of(experiment)
        theorem = attention_theorem(instance)
        runs[name] = run
        units.append(instance.length / theorem.scale)
        bounds.append(theorem.bound)
    if not runs:
        return None
    caption = _margins_caption(next(iter(runs)), len(runs))
    return draw_margins(runs, units, bounds[0], caption)


def _margins_caption(first: str, count: int) -> str:
    right = "of both" if count > 1 else "of the same flow"
    return (
        "Gradient flow on W; t* is the first recorded perfect moment (dashed). Left: "
        f"{first}: the lead of every token of a list on the next one, by place k (of the "
        f"last on all tokens outside). Right, {right}: the smallest lead of a label, "
        "perfect where positive."
    )


@styled
def draw_margins(
    runs: dict[str, xr.Dataset], units: list[float], bound: float, caption: str
) -> Picture:
    """Leads between neighbours of every list, and the first perfect moment."""
    figure, axes = canvas(1, 2, 2.6)
    left, right = axes[0]
    one = next(iter(runs.values()))
    _draw_leads(left, one, one.ordering.values / units[0], perfect_time(one))
    looks = ((BLUE, "-"), (ORANGE, "--"))
    for (name, run), unit, look in zip(runs.items(), units, looks, strict=False):
        time = run.time / perfect_time(run)
        right.plot(time, run.margin / unit, color=look[0], ls=look[1], label=name)
    right.axhline(0, color=BLACK, lw=0.6)
    right.axvline(1, color="#999999", lw=0.8, ls="--")
    note = f"bound: $t/t^*$ = {bound / perfect_time(one):.2g}"
    right.text(0.97, 0.05, note, transform=right.transAxes, ha="right", fontsize=8)
    right.set(xscale="log", xlabel="time $t/t^*$")
    right.set_ylabel(r"least lead of a label $\cdot\ c/n$")
    right.legend(loc="upper left")
    frame = pd.concat(
        pd.DataFrame({"run": name, "time": run.time, "margin": run.margin / unit})
        for (name, run), unit in zip(runs.items(), units, strict=True)
    )
    return Picture(figure, frame, caption)


def _draw_leads(
    panel: Axes, run: xr.Dataset, leads: np.ndarray, perfect: float
) -> None:
    time = run.time.values / perfect
    colours = (BLUE, GREEN, PINK, ORANGE)
    for slot, colour in zip(range(leads.shape[2]), colours, strict=False):
        drawn = leads[:, :, slot][:, ~np.isnan(leads[0, :, slot])]
        panel.plot(time, drawn, color=colour, lw=0.5, alpha=0.6)
        panel.plot([], [], color=colour, label=f"$k$ = {slot + 1}")
    panel.axhline(0, color=BLACK, lw=0.6)
    panel.axvline(1, color="#999999", lw=0.8, ls="--")
    panel.set(xscale="log", xlabel="time $t/t^*$")
    panel.set_ylabel(r"$(W[a_k,a]-W[a_{k+1},a])\ c/n$")
    panel.legend(loc="upper left")


FIGURES = (
    Figure("scores", _scores, (DIRICHLET,)),
    Figure("margins", _margins, any_of=FLOWS),
)

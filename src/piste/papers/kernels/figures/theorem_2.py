"""Theorem 2: attention before and after training, success rates, and singular values."""

import math
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr
from matplotlib.axes import Axes

from piste.figures import BLACK, Picture, canvas, styled
from piste.reproduction import Evidence, Figure

from ..presets import COMPARED_KERNELS
from ..results.cells import kernel_of
from ..results.theorem_2.cases import CONSTRUCTION, Case, better_runs_of, cases_of
from ..results.theorem_2.queries import success_frame
from ..thresholds import ZERO_LOSS
from ._looks import GREY, KERNEL_LOOKS, band, seeds_words, steps_axis, steps_words

SHOWN_HEADS = 3
"""Heads whose attention is drawn, if there are as many."""


def first_runs(runs: Iterable[xr.Dataset]) -> dict[str, xr.Dataset]:
    """The first run of each kernel."""
    by_kernel: dict[str, xr.Dataset] = {}
    for run in runs:
        by_kernel.setdefault(kernel_of(run), run)
    return by_kernel


# --- attention -------------------------------------------------------------------------


@styled
def attention_pair(runs: Mapping[str, xr.Dataset], heads: int, caption: str) -> Picture:
    """Draw the first sequence's attention before and after training, for some heads."""
    figure, axes = canvas(len(runs), 2 * heads, 1.55 * len(runs))
    image, rows = None, []
    for line, (name, run) in zip(axes, runs.items(), strict=True):
        for column, panel in enumerate(line):
            head, after = divmod(column, 2)
            matrix = run.attention.values[-1 if after else 0, head]
            image = panel.imshow(matrix, cmap="cividis", vmin=0, vmax=1)
            when = "after" if after else "before"
            panel.set_title(rf"$S_{{1{head + 1}}}$ {when}", fontsize=8.5)
            _write_weights(panel, matrix)
            panel.set(xticks=[], yticks=[])
            panel.set_xlabel("key $j$", fontsize=8)
            cells = [(k, j, matrix[k, j]) for k, j in np.ndindex(matrix.shape)]
            flat = pd.DataFrame(cells, columns=["query", "key", "weight"])
            rows.append(flat.assign(kernel=name, head=head + 1, when=when))
        line[0].set_ylabel(f"{name}\nquery $k$")
    assert image is not None
    figure.colorbar(image, ax=axes, shrink=0.8, pad=0.01).set_label("weight")
    return Picture(figure, pd.concat(rows), caption)


def _write_weights(panel: Axes, matrix: np.ndarray) -> None:
    """Write down the weights that are not nearly zero."""
    for (row, column), weight in np.ndenumerate(matrix):
        if weight >= 0.005:
            look = {"ha": "center", "va": "center", "fontsize": 6.5}
            numeral = f"{weight:.2f}".replace("0.", ".", 1)
            colour = BLACK if weight > 0.55 else "white"
            panel.text(column, row, numeral, color=colour, **look)


def _draw_attention(evidence: Evidence) -> Picture | None:
    shown = first_runs(evidence.runs("pair"))
    if not shown:
        return None
    heads = min(SHOWN_HEADS, *(run.sizes["head"] for run in shown.values()))
    return attention_pair(shown, heads, _attention_caption(shown, heads))


def _attention_caption(runs: Mapping[str, xr.Dataset], heads: int) -> str:
    experiments = [run.attrs["experiment"] for run in runs.values()]
    seeds = sorted({int(experiment["seed"]) for experiment in experiments})
    seed_words = f"seed {seeds[0]}" if len(seeds) == 1 else f"seeds {seeds}"
    which = "head 1" if heads == 1 else f"heads 1 to {heads}"
    lengths = sorted({int(run.step[-1]) for run in runs.values()})
    steps = " and ".join(f"{length:,}" for length in lengths)
    trained = ", ".join(f"W^{letter}" for letter in experiments[0]["model"]["train"])
    return (
        f"Attention of the first sequence, {which}, before and after {steps} steps of "
        f"{trained} ({seed_words})."
    )


# --- success ---------------------------------------------------------------------------


@styled
def success(frame: Any, constructed: int, caption: str) -> Picture:
    """Draw how many seeds of every case succeed, by kernel.

    The first ``constructed`` cases are those of the theorem, the others are controls.
    """
    figure, axes = canvas(1, 1, 2.7)
    panel, cases = axes[0, 0], list(dict.fromkeys(frame.case))
    for side, (name, (colour, _, _, hatch)) in zip(
        (-0.2, 0.2), KERNEL_LOOKS.items(), strict=True
    ):
        rows = frame[frame.kernel == name].set_index("case").loc[cases]
        positions = np.arange(len(cases)) + side
        look = {"color": colour, "hatch": hatch, "edgecolor": "white", "label": name}
        panel.bar(positions, rows.succeed / rows.runs, 0.38, **look)
        for x, row in zip(positions, rows.itertuples(), strict=True):
            label, height = f"{row.succeed}/{row.runs}", row.succeed / row.runs
            panel.text(x, height + 0.015, label, ha="center", va="bottom", fontsize=7.5)
    two_lines = [c.replace("H =", "$H$ =").replace(", ", "\n", 1) for c in cases]
    panel.set_xticks(range(len(cases)), two_lines)
    power = f"10^{{{round(math.log10(ZERO_LOSS))}}}"
    panel.set(ylim=(0, 1.24), ylabel=f"share of seeds with $f_T/f_0 < {power}$")
    panel.set_yticks(np.linspace(0, 1, 6))
    if 0 < constructed < len(cases):
        line = constructed - 0.5
        panel.axvline(line, color=GREY, lw=0.8, ls="--")
        panel.text(line - 0.05, 1.24, "construction", ha="right", va="top", fontsize=8)
        panel.text(line + 0.05, 1.24, "controls", ha="left", va="top", fontsize=8)
    figure.legend(loc="outside lower center", ncols=2)
    return Picture(figure, frame, caption)


def _draw_success(evidence: Evidence) -> Picture:
    data = evidence.dataset("queries")
    constructed = sum(case in CONSTRUCTION for case in cases_of(data))
    return success(success_frame(data), constructed, _success_caption(data))


def _success_caption(data: xr.Dataset) -> str:
    rates = [f"{eta:g}" for eta in np.unique(data.eta.values)]
    better = "the better of " if len(rates) > 1 else ""
    text = (
        f"Theorem 2: W^Q alone, {better}η = {' and '.join(rates)}, {steps_words(data)}, "
        f"{seeds_words(data)}; success is f_T/f₀ < {ZERO_LOSS:g}."
    )
    if len({case in CONSTRUCTION for case in cases_of(data)}) < 2:
        return text
    return (
        f"{text} Left of the dashed line the matched start of scale 6; right, controls."
    )


# --- singular values -------------------------------------------------------------------


@styled
def singular_values(
    queries: Mapping[str, xr.Dataset], runs: Mapping[str, xr.Dataset], caption: str
) -> Picture:
    """Draw ‖∇f‖ and σ_min(J_Q) along Theorem 2's paths, σ_min(B) along Theorem 1's."""
    figure, axes = canvas(1, 3 if runs else 2, 2.5)
    panels, rows = axes[0], []
    for name, data in queries.items():
        colour, _, dashes, _ = KERNEL_LOOKS[name]
        limit = data.jacobian_resolution
        shown = data.jacobian_min.where(data.jacobian_min > limit, limit)
        band(panels[0], data.gradient_norm, colour, dashes, name)
        band(panels[1], shown, colour, dashes, name)
        panels[1].plot(limit.step, limit.median("cell"), color=BLACK, ls=":", lw=1)
        rows.append(_long(data.gradient_norm, "gradient_norm", name))
        rows.append(_long(shown, "jacobian_min", name))
        rows.append(_long(limit, "jacobian_resolution", name))
    panels[0].set(ylabel=r"$\|\nabla f(M_t)\|$", yscale="log")
    panels[1].set(ylabel=r"$\sigma_{\min}(J_Q)$", yscale="log")
    for panel in panels[:2]:
        panel.set_title("Theorem 2: $W^Q$ alone")
    for name, run in runs.items():
        colour, _, dashes, _ = KERNEL_LOOKS[name]
        panels[2].plot(run.step, run.feature_min, color=colour, ls=dashes)
        rows.append(_long(run.feature_min, "feature_min", name))
    if runs:
        panels[2].set(ylabel=r"$\sigma_{\min}(B_t)$", yscale="log")
        panels[2].set_title("Theorem 1: $W^Q, W^K, W^V$")
        panels[2].yaxis.set_major_formatter("{x:g}")
        panels[2].yaxis.set_minor_formatter("{x:g}")
    for panel in panels:
        steps_axis(panel)
    panels[1].plot([], [], color=BLACK, ls=":", lw=1, label="what an SVD resolves")
    handles = panels[1].get_legend_handles_labels()
    figure.legend(*handles, loc="outside lower center", ncols=3)
    return Picture(figure, pd.concat(rows), caption)


def _long(series: xr.DataArray, name: str, kernel: str) -> pd.DataFrame:
    flat = series.rename("value").to_dataframe()[["value"]].reset_index()
    return flat.assign(kernel=kernel, series=name)


def _draw_singular_values(evidence: Evidence) -> Picture | None:
    """Draw the paths of the first case that the study has with both kernels."""
    data = evidence.dataset("queries")
    runs = first_runs(evidence.runs("runs")) if evidence.has("runs") else {}
    for case in cases_of(data):
        paths = {k: better_runs_of(data, case, k) for k in COMPARED_KERNELS}
        if all(path.sizes["cell"] for path in paths.values()):
            caption = _singular_values_caption(paths[COMPARED_KERNELS[0]], case, runs)
            return singular_values(paths, runs, caption)
    return None


def _singular_values_caption(
    data: xr.Dataset, case: Case, runs: Mapping[str, xr.Dataset]
) -> str:
    text = (
        f"Along the paths (median and range over {seeds_words(data)}): gradient and least "
        f"singular value of J_Q, {case.words}. Below the dotted line a singular value "
        "is rounding: there only this limit is drawn."
    )
    if not runs:
        return text
    shapes = " and ".join(dict.fromkeys(_shape_words(run) for run in runs.values()))
    return f"{text} Right, σ_min of B_t in one run of Theorem 1, {shapes}."


def _shape_words(run: xr.Dataset) -> str:
    task, model = run.attrs["experiment"]["task"], run.attrs["experiment"]["model"]
    ratio = model["heads"] * task["dimension"] / (task["sequences"] * task["length"])
    return f"HD/Nn = {ratio:g}, seed {run.attrs['experiment']['seed']}"


FIGURES = (
    Figure("attention", _draw_attention, ("pair",)),
    Figure("success", _draw_success, ("queries",)),
    Figure("singular-values", _draw_singular_values, ("queries",)),
)

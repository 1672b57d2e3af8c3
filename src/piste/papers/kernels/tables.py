"""The tables of the paper: bounds kept, losses reached, and success rates."""

import numpy as np
import pandas as pd
import xarray as xr

from piste.landscape.tables import comparable, metrics_table, paired_table

from .calculations import TRAINED
from .cells import by_shape, chosen, end
from .landscape_claims import STUDIES as LANDSCAPES
from .long_runs import summarised
from .presets import KERNELS
from .query_cells import case_of, cases, median_least, name_of, stalled, successes
from .real_runs import real_table
from .real_studies import surveyed_task
from .region_claims import LETTERS, bend, distance, movement, start_norm
from .theorem_1_claims import acceptance_ratio, is_test, is_within
from .thresholds import PROMISE, ZERO_LOSS
from .width_claims import floor


def tables(evidence) -> dict[str, tuple[str, pd.DataFrame]]:
    """All tables for which the runs are there, with their captions, by name."""
    found = {
        name: make(evidence[name]) for name, make in _MAKERS.items() if name in evidence
    }
    if "queries" in found:
        found["success"] = found.pop("queries")
    if {"imdb", "pathfinder"} & set(evidence):
        words = "Real tasks: test accuracy at the best validation accuracy, over seeds."
        found["real"] = (words, real_table(evidence))
    for study in LANDSCAPES:
        kept = comparable(evidence.get(study, []))
        if kept:
            said = f"{len(kept)} of {len(evidence[study])} pairs at matched loss"
            words = f"Loss surfaces, {surveyed_task(study)}: {said}."
            found[study] = (words, paired_table(metrics_table(kept)))
    return found


def _acceptance(data: xr.Dataset) -> tuple[str, pd.DataFrame]:
    rows = [
        {
            "kernel": kernel,
            "HD/Nn": ratio,
            "seeds": part.sizes["cell"],
            "mean": float(acceptance_ratio(part).mean()),
            "least": float(acceptance_ratio(part).min()),
            "largest": float(acceptance_ratio(part).max()),
        }
        for kernel, ratio, part in by_shape(data)
    ]
    words = "The rate of log f in units of ηβ, where the bound's rate is attained."
    return words, pd.DataFrame(rows)


def _transition(data: xr.Dataset) -> tuple[str, pd.DataFrame]:
    whole = data.drop_vars("step").merge(summarised(data))
    last = int(data.step[-1])
    rows = [
        _bounds_row(kernel, train, ratio, chosen(part, train=place))
        | {"least with V alone": float(np.median(floor(chosen(part, train=place))))}
        for place, train in enumerate(TRAINED)
        for kernel, ratio, part in by_shape(whole)
    ]
    frame = pd.DataFrame(rows)
    return f"Theorem 1 after T = {last:,} steps: {tests_words(frame)}. {_BOUNDS}", frame


def _promised(data: xr.Dataset) -> tuple[str, pd.DataFrame]:
    rows = [
        _bounds_row(kernel, train, ratio, cells) | {"T": int(cells.steps.max())}
        for place, train in enumerate(TRAINED)
        for kernel, ratio, part in by_shape(data)
        if (cells := chosen(part, train=place)).sizes["cell"]
    ]
    frame = pd.DataFrame(rows)
    words = f"Theorem 1's runs, continued for up to {int(data.steps.max()):,} steps"
    return f"{words}: {tests_words(frame)}. {_BOUNDS}", frame


def tests_words(frame: pd.DataFrame) -> str:
    """How many runs are within the bound, and of how many that says anything."""
    covered = frame[frame["HD/Nn"] >= 1]
    runs, tests = covered["seeds"].sum(), covered["tests"].sum()
    per_head, stacked = (covered[f"within {w}"].sum() for w in ("per head", "stacked"))
    return (
        f"where HD ≥ Nn, {per_head} of {runs} runs are within the bound per head and "
        f"{stacked} within the stacked one; in {runs - tests} of them the bound per head "
        f"asks for less than f_T/f₀ ≤ {PROMISE:g}, so {tests} are tests of it"
    )


_BOUNDS = (
    "Medians over the seeds; tests are the runs of which the bound promises "
    f"(1 − ηβ)^T ≤ {PROMISE:g}."
)


def _bounds_row(kernel: str, train: str, ratio: float, part: xr.Dataset) -> dict:
    return {
        "kernel": kernel,
        "trained": train,
        "HD/Nn": ratio,
        "seeds": part.sizes["cell"],
        "f_T/f₀": float(np.median(part.share)),
        "(1 − ηβ)^T": float(np.median(part.bound_promise)),
        "tests": int(is_test(part, "bound").sum()),
        "within per head": int(is_within(part, "bound").sum()),
        "within stacked": int(is_within(part, "stacked_bound").sum()),
    }


def _region(data: xr.Dataset) -> tuple[str, pd.DataFrame]:
    rows = []
    for kernel, ratio, part in by_shape(data):
        bent, norm = bend(part), start_norm(part)
        size = {
            f"W^{LETTERS[name]} moved/‖W^{LETTERS[name]}₀‖": _median(
                movement(part, name)
            )
            for name in ("query", "key")
        }
        rows.append(
            {
                "kernel": kernel,
                "HD/Nn": ratio,
                "seeds": part.sizes["cell"],
                "reach zero loss": int((end(part) < ZERO_LOSS).sum()),
                "−λ_min/λ_max at 0": _median(bent[:, 0]),
                "largest on the way": _median(bent.max("step", skipna=False)),
                "at T": _median(bent[:, -1]),
                **size,
                "W^V moved/‖M₀‖": _median(part.value_distance[:, -1] / norm),
                "all moved/‖M₀‖": _median(movement(part)),
                "of the reach √(2f₀/β)": _median(distance(part)[:, -1] / part.reach),
            }
        )
    words = (
        "How the loss bends along Theorem 1's runs of all three matrices, and how far "
        f"they have moved after T = {int(data.step[-1]):,} steps; medians. W^V starts at 0."
    )
    return words, pd.DataFrame(rows)


def _median(values) -> float:
    return float(np.median(np.asarray(values)))


def _scale(data: xr.Dataset) -> tuple[str, pd.DataFrame]:
    rows = []
    for place, kernel in enumerate(KERNELS):
        for scale in sorted(set(data.key_scale.values.tolist())):
            part = chosen(data, kernel=place, key_scale=scale)
            known = part.feature_least > part.feature_resolution
            shown = part.feature_least.where(known, part.feature_resolution)
            rows.append(
                {
                    "kernel": kernel,
                    "scale": scale,
                    "σ_min(B₀)": _median(shown),
                    "resolved": f"{int(known.sum())} of {known.size}",
                    "steps promised for f/f₀ = 0.01": _median(part.hundredth_steps),
                }
            )
    ratio = float(data.columns[0] / data.rows[0])
    words = f"σ_min(B₀) at HD/Nn = {ratio:g} over the scale of W^Q and W^K (median)."
    return f"{words} {_RESOLVED}", pd.DataFrame(rows)


def _queries(data: xr.Dataset) -> tuple[str, pd.DataFrame]:
    words = (
        f"Theorem 2: seeds that reach f_T/f₀ < {ZERO_LOSS:g}, and medians over seeds."
    )
    return f"{words} {_RESOLVED}", success_frame(data)


_RESOLVED = "Where σ_min is not resolved, the number is what an SVD resolves: a limit."


def success_frame(data: xr.Dataset) -> pd.DataFrame:
    """Every case and kernel: how many succeed, how many stall, and the path."""
    rows = [
        _case_row(name_of(case), kernel, part)
        for case in cases(data)
        for place, kernel in enumerate(KERNELS)
        if (part := case_of(data, case, place)).sizes["cell"]
    ]
    return pd.DataFrame(rows)


def _case_row(case: str, kernel: str, part: xr.Dataset) -> dict:
    row = {
        "case": case,
        "kernel": kernel,
        "runs": part.sizes["cell"],
        "succeed": int(successes(part).sum()),
        "stalled": int(stalled(part).sum()),
        "f_T/f₀": float(np.median(end(part))),
        "‖∇f‖ at T": float(part.gradient_norm[:, -1].median()),
        "largest weight's share": float(part.largest_share.mean()),
        "σ_max(J_Q) at 0": float(part.jacobian_largest[:, 0].median()),
    }
    known = part.jacobian_least > part.jacobian_resolution
    for place, when in ((0, "0"), (-1, "T")):
        row[f"σ_min(J_Q) at {when}"] = max(median_least(part, place))
        row[f"resolved at {when}"] = f"{int(known[:, place].sum())} of {known.shape[0]}"
    return row


_MAKERS = {
    "acceptance": _acceptance,
    "transition": _transition,
    "promised": _promised,
    "region": _region,
    "scale": _scale,
    "queries": _queries,
}
"""The study of each table of the theory."""

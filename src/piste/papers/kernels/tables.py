"""The tables of the paper: bounds kept, losses reached, and success rates."""

import numpy as np
import pandas as pd
import xarray as xr

from piste.landscape import comparable, metrics_table, paired_table
from piste.reproduction import Evidence, Table

from .calculations import TRAINED
from .cells import by_shape, chosen, end
from .landscape_claims import STUDIES as LANDSCAPES
from .long_runs import summarised
from .query_cells import case_of, cases, median_least, name_of, stalled, successes
from .real_presets import KERNELS
from .real_runs import real_table
from .real_studies import surveyed_task
from .region_claims import LETTERS, bend, distance, movement, start_norm
from .theorem_1_claims import acceptance_ratio, is_test, is_within
from .thresholds import PROMISE, ZERO_LOSS
from .width_claims import floor


def _acceptance(evidence: Evidence) -> pd.DataFrame:
    rows = [
        {
            "kernel": kernel,
            "HD/Nn": ratio,
            "seeds": part.sizes["cell"],
            "mean": float(acceptance_ratio(part).mean()),
            "least": float(acceptance_ratio(part).min()),
            "largest": float(acceptance_ratio(part).max()),
        }
        for kernel, ratio, part in by_shape(evidence.dataset("acceptance"))
    ]
    return pd.DataFrame(rows)


def _transition(evidence: Evidence) -> pd.DataFrame:
    data = evidence.dataset("transition")
    whole = data.drop_vars("step").merge(summarised(data))
    rows = [
        _bounds_row(kernel, train, ratio, chosen(part, train=place))
        | {"least with V alone": float(np.median(floor(chosen(part, train=place))))}
        for place, train in enumerate(TRAINED)
        for kernel, ratio, part in by_shape(whole)
    ]
    return pd.DataFrame(rows)


def _transition_caption(evidence: Evidence, frame: pd.DataFrame) -> str:
    last = int(evidence.dataset("transition").step[-1])
    return f"Theorem 1 after T = {last:,} steps: {tests_words(frame)}. {_BOUNDS}"


def _promised(evidence: Evidence) -> pd.DataFrame:
    data = evidence.dataset("promised")
    rows = [
        _bounds_row(kernel, train, ratio, cells) | {"T": int(cells.steps.max())}
        for place, train in enumerate(TRAINED)
        for kernel, ratio, part in by_shape(data)
        if (cells := chosen(part, train=place)).sizes["cell"]
    ]
    return pd.DataFrame(rows)


def _promised_caption(evidence: Evidence, frame: pd.DataFrame) -> str:
    last = int(evidence.dataset("promised").steps.max())
    words = f"Theorem 1's runs, continued for up to {last:,} steps"
    return f"{words}: {tests_words(frame)}. {_BOUNDS}"


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


def _region(evidence: Evidence) -> pd.DataFrame:
    rows = []
    for kernel, ratio, part in by_shape(evidence.dataset("region")):
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
    return pd.DataFrame(rows)


def _region_caption(evidence: Evidence, frame: pd.DataFrame) -> str:
    last = int(evidence.dataset("region").step[-1])
    return (
        "How the loss bends along Theorem 1's runs of all three matrices, and how far "
        f"they have moved after T = {last:,} steps; medians. W^V starts at 0."
    )


def _median(values) -> float:
    return float(np.median(np.asarray(values)))


def _scale(evidence: Evidence) -> pd.DataFrame:
    data, rows = evidence.dataset("scale"), []
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
    return pd.DataFrame(rows)


def _scale_caption(evidence: Evidence, frame: pd.DataFrame) -> str:
    data = evidence.dataset("scale")
    ratio = float(data.columns[0] / data.rows[0])
    words = f"σ_min(B₀) at HD/Nn = {ratio:g} over the scale of W^Q and W^K (median)."
    return f"{words} {_RESOLVED}"


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


def _landscape(study: str) -> Table:
    """The surfaces of one study, where some pairs match."""

    def make(evidence: Evidence) -> pd.DataFrame | None:
        kept = comparable(evidence.surfaces(study))
        return paired_table(metrics_table(kept)) if kept else None

    def caption(evidence: Evidence, rows: pd.DataFrame) -> str:
        kept = len(comparable(evidence.surfaces(study)))
        said = f"{kept} of {evidence.count(study)} pairs at matched loss"
        return f"Loss surfaces, {surveyed_task(study)}: {said}."

    return Table(study, caption, make, needs=(study,))


_ACCEPTANCE = "The rate of log f in units of ηβ, where the bound's rate is attained."
_REAL = "Real tasks: test accuracy at the best validation accuracy, over seeds."
_SUCCESS = (
    f"Theorem 2: seeds that reach f_T/f₀ < {ZERO_LOSS:g}, and medians over seeds. "
    f"{_RESOLVED}"
)

TABLES = (
    Table("acceptance", _ACCEPTANCE, _acceptance, ("acceptance",)),
    Table("transition", _transition_caption, _transition, ("transition",)),
    Table("promised", _promised_caption, _promised, ("promised",)),
    Table("region", _region_caption, _region, ("region",)),
    Table("scale", _scale_caption, _scale, ("scale",)),
    Table(
        "success",
        _SUCCESS,
        lambda evidence: success_frame(evidence.dataset("queries")),
        ("queries",),
    ),
    Table("real", _REAL, real_table, any_of=("imdb", "pathfinder")),
    *(_landscape(study) for study in LANDSCAPES),
)

"""The tables of the paper: bounds kept, losses reached, and success rates."""

import numpy as np
import pandas as pd
import xarray as xr

from piste.landscape.tables import comparable, metrics_table, paired_table

from .calculations import TRAINED
from .landscape_claims import TASKS as LANDSCAPES
from .presets import KERNELS
from .real_claims import real_table
from .theorem_1_claims import (
    acceptance_ratio,
    chosen,
    end,
    excess,
    floor,
    promised_steps,
    shapes,
)
from .theorem_2_claims import case_of, cases, name_of, stalled, successes
from .thresholds import ROUNDING


def tables(evidence) -> dict[str, tuple[str, pd.DataFrame]]:
    """All tables for which the runs are there, with their captions, by name."""
    found = {}
    if "acceptance" in evidence:
        words = "The rate of log f in units of ηβ, where the bound's rate is attained."
        found["acceptance"] = (words, _acceptance(evidence["acceptance"]))
    if "transition" in evidence:
        words = "Theorem 1: f_T/f₀ (median over seeds) and seeds within each bound."
        found["transition"] = (words, _transition(evidence["transition"]))
    if "scale" in evidence:
        words = "σ_min(B₀) at HD/Nn = 2 over the scale of W^Q and W^K (median)."
        found["scale"] = (words, _scale(evidence["scale"]))
    if "queries" in evidence:
        words = "Theorem 2: seeds that reach f_T/f₀ < 1e-6, and medians over seeds."
        found["success"] = (words, success_frame(evidence["queries"]))
    if {"imdb", "pathfinder"} & set(evidence):
        words = "Real tasks: test accuracy at the best validation accuracy, over seeds."
        found["real"] = (words, real_table(evidence))
    for study, task in LANDSCAPES.items():
        kept = comparable(evidence.get(study, []))
        if kept:
            said = f"{len(kept)} of {len(evidence[study])} pairs at matched loss"
            words = f"Loss surfaces, {task}: {said}."
            found[study] = (words, paired_table(metrics_table(kept)))
    return found


def _acceptance(data: xr.Dataset) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "kernel": kernel,
            "HD/Nn": ratio,
            "seeds": part.sizes["cell"],
            "mean": float(acceptance_ratio(part).mean()),
            "least": float(acceptance_ratio(part).min()),
            "largest": float(acceptance_ratio(part).max()),
        }
        for kernel, ratio, part in shapes(data)
    )


def _transition(data: xr.Dataset) -> pd.DataFrame:
    rows = []
    for place, train in enumerate(TRAINED):
        for kernel, ratio, whole in shapes(data):
            part = chosen(whole, train=place)
            within = {
                name: int((excess(part, name) <= 1 + ROUNDING).sum())
                for name in ("beta", "stacked_beta")
            }
            rows.append(
                {
                    "kernel": kernel,
                    "trained": train,
                    "HD/Nn": ratio,
                    "seeds": part.sizes["cell"],
                    "f_T/f₀": float(np.median(end(part))),
                    "least with V alone": float(np.median(floor(part))),
                    "within per head": within["beta"],
                    "within stacked": within["stacked_beta"],
                }
            )
    return pd.DataFrame(rows)


def _scale(data: xr.Dataset) -> pd.DataFrame:
    rows = []
    for place, kernel in enumerate(KERNELS):
        for scale in sorted(set(data.key_scale.values.tolist())):
            part = chosen(data, kernel=place, key_scale=scale)
            rows.append(
                {
                    "kernel": kernel,
                    "scale": scale,
                    "σ_min(B₀)": float(part.feature_least.median()),
                    "steps promised for f/f₀ = 0.01": float(
                        np.median(promised_steps(part))
                    ),
                }
            )
    return pd.DataFrame(rows)


def success_frame(data: xr.Dataset) -> pd.DataFrame:
    """Every case and kernel: how many succeed, how many stall, and the path."""
    rows = []
    for case in cases(data):
        for place, kernel in enumerate(KERNELS):
            part = case_of(data, case, place)
            rows.append(
                {
                    "case": name_of(case),
                    "kernel": kernel,
                    "runs": part.sizes["cell"],
                    "succeed": int(successes(part).sum()),
                    "stalled": int(stalled(part).sum()),
                    "f_T/f₀": float(np.median(end(part))),
                    "‖∇f‖ at T": float(part.gradient_norm[:, -1].median()),
                    "σ_min(J_Q) at 0": float(part.jacobian_least[:, 0].median()),
                    "σ_min(J_Q) at T": float(part.jacobian_least[:, -1].median()),
                    "largest weight's share": float(part.largest_share.mean()),
                }
            )
    return pd.DataFrame(rows)

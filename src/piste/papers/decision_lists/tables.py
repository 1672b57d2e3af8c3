"""The tables of the paper: how far from the bounds, and where they fail."""

import numpy as np
import pandas as pd
import xarray as xr

from piste.dynamics.flow import EVENT
from piste.theory.decision_lists import smallest_length

from .empirical_claims import joint_table
from .presets import RULES
from .studies import SIZES, joint_name
from .theorem_claims import cells, exponent, failing_factor, size_of

THEOREM_1 = {
    "uniform": "uniform sets",
    "others": "Dirichlet, support, Poisson",
    "repetition": "independent, with repetition",
}


def tables(evidence) -> dict[str, tuple[str, pd.DataFrame]]:
    """All tables for which the runs are there, with their captions, by name."""
    found = {}
    if set(THEOREM_1) & set(evidence):
        words = "Theorem 1: instances within the bound; h = t*/(δ/(16 γ log²L))."
        found["theorem-1"] = (words, _theorem_1(evidence))
    if "repetition" in evidence:
        words = "Theorem 1 where tokens repeat: time to perfection against the bound."
        found["repetition"] = (words, _repetition(evidence["repetition"]))
    if {"scale", "scale-small"} <= set(evidence):
        found["scale"] = ("Theorem 1 over the scale c of V = cP.", _scale(evidence))
    if {"persistence", "persistence-others"} <= set(evidence):
        words = "Flows followed to 100 t*: how many lose perfection again."
        found["persistence"] = (words, _persistence(evidence))
    if "theorem-2" in evidence:
        words = "Theorem 2: constants, the path, and the first perfect step t*."
        found["theorem-2"] = (words, _theorem_2(evidence["theorem-2"]))
    found["smallest"] = (
        "The smallest sequence length at which Theorem 2's conditions can be met.",
        pd.DataFrame({"m": m, "smallest n": smallest_length(m)} for m in range(1, 5)),
    )
    if all(joint_name(s, r) in evidence for s in SIZES for r in RULES):
        words = "W and V from small random weights, at the last step (8 seeds)."
        found["joint"] = (words, joint_table(evidence))
    if "value-alone" in evidence:
        words = "V alone under uniform attention, (8, 3, 2), at the last step."
        found["value-alone"] = (words, _alone(evidence["value-alone"]))
    return found


def _theorem_1(evidence) -> pd.DataFrame:
    rows = []
    for name, words in THEOREM_1.items():
        if name not in evidence:
            continue
        data = evidence[name]
        ratio, h = data.bound / data.time, data.time / data.time_unit
        held = (data.outcome == EVENT) & (data.time <= data.bound)
        rows.append(
            {
                "sequences": words,
                "instances": data.sizes["cell"],
                "hold": int(held.sum()),
                "least bound/measured": float(ratio.min()),
                "median bound/measured": float(ratio.median()),
                "median h": float(h.median()),
                "most h": float(h.max()),
                "within the proved bound": int((data.time <= data.proved_bound).sum()),
            }
        )
    return pd.DataFrame(rows)


def _repetition(data: xr.Dataset) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "(L, n, M)": size_of(cell),
            "t*": float(cell.time),
            "bound": float(cell.bound),
            "bound/t*": float(cell.bound / cell.time),
            "solver": "kvaerno5 (stiff)" if bool(cell.stiff) else "tsit5",
            "within the bound": "yes" if bool(cell.time <= cell.bound) else "no",
        }
        for cell in cells(data)
    )


def _scale(evidence) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "(L, n, M)": size_of(cells(evidence[name])[0]),
            "exponent of c": exponent(evidence[name]),
            "largest factor at which the bound fails": failing_factor(evidence[name]),
        }
        for name in ("scale", "scale-small")
    )


def _persistence(evidence) -> pd.DataFrame:
    rows = []
    for name in ("persistence", "persistence-others"):
        data = evidence[name]
        lost = ~np.isnan(data.lost_from.values)
        rows.append(
            {
                "instances": data.sizes["cell"],
                "sequences": "uniform sets" if name == "persistence" else "others",
                "lose perfection": int(lost.sum()),
                "perfect at 100 t*": int((data.at_the_end > 0).sum()),
            }
        )
    return pd.DataFrame(rows)


def _theorem_2(data: xr.Dataset) -> pd.DataFrame:
    names = ("scale", "start", "below", "above", "step")
    rows = []
    for cell in cells(data):
        path = cell.curvature.values
        rows.append(
            {
                "(L, n, m)": size_of(cell),
                "sets": int(cell.sets),
                "conditions": "all true"
                if all(bool(cell[f"{name}_holds"]) for name in names)
                else "not all",
                "c": float(cell.scale),
                "ε": float(cell.epsilon),
                "L₀": float(cell.initial_loss),
                "t*": float(cell.perfect),
                "T from": float(cell.shortest),
                "T to": float(cell.longest),
                "λ_max grows by": float(np.nanmax(path) / path[0]),
            }
        )
    return pd.DataFrame(rows)


def _alone(data: xr.Dataset) -> pd.DataFrame:
    last = data.isel(step=-1)
    names = {
        "value_cosine": "cosine of V and P",
        "value_cosine_centred": "doubly centred",
        "accuracy": "accuracy",
        "train_loss": "loss",
    }
    return pd.DataFrame(
        {"quantity": words, "mean": float(last[n].mean()), "sd": float(last[n].std())}
        for n, words in names.items()
    )

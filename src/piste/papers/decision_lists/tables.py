"""The tables of the paper: how far from the bounds, and where they fail."""

import numpy as np
import pandas as pd
import xarray as xr

from piste.dynamics.flow import EVENT
from piste.theory.all_sequences import TIE
from piste.theory.decision_lists import smallest_length

from . import presets
from .captions import sizes_of
from .descent_claims import conditions_of
from .empirical_claims import joint_table
from .flow_claims import exponent, failing_factor, interval, lost, unknown
from .presets import RULES
from .reading import NAMES, by_kind, cells, number, numbers, size_of, sizes_in_words
from .studies import SIZES, joint_name

THEOREM_1 = {
    "uniform": "uniform sets",
    "others": "Dirichlet, support, Poisson",
    "dirichlet-support": "Dirichlet weights on some sets",
    "repetition": "independent, with repetition",
}


def tables(evidence) -> dict[str, tuple[str, pd.DataFrame]]:
    """All tables for which the runs are there, with their captions, by name."""
    found = {}
    if set(THEOREM_1) & set(evidence):
        words = (
            "Theorem 1: instances within the bound; h = t*/(δ/(16 γ log²L)). Flows that "
            "are perfect at once have a t* that only says when the lead is 1e-4 n/c."
        )
        found["theorem-1"] = (words, _theorem_1(evidence))
    if "repetition" in evidence:
        words = "Theorem 1 where tokens repeat: time to perfection against the bound."
        found["repetition"] = (words, _repetition(evidence["repetition"]))
    if "unseen" in evidence:
        found["unseen"] = _unseen(evidence["unseen"])
    if {"scale", "scale-small"} <= set(evidence):
        found["scale"] = ("Theorem 1 over the scale c of V = cP.", _scale(evidence))
    if "persistence" in evidence:
        words = "How many flows lose perfection again, by family, with a 95 % interval."
        found["persistence"] = (words, persistence_table(evidence))
    found |= _descent_tables(evidence)
    found["smallest"] = (
        "The smallest sequence length at which Theorem 2's conditions can be met.",
        pd.DataFrame({"m": m, "smallest n": smallest_length(m)} for m in range(1, 5)),
    )
    if all(joint_name(s, r) in evidence for s in SIZES for r in RULES):
        seeds = evidence[joint_name(SIZES[0], next(iter(RULES)))].sizes["cell"]
        words = f"W and V from small random weights, at the last step ({seeds} seeds)."
        found["joint"] = (words, joint_table(evidence))
    if "value-alone" in evidence:
        size = sizes_of(presets.value_alone())
        words = f"V alone under uniform attention, {size}, at the last step."
        found["value-alone"] = (words, _alone(evidence["value-alone"]))
    return found


def _descent_tables(evidence) -> dict[str, tuple[str, pd.DataFrame]]:
    found = {}
    if "attention-descents" in evidence:
        words = (
            "Gradient descent on W with V = cP: steps t* to perfection, and η t* against "
            "the flow's own t* where t* > 1. Shares are of 1/max λ_max of the path."
        )
        found["attention-descents"] = (
            words,
            _attention(evidence["attention-descents"]),
        )
    if "theorem-2" in evidence:
        words = "Theorem 2: constants, the path, and the first perfect step t*."
        found["theorem-2"] = (words, _theorem_2(evidence["theorem-2"]))
        words = (
            "Theorem 2 on sequences of probability 0: shares right at t*, the first step "
            "at which all sets of distinct tokens are right, and how far W must travel "
            "for all of [L]^n against how far it can."
        )
        found["theorem-2-unseen"] = (words, _theorem_2_unseen(evidence["theorem-2"]))
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


def persistence_table(evidence) -> pd.DataFrame:
    """A row for every family that was followed, without what was chosen for its loss."""
    names = [name for name in ("persistence", "persistence-large") if name in evidence]
    parts = [item for name in names for item in by_kind(evidence[name]).items()]
    return pd.DataFrame(_family(kind, data) for kind, data in parts)


def _family(kind: str, data: xr.Dataset) -> dict:
    low, high = interval(data)
    followed = int((~unknown(data)).sum())
    gone = int(lost(data).sum())
    return {
        "sequences": NAMES[kind],
        "sizes": sizes_in_words(data),
        "followed": followed,
        "lose it": gone,
        "share": gone / followed if followed else np.nan,
        "from": low,
        "to": high,
        "perfect at the end": int((numbers(data, "at_the_end") > 0).sum()),
        "followed to t/t*": float(numbers(data, "follow").max()),
        "records apart": float(numbers(data, "resolution").max()),
    }


def _unseen(data: xr.Dataset) -> tuple[str, pd.DataFrame]:
    times = np.asarray(data.multiple, float)
    words = (
        "Theorem 1 where few sets have positive probability: instances for which all "
        f"sets of distinct tokens are right, at {times[0]:.3g} and {times[-1]:.3g} t*; "
        "instances with a tie that no training resolves; and median shares of what has "
        f"probability 0 that is right at {times[0]:.3g} t*. Instances with no other set "
        "are left out."
    )
    return words, pd.DataFrame(_unseen_row(*item) for item in by_kind(data).items())


def _unseen_row(kind: str, data: xr.Dataset) -> dict:
    data = data.isel(cell=np.flatnonzero(numbers(data, "others") > 0))
    right = np.asarray(data.all_sets, float) > TIE
    first = data.isel(multiple=0)
    return {
        "sequences": NAMES[kind],
        "instances": data.sizes["cell"],
        "all right, first": int(right[:, 0].sum()),
        "all right, last": int(right[:, -1].sum()),
        "tied for ever": int((numbers(data, "tied") == 1).sum()),
        "tokens right": float(first.tokens.median()),
        "sets right": float(first.sets.median()),
        "fewest sets right": float(first.sets.min()),
        "with repetition right": float(first.repeated.median()),
    }


def _attention(data: xr.Dataset) -> pd.DataFrame:
    rows = []
    for kind, part in by_kind(data).items():
        for share in np.unique(numbers(part, "share"))[::-1]:
            used = part.isel(cell=np.flatnonzero(numbers(part, "share") == share))
            rows.append({"sequences": NAMES[kind], "η λ_max": share} | _steps(used))
    return pd.DataFrame(rows)


def _steps(data: xr.Dataset) -> dict:
    steps, time = numbers(data, "steps"), numbers(data, "descent_time")
    bound, flow = numbers(data, "bound"), numbers(data, "time")
    ratio = (time / flow)[steps > 1]
    return {
        "instances": steps.size,
        "within the bound": int((time <= bound).sum()),
        "median t*": float(np.median(steps)),
        "largest t*": float(steps.max()),
        "smallest bound/(η t*)": float((bound / time).min()),
        "t* > 1": ratio.size,
        "η t*/flow, from": float(ratio.min(initial=np.inf)),
        "η t*/flow, median": float(np.median(ratio)) if ratio.size else np.nan,
        "η t*/flow, to": float(ratio.max(initial=-np.inf)),
        "λ_max grows by, at most": float(
            (numbers(data, "steepest") / numbers(data, "first_curvature")).max()
        ),
    }


def _theorem_2(data: xr.Dataset) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "(L, n, m)": size_of(cell),
            "sets": int(cell.sets),
            "conditions": _conditions(cell),
            "c": number(cell, "scale"),
            "ε": number(cell, "epsilon"),
            "A": number(cell, "progress"),
            "L₀": number(cell, "initial_loss"),
            "t*": number(cell, "perfect"),
            "T from": number(cell, "shortest"),
            "T to": number(cell, "longest"),
            "λ_max grows by": _growth(cell),
        }
        for cell in cells(data)
    )


def _conditions(cell: xr.Dataset) -> str:
    if np.isnan(number(cell, "initial_loss")):
        return "unknown"
    met = all(condition.met for condition in conditions_of(cell))
    return "all true" if met else "not all"


def _growth(cell: xr.Dataset) -> float:
    path = np.asarray(cell.curvature, float)
    return float(path[np.isfinite(path)].max(initial=-np.inf) / path[0])


def _theorem_2_unseen(data: xr.Dataset) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "(L, n, m)": size_of(cell),
            "sets": int(cell.sets),
            "other sets": int(number(cell, "others")),
            "their tokens right": number(cell, "other_tokens"),
            "sets right": number(cell, "other_sets"),
            "t*": number(cell, "perfect"),
            "all sets right at": number(cell, "all_sets"),
            "with repetition, tokens right": number(cell, "repeated_tokens"),
            "sequences right": number(cell, "repeated"),
            "‖W‖ needed": number(cell, "travel_needed"),
            "‖W‖ possible": number(cell, "travel"),
        }
        for cell in cells(data)
    )


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

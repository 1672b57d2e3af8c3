"""The tables of the paper: how far from the bounds, and where they fail."""

import numpy as np
import pandas as pd
import xarray as xr

from piste.reproduction import Evidence, Table
from piste.training import EVENT

from . import presets
from .captions import sizes_of
from .descent_claims import conditions_of
from .empirical_claims import joint_table
from .flow_claims import exponent, failing_factor, interval, lost, unknown
from .presets import RULES
from .reading import NAMES, by_kind, cells, number, numbers, size_of, sizes_in_words
from .studies import SIZES, joint_name, joint_names
from .theory.all_sequences import TIE
from .theory.bounds import smallest_length

SCALES = ("scale", "scale-small")

THEOREM_1 = {
    "uniform": "uniform sets",
    "others": "Dirichlet, support, Poisson",
    "dirichlet-support": "Dirichlet weights on some sets",
    "repetition": "independent, with repetition",
}


def _theorem_1(evidence: Evidence) -> pd.DataFrame:
    rows = []
    for name, words in THEOREM_1.items():
        if name not in evidence:
            continue
        data = evidence.dataset(name)
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


def _repetition(evidence: Evidence) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "(L, n, M)": size_of(cell),
            "t*": float(cell.time),
            "bound": float(cell.bound),
            "bound/t*": float(cell.bound / cell.time),
            "solver": "kvaerno5 (stiff)" if bool(cell.stiff) else "tsit5",
            "within the bound": "yes" if bool(cell.time <= cell.bound) else "no",
        }
        for cell in cells(evidence.dataset("repetition"))
    )


def _scale(evidence: Evidence) -> pd.DataFrame:
    every = (evidence.dataset(name) for name in SCALES)
    return pd.DataFrame(
        {
            "(L, n, M)": size_of(cells(data)[0]),
            "exponent of c": exponent(data),
            "largest factor at which the bound fails": failing_factor(data),
        }
        for data in every
    )


def persistence_table(evidence: Evidence) -> pd.DataFrame:
    """A row for every family that was followed, without what was chosen for its loss."""
    names = [name for name in ("persistence", "persistence-large") if name in evidence]
    parts = [item for name in names for item in by_kind(evidence.dataset(name)).items()]
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


def _unseen(evidence: Evidence) -> pd.DataFrame:
    parts = by_kind(evidence.dataset("unseen"))
    return pd.DataFrame(_unseen_row(*item) for item in parts.items())


def _unseen_caption(evidence: Evidence, rows: pd.DataFrame) -> str:
    times = np.asarray(evidence.dataset("unseen").multiple, float)
    return (
        "Theorem 1 where few sets have positive probability: instances for which all "
        f"sets of distinct tokens are right, at {times[0]:.3g} and {times[-1]:.3g} t*; "
        "instances with a tie that no training resolves; and median shares of what has "
        f"probability 0 that is right at {times[0]:.3g} t*. Instances with no other set "
        "are left out."
    )


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


def _attention(evidence: Evidence) -> pd.DataFrame:
    rows = []
    for kind, part in by_kind(evidence.dataset("attention-descents")).items():
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


def _theorem_2(evidence: Evidence) -> pd.DataFrame:
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
        for cell in cells(evidence.dataset("theorem-2"))
    )


def _conditions(cell: xr.Dataset) -> str:
    if np.isnan(number(cell, "initial_loss")):
        return "unknown"
    met = all(condition.met for condition in conditions_of(cell))
    return "all true" if met else "not all"


def _growth(cell: xr.Dataset) -> float:
    path = np.asarray(cell.curvature, float)
    return float(path[np.isfinite(path)].max(initial=-np.inf) / path[0])


def _theorem_2_unseen(evidence: Evidence) -> pd.DataFrame:
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
        for cell in cells(evidence.dataset("theorem-2"))
    )


def _alone(evidence: Evidence) -> pd.DataFrame:
    last = evidence.dataset("value-alone").isel(step=-1)
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


# --- all tables -----------------------------------------------------------------------


def _smallest(evidence: Evidence) -> pd.DataFrame:
    sizes = ({"m": m, "smallest n": smallest_length(m)} for m in range(1, 5))
    return pd.DataFrame(sizes)


def _joint_caption(evidence: Evidence, rows: pd.DataFrame) -> str:
    seeds = evidence.count(joint_name(SIZES[0], next(iter(RULES))))
    return f"W and V from small random weights, at the last step ({seeds} seeds)."


_THEOREM_1 = (
    "Theorem 1: instances within the bound; h = t*/(δ/(16 γ log²L)). Flows that "
    "are perfect at once have a t* that only says when the lead is 1e-4 n/c."
)
_REPETITION = "Theorem 1 where tokens repeat: time to perfection against the bound."
_SCALE = "Theorem 1 over the scale c of V = cP."
_LOST = "How many flows lose perfection again, by family, with a 95 % interval."
_ATTENTION = (
    "Gradient descent on W with V = cP: steps t* to perfection, and η t* against "
    "the flow's own t* where t* > 1. Shares are of 1/max λ_max of the path."
)
_THEOREM_2 = "Theorem 2: constants, the path, and the first perfect step t*."
_EVERYWHERE = (
    "Theorem 2 on sequences of probability 0: shares right at t*, the first step "
    "at which all sets of distinct tokens are right, and how far W must travel "
    "for all of [L]^n against how far it can."
)
_SMALLEST = "The smallest sequence length at which Theorem 2's conditions can be met."
_ALONE = (
    f"V alone under uniform attention, {sizes_of(presets.value_alone())}, at the last "
    "step."
)

TABLES = (
    Table("theorem-1", _THEOREM_1, _theorem_1, any_of=tuple(THEOREM_1)),
    Table("repetition", _REPETITION, _repetition, ("repetition",)),
    Table("unseen", _unseen_caption, _unseen, ("unseen",)),
    Table("scale", _SCALE, _scale, SCALES),
    Table("persistence", _LOST, persistence_table, ("persistence",)),
    Table("attention-descents", _ATTENTION, _attention, ("attention-descents",)),
    Table("theorem-2", _THEOREM_2, _theorem_2, ("theorem-2",)),
    Table("theorem-2-unseen", _EVERYWHERE, _theorem_2_unseen, ("theorem-2",)),
    Table("smallest", _SMALLEST, _smallest),
    Table("joint", _joint_caption, joint_table, joint_names()),
    Table("value-alone", _ALONE, _alone, ("value-alone",)),
)

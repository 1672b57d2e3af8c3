"""What ``piste reproduce decision-lists`` prints first: instances within the bounds."""

from typing import Any

import pandas as pd

from piste.console import plain_table


def lines(tables: dict[str, tuple[str, pd.DataFrame]]) -> list:
    """Sum up the tables that were made, in a line or a few each."""
    summaries = {
        "theorem-1": _theorem_1,
        "persistence": _persistence,
        "attention-descents": _descent_on_w,
        "theorem-2": _theorem_2,
        "joint": _random_weights,
    }
    printed = []
    for name, summarise in summaries.items():
        if name in tables:
            printed += [summarise(tables[name][1]), ""]
    return printed


_HEADINGS = ("  Theorem 1", "within the bound", "least bound/t*", "median", "median h")


def _theorem_1(frame: pd.DataFrame) -> Any:
    rows = [
        (
            f"  {row['sequences']}",
            f"{row['hold']} of {row['instances']}",
            f"{row['least bound/measured']:.3g}",
            f"{row['median bound/measured']:.3g}",
            f"{row['median h']:.3g}",
        )
        for row in frame.to_dict("records")
    ]
    return plain_table(_HEADINGS, rows)


def _persistence(frame: pd.DataFrame) -> str:
    parts = (
        f"{row['lose it']} of {row['followed']} ({row['sequences']})"
        for row in frame.to_dict("records")
    )
    return f"  Perfection is lost again in {', '.join(parts)}"


def _descent_on_w(frame: pd.DataFrame) -> str:
    held, count = frame["within the bound"].sum(), frame["instances"].sum()
    descents = f"{held} of {count} descents within the flow's bound"
    steps = f"after at most {frame['largest t*'].max():.0f} steps"
    return f"  Gradient descent on W: {descents}, {steps}"


def _theorem_2(frame: pd.DataFrame) -> str:
    met = frame.loc[frame["conditions"] == "all true"]
    reached = met["t*"].dropna()
    instances = f"  Theorem 2: {len(met)} of {len(frame)} instances meet its conditions"
    if reached.empty:
        return f"{instances}; none was perfect in the steps that were run"
    steps = ", ".join(f"{step:.0f}" for step in sorted(reached))
    return f"{instances}; perfect at t* = {steps} (T from {met['T from'].min():.3g})"


def _random_weights(frame: pd.DataFrame) -> str:
    runs, perfect = frame["runs"].sum(), frame["perfect"].sum()
    return f"  W and V from small random weights: perfect in {perfect} of {runs} runs"

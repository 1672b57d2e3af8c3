"""What ``piste reproduce decision-lists`` says first: instances within the bounds."""

import pandas as pd

from piste.console import plain_table


def lines(tables: dict[str, tuple[str, pd.DataFrame]]) -> list:
    """Theorem 1 by kind of sequence, Theorem 2 by instance, and success rates."""
    found = []
    if "theorem-1" in tables:
        found += [plain_table(_HEADINGS, _theorem_1(tables["theorem-1"][1])), ""]
    if "theorem-2" in tables:
        found += [_theorem_2(tables["theorem-2"][1]), ""]
    if "joint" in tables:
        found += [_joint(tables["joint"][1]), ""]
    return found


_HEADINGS = ("  Theorem 1", "within the bound", "least bound/t*", "median", "median h")


def _theorem_1(frame: pd.DataFrame) -> list[tuple[str, ...]]:
    return [
        (
            f"  {row['sequences']}",
            f"{row['hold']} of {row['instances']}",
            f"{row['least bound/measured']:.3g}",
            f"{row['median bound/measured']:.3g}",
            f"{row['median h']:.3g}",
        )
        for row in frame.to_dict("records")
    ]


def _theorem_2(frame: pd.DataFrame) -> str:
    met = frame[frame["conditions"] == "all true"]
    steps = ", ".join(f"{step:.0f}" for step in sorted(met["t*"]))
    return f"  Theorem 2: {len(met)} instances meet its conditions; perfect at t* = {steps}"


def _joint(frame: pd.DataFrame) -> str:
    runs, perfect = frame["runs"].sum(), frame["perfect"].sum()
    return f"  W and V from small random weights: perfect in {perfect} of {runs} runs"

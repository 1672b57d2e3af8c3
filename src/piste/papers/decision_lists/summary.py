"""What ``piste reproduce decision-lists`` says first: instances within the bounds."""

import pandas as pd

from piste.console import plain_table


def lines(tables: dict[str, tuple[str, pd.DataFrame]]) -> list:
    """What the tables say, in a line or a few each; those that are there."""
    found = []
    if "theorem-1" in tables:
        found += [plain_table(_HEADINGS, _theorem_1(tables["theorem-1"][1])), ""]
    if "persistence" in tables:
        found += [_persistence(tables["persistence"][1]), ""]
    if "attention-descents" in tables:
        found += [_attention(tables["attention-descents"][1]), ""]
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
    reached = met["t*"].dropna()
    words = f"  Theorem 2: {len(met)} of {len(frame)} instances meet its conditions"
    if reached.empty:
        return f"{words}; none was perfect in the steps that were run"
    steps = ", ".join(f"{step:.0f}" for step in sorted(reached))
    return f"{words}; perfect at t* = {steps} (T from {met['T from'].min():.3g})"


def _attention(frame: pd.DataFrame) -> str:
    held, count = frame["within the bound"].sum(), frame["instances"].sum()
    words = (
        f"  Gradient descent on W: {held} of {count} descents within the flow's bound"
    )
    return f"{words}, after at most {frame['largest t*'].max():.0f} steps"


def _persistence(frame: pd.DataFrame) -> str:
    parts = (
        f"{row['lose it']} of {row['followed']} ({row['sequences']})"
        for row in frame.to_dict("records")
    )
    return f"  Perfection is lost again in {', '.join(parts)}"


def _joint(frame: pd.DataFrame) -> str:
    runs, perfect = frame["runs"].sum(), frame["perfect"].sum()
    return f"  W and V from small random weights: perfect in {perfect} of {runs} runs"

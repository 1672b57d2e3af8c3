"""What ``piste reproduce kernels`` says first: both theorems in two tables."""

import pandas as pd

from piste.console import plain_table


def lines(tables: dict[str, tuple[str, pd.DataFrame]]) -> list:
    """Losses by HD/Nn, success rates by case, and the acceptance ratio."""
    found = []
    if "acceptance" in tables:
        found += [_acceptance(tables["acceptance"][1]), ""]
    if "transition" in tables:
        frame = tables["transition"][1]
        heads = (
            "  f_T/f₀ at HD/Nn =",
            *(f"{r:g}" for r in sorted(set(frame["HD/Nn"]))),
        )
        found += [plain_table(heads, _losses(frame)), "", _bounds(frame), ""]
    if "success" in tables:
        heads = ("  W^Q alone", "softmax", "gaussian")
        found += [plain_table(heads, _success(tables["success"][1])), ""]
    if "real" in tables:
        heads = ("  real tasks", "kernel", "test accuracy", "leave ln 2")
        found += [plain_table(heads, _real(tables["real"][1])), ""]
    for name, (words, frame) in tables.items():
        if name.startswith("landscape-"):
            heads = (f"  {words}", "softmax", "gaussian", "lower in", "p")
            found += [plain_table(heads, _landscape(frame)), ""]
    return found


def _real(frame: pd.DataFrame) -> list[tuple[str, ...]]:
    return [
        (
            f"  {row['task']}",
            row["kernel"],
            f"{row['test accuracy']:.3f} ± {row['sd']:.3f}",
            f"{row['leave ln 2']} of {row['seeds']}",
        )
        for row in frame.to_dict("records")
    ]


def _landscape(frame: pd.DataFrame) -> list[tuple[str, ...]]:
    return [
        (
            f"  {row['metric']}",
            f"{row['softmax']:.3g}",
            f"{row['gaussian']:.3g}",
            row["lower in models"],
            f"{row['p (sign test)']:.2g}",
        )
        for row in frame.to_dict("records")
    ]


def _acceptance(frame: pd.DataFrame) -> str:
    low, high, runs = frame["least"].min(), frame["largest"].max(), frame["seeds"].sum()
    return f"  rate of log f in units of ηβ: {low:.4f} to {high:.4f} in {runs} runs"


def _losses(frame: pd.DataFrame) -> list[tuple[str, ...]]:
    found = []
    named = frame.assign(name=frame["kernel"] + ", " + frame["trained"])
    for name, rows in named.groupby("name", sort=False):
        ordered = rows.sort_values("HD/Nn")
        found.append((f"  {name}", *(f"{x:.1e}" for x in ordered["f_T/f₀"])))
    return found


def _bounds(frame: pd.DataFrame) -> str:
    covered = frame[frame["HD/Nn"] >= 1]
    runs = covered["seeds"].sum()
    per_head, stacked = (covered[f"within {w}"].sum() for w in ("per head", "stacked"))
    return (
        f"  Theorem 1 where HD ≥ Nn: {per_head} of {runs} runs within the bound per head, "
        f"{stacked} with stacked W^O"
    )


def _success(frame: pd.DataFrame) -> list[tuple[str, ...]]:
    found = []
    for case, rows in frame.groupby("case", sort=False):
        words = (f"{r['succeed']}/{r['runs']}" for r in rows.to_dict("records"))
        found.append((f"  {case}", *words))
    return found

"""What ``piste reproduce kernels`` prints first: both theorems in a few tables."""

import textwrap
from typing import Any

import pandas as pd

from piste.console import plain_table

from .results.theorem_1.bounds import counts_of_caption

_INDENTED: Any = {"initial_indent": "  ", "subsequent_indent": "  "}


def lines(tables: dict[str, tuple[str, pd.DataFrame]]) -> list:
    """Print losses by HD/Nn, bounds, movement, success rates by case, and real tasks."""
    output = []
    if "acceptance" in tables:
        output += [_acceptance(tables["acceptance"][1]), ""]
    if "transition" in tables:
        frame = tables["transition"][1]
        heads = (
            "  f_T/f₀ at HD/Nn =",
            *(f"{r:g}" for r in sorted(set(frame["HD/Nn"]))),
        )
        output += [plain_table(heads, _losses(frame)), ""]
    for name in ("transition", "promised"):
        if name in tables:
            words = counts_of_caption(tables[name][0])
            output += [textwrap.fill(words, 100, **_INDENTED), ""]
    if "region" in tables:
        heads = ("  Q, K, V from W^V = 0", "HD/Nn", "−λ_min/λ_max at 0", "moved/‖M₀‖")
        output += [plain_table(heads, _region(tables["region"][1])), ""]
    if "success" in tables:
        heads = ("  W^Q alone", "softmax", "gaussian")
        output += [plain_table(heads, _success(tables["success"][1])), ""]
    if "real" in tables:
        heads = ("  real tasks", "kernel", "test accuracy", "leave ln 2")
        output += [plain_table(heads, _real(tables["real"][1])), ""]
    for name, (words, frame) in tables.items():
        if name.startswith("landscape-"):
            heads = (f"  {words}", "window", "effect", "difference", "lower in", "p")
            output += [plain_table(heads, _landscape(frame)), ""]
    return output


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
    """What the kernel and its normalisation change, over all windows together."""
    together = frame.window == frame.window.iloc[-1]
    rows = frame.loc[together & (frame.weights == "trained")]
    return [
        (
            f"  {row['metric']}",
            row["window"],
            f"{row['effect']}: {row['kernel']} against {row['reference']}",
            f"{row['median difference']:+.3g}",
            row["lower in models"],
            f"{row['p (two-sided sign test)']:.2g}",
        )
        for row in rows.to_dict("records")
    ]


def _acceptance(frame: pd.DataFrame) -> str:
    low, high, runs = frame["least"].min(), frame["largest"].max(), frame["seeds"].sum()
    return f"  rate of log f in units of ηβ: {low:.4f} to {high:.4f} in {runs} runs"


def _losses(frame: pd.DataFrame) -> list[tuple[str, ...]]:
    rows = []
    named = frame.assign(name=frame["kernel"] + ", " + frame["trained"])
    for name, losses in named.groupby("name", sort=False):
        ordered = losses.sort_values("HD/Nn")
        rows.append((f"  {name}", *(f"{x:.1e}" for x in ordered["f_T/f₀"])))
    for kernel, runs in frame.groupby("kernel", sort=False):
        promised = runs.groupby("HD/Nn")["(1 − ηβ)^T"].median()
        rows.append((f"  {kernel}, (1 − ηβ)^T", *(f"{x:.3g}" for x in promised)))
    return rows


def _region(frame: pd.DataFrame) -> list[tuple[str, ...]]:
    return [
        (
            f"  {row['kernel']}",
            f"{row['HD/Nn']:g}",
            f"{row['−λ_min/λ_max at 0']:.2f}",
            f"{row['all moved/‖M₀‖']:.2f}",
        )
        for row in frame.to_dict("records")
    ]


def _success(frame: pd.DataFrame) -> list[tuple[str, ...]]:
    rows = []
    for case, kernels in frame.groupby("case", sort=False):
        counts = (f"{r['succeed']}/{r['runs']}" for r in kernels.to_dict("records"))
        rows.append((f"  {case}", *counts))
    return rows

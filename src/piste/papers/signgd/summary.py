"""What ``piste reproduce signgd`` prints first: the four stages next to the slides."""

import pandas as pd

from piste.console import plain_table


def lines(tables: dict[str, tuple[str, pd.DataFrame]]) -> list:
    """The stage table, and how the arithmetic changes its last row."""
    if "stages" not in tables:
        return []
    frame = tables["stages"][1]
    runs = max(frame["runs"])
    rows = [_row(row) for row in frame.to_dict("records")]
    headings = ("  Four stages", "", "slides", f"here (median of {runs}, range)")
    return [plain_table(headings, rows), *_arithmetic(tables["arithmetic"][1]), ""]


def _row(row: dict) -> tuple[str, str, str, str]:
    if not row["reached"]:
        ours = f"not found (0 of {row['runs']})"
    else:
        ours = f"{row['median']:.4g}   {row['low']:.4g} … {row['high']:.4g}"
        if row["reached"] < row["runs"]:
            ours += f"   ({row['reached']} of {row['runs']})"
    stage = row["boundary"].split()[0]
    return f"  {stage}", row["meaning"], f"{row['slides']:g}", ours


def _arithmetic(frame: pd.DataFrame) -> list[str]:
    if len(frame) < 2:
        return []
    parts = [
        f"{row['arithmetic']}: {row['query aligned at (median)']:.0f}"
        for row in frame.to_dict("records")
    ]
    return [f"  query noise aligned, by arithmetic: {' · '.join(parts)}"]

"""Evidence from plain values, as a study of each kind would leave it."""

from collections.abc import Mapping, Sequence
from typing import Any

import xarray as xr

from piste.reproduction import Evidence


def evidence_of(found: Mapping[str, Sequence[xr.Dataset] | xr.Dataset]) -> Evidence:
    """Datasets of sweeps and calculations, runs, and surfaces by their name."""
    kinds: dict[str, dict[str, Any]] = {"datasets": {}, "surfaces": {}, "runs": {}}
    for name, left in found.items():
        if isinstance(left, xr.Dataset):
            kinds["datasets"][name] = left
        else:
            kind = "surfaces" if name.startswith("landscape") else "runs"
            kinds[kind][name] = left
    return Evidence(**kinds)

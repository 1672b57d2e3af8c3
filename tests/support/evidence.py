"""Evidence from plain values, as a study of each kind would leave it."""

from collections.abc import Mapping, Sequence

import xarray as xr

from piste.reproduction import Evidence


def evidence_of(found: Mapping[str, Sequence[xr.Dataset] | xr.Dataset]) -> Evidence:
    """Datasets of sweeps and calculations, runs, and surfaces by their name."""
    evidence = Evidence()
    for name, left in found.items():
        if isinstance(left, xr.Dataset):
            evidence |= Evidence(datasets={name: left})
        elif name.startswith("landscape"):
            evidence |= Evidence(surfaces={name: left})
        else:
            evidence |= Evidence(runs={name: left})
    return evidence

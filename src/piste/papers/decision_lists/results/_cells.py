"""How claims, tables and figures read the cells of a calculation."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import xarray as xr

from piste.errors import field_error

from ..tasks import DISTRIBUTIONS

DISTRIBUTION_NAMES = {
    "uniform": "uniform sets",
    "dirichlet": "Dirichlet weights on all sets",
    "support": "some sets, equal weights",
    "dirichlet-support": "some sets, Dirichlet weights",
    "poisson": "conditional Poisson sets",
    "iid": "independent tokens, with repetition",
}
"""The distributions as claims, tables and captions call them."""
SIZE_SYMBOLS = {"vocabulary": "L", "length": "n", "list_bound": "M"}
"""The sizes of an instance, with the paper's symbols."""


def to_dataset(rows: Sequence[dict[str, Any]]) -> xr.Dataset:
    """Make a dataset of rows of numbers and words, along a dimension ``cell``."""
    names = list(rows[0])
    return xr.Dataset(
        {name: ("cell", np.array([row[name] for row in rows])) for name in names}
    )


def cells(data: xr.Dataset) -> list[xr.Dataset]:
    """The instances of a calculation, one by one."""
    return [data.isel(cell=i) for i in range(data.sizes["cell"])]


def number(cell: xr.Dataset, name: str) -> float:
    """A number of an instance; not a number where it was not recorded."""
    return float(cell[name]) if name in cell else math.nan


def numbers(data: xr.Dataset, name: str) -> np.ndarray:
    """A number of all instances; not a number where it was not recorded."""
    if name not in data:
        return np.full(data.sizes["cell"], np.nan)
    return np.asarray(data[name], float)


def missing_numbers(cell: xr.Dataset, names: Sequence[str]) -> str:
    """Say which numbers of an instance were not recorded; nothing if all were."""
    missing = [name for name in names if not math.isfinite(number(cell, name))]
    return f"no number for {', '.join(missing)}" if missing else ""


def word(cell: xr.Dataset, name: str, choices: Sequence[str]) -> str:
    """A word of an instance; any other than the choices is an error."""
    recorded = cell[name].item() if name in cell else None
    if recorded not in choices:
        raise field_error(name, recorded, f"must be one of {', '.join(choices)}")
    return str(recorded)


def distribution_of(cell: xr.Dataset) -> str:
    """The distribution of an instance."""
    return word(cell, "distribution", DISTRIBUTIONS)


def by_distribution(data: xr.Dataset) -> dict[str, xr.Dataset]:
    """The instances of each distribution, in the order of their first instances."""
    drawn = np.array([distribution_of(cell) for cell in cells(data)])
    return {
        distribution: data.isel(cell=np.flatnonzero(drawn == distribution))
        for distribution in dict.fromkeys(drawn.tolist())
    }


def size_text(cell: xr.Dataset) -> str:
    """The sizes of an instance, such as ``(30, 6, 4)``."""
    return "({}, {}, {})".format(*(int(cell[name]) for name in SIZE_SYMBOLS))


def first_size_text(data: xr.Dataset) -> str:
    """The sizes of a calculation that follows one instance in many ways."""
    return size_text(cells(data)[0]) if data.sizes["cell"] else "no instance"


def size_range_text(data: xr.Dataset) -> str:
    """The range of every size, such as ``L 6–12, n 3–4, M 4``."""
    parts = []
    for name, symbol in SIZE_SYMBOLS.items():
        low, high = int(data[name].min()), int(data[name].max())
        parts.append(f"{symbol} {low}" if low == high else f"{symbol} {low}–{high}")
    return ", ".join(parts)

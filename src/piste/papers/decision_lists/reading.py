"""How claims, tables and figures read the cells of a calculation."""

import numpy as np
import xarray as xr

from piste.errors import InputError
from piste.training import OUTCOMES

from .tasks.decision_lists import DISTRIBUTIONS

NAMES = {
    "uniform": "uniform sets",
    "dirichlet": "Dirichlet weights on all sets",
    "support": "some sets, equal weights",
    "dirichlet-support": "some sets, Dirichlet weights",
    "poisson": "conditional Poisson sets",
    "iid": "independent tokens, with repetition",
}
"""The distributions in words."""


def cells(data: xr.Dataset) -> list[xr.Dataset]:
    """The instances of a calculation, one by one."""
    return [data.isel(cell=i) for i in range(data.sizes["cell"])]


def number(cell: xr.Dataset, name: str) -> float:
    """A number of an instance; not a number where it was not recorded."""
    return float(cell[name]) if name in cell else float("nan")


def numbers(data: xr.Dataset, name: str) -> np.ndarray:
    """A number of all instances; not a number where it was not recorded."""
    if name not in data:
        return np.full(data.sizes["cell"], np.nan)
    return np.asarray(data[name], float)


def size_of(cell: xr.Dataset) -> str:
    """An instance's sizes, in words."""
    names = ("vocabulary", "length", "list_bound")
    return "({}, {}, {})".format(*(int(cell[name]) for name in names))


def first_size(data: xr.Dataset) -> str:
    """The sizes of a calculation that has one instance in many ways."""
    return size_of(cells(data)[0]) if data.sizes["cell"] else "no instance"


def word(words: tuple[str, ...], code: float, name: str) -> str:
    """The word for a stored code; a code that stands for none is an error."""
    if code not in range(len(words)):
        allowed = f"must be a whole number from 0 to {len(words) - 1}"
        raise InputError(f"{name} = {code:g}: {allowed}")
    return words[int(code)]


def kind_of(cell: xr.Dataset) -> str:
    """The distribution of an instance."""
    return word(DISTRIBUTIONS, number(cell, "distribution"), "distribution")


def outcome_of(cell: xr.Dataset) -> str:
    """How the flow of an instance ended."""
    return word(OUTCOMES, number(cell, "outcome"), "outcome")


def by_kind(data: xr.Dataset) -> dict[str, xr.Dataset]:
    """The instances of each distribution."""
    kinds = np.array([kind_of(cell) for cell in cells(data)])
    return {
        kind: data.isel(cell=np.flatnonzero(kinds == kind))
        for kind in dict.fromkeys(kinds.tolist())
    }


def sizes_in_words(data: xr.Dataset) -> str:
    """The range of every size, such as ``L 6–12, n 3–4, M 4``."""
    symbols = {"vocabulary": "L", "length": "n", "list_bound": "M"}
    parts = []
    for name, symbol in symbols.items():
        low, high = int(data[name].min()), int(data[name].max())
        parts.append(f"{symbol} {low}" if low == high else f"{symbol} {low}–{high}")
    return ", ".join(parts)


def seeds_of(data: xr.Dataset) -> list[int]:
    """The seed of every cell of a sweep."""
    return [int(seed) for seed in np.atleast_1d(data["seed"].values)]

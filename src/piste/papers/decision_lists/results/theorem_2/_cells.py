"""How claims and tables read a descent of Theorem 2."""

import math

import numpy as np
import xarray as xr

from piste.claims import Condition

from ...theory import CONDITIONS, positive_mass, zero_start
from .._cells import missing_numbers, number, size_text

REQUIRED_NUMBERS = (
    "scale",
    "initial_loss",
    "epsilon",
    "delta",
    "shortest",
    "longest",
    "start_size",
)
"""The numbers without which nothing can be said of Theorem 2 on an instance."""


def instance_text(cell: xr.Dataset) -> str:
    """The sizes of an instance and its number of sets."""
    return f"{size_text(cell)}, {int(cell.possible_sets)} sets"


def conditions_of(cell: xr.Dataset) -> tuple[Condition, ...]:
    """The conditions of Theorem 2, each with the numbers on both sides."""
    stated = (_condition(cell.sel(condition=name), name) for name in CONDITIONS)
    start = zero_start(number(cell, "start_size"))
    return (start, positive_mass("δ", number(cell, "delta")), *stated)


def _condition(cell: xr.Dataset, name: str) -> Condition:
    left, right = number(cell, "left"), number(cell, "right")
    met = number(cell, "met") == 1
    return Condition(name, met, f"{left:.4g} against {right:.4g}", left, right)


def why_unknown(cell: xr.Dataset) -> str:
    """Say why nothing can be judged; nothing if it can.

    An infinite c is a condition that is not met, not a number that is missing.
    """
    if math.isinf(number(cell, "scale")):
        return ""
    return missing_numbers(cell, REQUIRED_NUMBERS)


def max_curvature(cell: xr.Dataset) -> float:
    r"""The largest $\lambda_{max}$ on the path, after perfection included."""
    return float(np.nanmax(np.asarray(cell.curvature, float), initial=0))


def curvature_growth(cell: xr.Dataset) -> float:
    r"""By what factor $\lambda_{max}$ grows along the path."""
    return float(max_curvature(cell) / np.asarray(cell.curvature, float)[0])

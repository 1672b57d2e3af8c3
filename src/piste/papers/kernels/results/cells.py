"""Cells of a calculation: how they are selected, and what to say if some are missing.

A cell is one trained seed, or one start that is not trained. What it is (kernel, trained
matrices, initialisation) is stored in words; its numbers lie along a dimension ``cell``.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import xarray as xr

from piste.claims import Condition, Verdict, undecided
from piste.errors import field_error

from ..presets import COMPARED_KERNELS
from ..theory import WIDE, is_wide
from ..thresholds import MIN_SEEDS


def check_not_empty(**fields: tuple) -> None:
    """Refuse fields of several values that have none."""
    for name, given in fields.items():
        if not given:
            raise field_error(name, given, "must have at least one value")


def labels(word: str, seeds: range) -> tuple[str, np.ndarray]:
    """The same word for the cell of every seed."""
    return "cell", np.full(len(seeds), word)


# --- selecting -------------------------------------------------------------------------


def select(data: xr.Dataset, **wanted: str | float) -> xr.Dataset:
    """Keep the cells whose variables have the wanted words or numbers."""
    kept = np.ones(data.sizes["cell"], bool)
    for name, given in wanted.items():
        if isinstance(given, str):
            kept &= data[name].values == given
        else:
            kept &= np.isclose(data[name].values.astype(float), given)
    return keep(data, kept)


def keep(data: xr.Dataset, flags: np.ndarray) -> xr.Dataset:
    """Keep the cells whose flag is set."""
    return data.isel(cell=np.flatnonzero(flags))


def kernel_of(run: xr.Dataset) -> str:
    """The kernel of a run that was trained by itself."""
    return run.attrs["experiment"]["model"]["kernel"]


class Shape(NamedTuple):
    """The cells of one kernel and one HD/Nn."""

    kernel: str
    ratio: float
    """HD/Nn."""
    cells: xr.Dataset

    @property
    def words(self) -> str:
        """Name of the shape in verdicts."""
        return f"{self.kernel}, HD/Nn = {self.ratio:g}"


def ratios(data: xr.Dataset) -> list[float]:
    """All HD/Nn of a calculation, the smallest first."""
    return sorted({float(x) for x in (data.columns / data.rows).values})


def by_shape(data: xr.Dataset) -> list[Shape]:
    """Group the cells by kernel and HD/Nn."""
    data = data.assign(ratio=data.columns / data.rows)
    shapes = [
        Shape(kernel, ratio, select(data, kernel=kernel, ratio=ratio))
        for kernel in COMPARED_KERNELS
        for ratio in ratios(data)
    ]
    return [shape for shape in shapes if shape.cells.sizes["cell"]]


def final_share(data: xr.Dataset) -> np.ndarray:
    """f_T/f₀ of every cell."""
    return (data.loss[:, -1] / data.loss[:, 0]).values


def median(values) -> float:
    """Median as a plain number; NaN if a value is NaN."""
    return float(np.median(np.asarray(values)))


# --- what is missing -------------------------------------------------------------------


def missing_data_verdicts(
    data: xr.Dataset, needed: Sequence[str], predicted: str
) -> list[Verdict]:
    """Make a verdict that says what a study lacks; none if it has everything."""
    lacking = [name for name in needed if name not in data]
    if not lacking and data.sizes.get("cell", 0):
        return []
    why = f"the study lacks {', '.join(lacking)}" if lacking else "no runs"
    return [undecided("the whole study", predicted, why)]


def share_of(flags: np.ndarray, known: np.ndarray) -> float:
    """Share of runs whose flag is set; NaN unless it is known for all of them."""
    if not flags.size or not known.all():
        return np.nan
    return float(flags.mean())


def enough_seeds(cells: xr.Dataset) -> Condition:
    """Require several seeds, because a share of one or two is no share."""
    seeds = len(np.unique(cells.seed.values))
    name = f"at least {MIN_SEEDS} seeds"
    return Condition(name, seeds >= MIN_SEEDS, str(seeds), seeds, MIN_SEEDS)


def wide_enough(cells: xr.Dataset) -> Condition:
    """Require HD ≥ Nn, which both theorems do."""
    rows, columns = int(cells.rows[0]), int(cells.columns[0])
    met, detail = bool(is_wide(cells).all()), f"{columns} against {rows}"
    return Condition(WIDE, met, detail, columns, rows)


# --- singular values -------------------------------------------------------------------


def singular_value_words(smallest: float, resolution: float) -> str:
    """Least singular value in words; one that an SVD cannot resolve is only a limit.

    >>> singular_value_words(0.35, 1e-14), singular_value_words(0.0, 1.3e-15)
    ('0.35', '≤ 1.3e-15, the resolution')
    """
    if smallest > resolution or not np.isfinite(smallest):
        return f"{smallest:.3g}"
    return f"≤ {resolution:.2g}, the resolution"


def singular_value_number(
    name: str, smallest: float, resolution: float
) -> dict[str, float]:
    """Least singular value by name, or its upper limit by a name that says so.

    >>> singular_value_number("σ_min(J)", 0.0, 1e-19)
    {'σ_min(J), at most': 1e-19}
    """
    if smallest > resolution or not np.isfinite(smallest):
        return {name: float(smallest)}
    return {f"{name}, at most": float(resolution)}

"""The cells of a calculation: choosing them, and what is not known of them."""

from collections.abc import Sequence

import numpy as np
import xarray as xr

from piste.claims import Condition, Verdict, undecided

from .real_presets import KERNELS
from .thresholds import FEWEST_SEEDS


def chosen(data: xr.Dataset, **fields) -> xr.Dataset:
    """The cells with these values."""
    kept = np.ones(data.sizes["cell"], bool)
    for name, wanted in fields.items():
        kept &= np.isclose(data[name].values.astype(float), wanted)
    return data.isel(cell=np.flatnonzero(kept))


def subset(data: xr.Dataset, kept: np.ndarray) -> xr.Dataset:
    """The cells for which a flag is set."""
    return data.isel(cell=np.flatnonzero(kept))


def ratios(data: xr.Dataset) -> list[float]:
    """All HD/Nn of a calculation, the smallest first."""
    return sorted({float(x) for x in (data.columns / data.rows).values})


def by_shape(data: xr.Dataset) -> list[tuple[str, float, xr.Dataset]]:
    """Kernel, HD/Nn and the cells that have them."""
    data = data.assign(ratio=data.columns / data.rows)
    return [
        (name, ratio, chosen(data, kernel=place, ratio=ratio))
        for place, name in enumerate(KERNELS)
        for ratio in ratios(data)
        if chosen(data, kernel=place, ratio=ratio).sizes["cell"]
    ]


def end(data: xr.Dataset) -> np.ndarray:
    """f_T/f₀ of every cell."""
    return (data.loss[:, -1] / data.loss[:, 0]).values


def missing_records(
    data: xr.Dataset, needed: Sequence[str], predicted: str
) -> list[Verdict]:
    """A verdict that says what a study lacks; none where it has everything."""
    lacking = [name for name in needed if name not in data]
    if not lacking and data.sizes.get("cell", 0):
        return []
    why = f"the study lacks {', '.join(lacking)}" if lacking else "no runs"
    return [undecided("the whole study", predicted, why)]


def share_of(flags: np.ndarray, known: np.ndarray) -> float:
    """The share of runs with a property; NaN where it is not known of one of them."""
    if not flags.size or not known.all():
        return np.nan
    return float(flags.mean())


def enough_seeds(part: xr.Dataset) -> Condition:
    """A share of one or two seeds is no share."""
    seeds = len(np.unique(part.seed.values))
    return Condition(
        f"at least {FEWEST_SEEDS} seeds", seeds >= FEWEST_SEEDS, str(seeds)
    )


# --- singular values -------------------------------------------------------------------


def least_words(least: float, resolution: float) -> str:
    """A least singular value in words; one that an SVD cannot resolve is only a limit.

    >>> least_words(0.35, 1e-14), least_words(0.0, 1.3e-15)
    ('0.35', '≤ 1.3e-15, the resolution')
    """
    if least > resolution or not np.isfinite(least):
        return f"{least:.3g}"
    return f"≤ {resolution:.2g}, the resolution"


def least_number(name: str, least: float, resolution: float) -> dict[str, float]:
    """A least singular value by name, or its upper limit by a name that says so.

    >>> least_number("σ_min(J)", 0.0, 1e-19)
    {'σ_min(J), at most': 1e-19}
    """
    if least > resolution or not np.isfinite(least):
        return {name: float(least)}
    return {f"{name}, at most": float(resolution)}

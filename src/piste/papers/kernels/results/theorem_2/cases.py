"""Cases of Theorem 2: what its runs start from, which of them succeed, and which stall."""

from typing import NamedTuple

import numpy as np
import xarray as xr

from piste.claims import Condition

from ...presets import COMPARED_KERNELS
from ...thresholds import STALLED_LOSS, VANISHED_GRADIENT, ZERO_FLOOR, ZERO_LOSS
from ..cells import final_share, select, singular_value_number, wide_enough

SOFTMAX, GAUSSIAN = COMPARED_KERNELS


class Case(NamedTuple):
    """What the runs of one case start from."""

    heads: int
    """Number of heads, H."""
    init: str
    """How W^Q and W^K are initialised: "matched" or "random", as in ``KernelLayer``."""
    key_scale: float
    """Scale of W^Q and W^K."""

    @property
    def words(self) -> str:
        """Name of the case in verdicts and tables."""
        return f"H = {self.heads}, {self.init}, scale {self.key_scale:g}"


CONSTRUCTION = (Case(8, "matched", 6.0), Case(4, "matched", 6.0))
"""Cases in which the theorem says that the kernels differ."""
RANDOM_SCALE_1 = Case(4, "random", 1.0)
"""The control from which both kernels succeed."""
RANDOM_SCALE_2 = Case(4, "random", 2.0)
"""The control in which the kernels are compared seed by seed."""
CONTROLS = (
    Case(4, "matched", 1.0),
    RANDOM_SCALE_1,
    RANDOM_SCALE_2,
    Case(4, "random", 4.0),
)
"""The same without saturation, and from independent Q and K."""
CASES = (*CONSTRUCTION, *CONTROLS)
"""All cases in the order of the paper."""
NEEDED = (
    "kernel",
    "heads",
    "init",
    "key_scale",
    "seed",
    "eta",
    "better",
    "rows",
    "columns",
    "teacher_share",
    "beta",
    "largest_share",
    "loss",
    "bound",
    "gradient_norm",
    "jacobian_min",
    "jacobian_max",
    "jacobian_resolution",
)
"""Variables that the claims of Theorem 2 read."""


# --- selecting -------------------------------------------------------------------------


def cases_of(data: xr.Dataset) -> list[Case]:
    """The cases that a calculation has, in the order of the paper."""
    return [case for case in CASES if runs_of(data, case, SOFTMAX).sizes["cell"]]


def paired_cases(data: xr.Dataset, wanted: tuple[Case, ...]) -> list[Case]:
    """Those of the wanted cases that a calculation has with both kernels."""
    return [
        case
        for case in cases_of(data)
        if case in wanted and better_runs_of(data, case, GAUSSIAN).sizes["cell"]
    ]


def runs_of(data: xr.Dataset, case: Case, kernel: str) -> xr.Dataset:
    """All runs of one case and kernel, with every η."""
    return select(data, kernel=kernel, **case._asdict())


def better_runs_of(data: xr.Dataset, case: Case, kernel: str) -> xr.Dataset:
    """The better run of every seed of one case and kernel."""
    return select(runs_of(data, case, kernel), better=True)


# --- what is read off the runs ---------------------------------------------------------


def is_success(runs: xr.Dataset) -> np.ndarray:
    """Which runs reach zero loss; one whose loss is not finite does not."""
    return final_share(runs) < ZERO_LOSS


def is_known(runs: xr.Dataset) -> np.ndarray:
    """Which runs have a finite loss and gradient at both ends."""
    ends = runs[["loss", "gradient_norm"]].isel(step=[0, -1])
    both = np.isfinite(ends.loss) & np.isfinite(ends.gradient_norm)
    return both.all("step").values & np.isfinite(final_share(runs))


def is_stalled(runs: xr.Dataset) -> np.ndarray:
    """Which runs end with much of their loss and no gradient."""
    slope = runs.gradient_norm[:, -1].values
    return (final_share(runs) > STALLED_LOSS) & (slope < VANISHED_GRADIENT)


def conditions(runs: xr.Dataset) -> tuple[Condition, ...]:
    """Conditions of Theorem 2, with the numbers that decide them."""
    left = float(runs.teacher_share.max(skipna=False))
    return (
        wide_enough(runs),
        Condition(
            "softmax has a zero-loss solution",
            left <= ZERO_FLOOR,
            f"the teacher's W^Q leaves f/f₀ = {left:.2g}",
            left,
            ZERO_FLOOR,
        ),
    )


def path_numbers(runs: xr.Dataset) -> dict[str, float]:
    """How many runs succeed, and medians of their gradient and of J_Q."""
    numbers = {
        "seeds": runs.sizes["cell"],
        "succeed": int(is_success(runs).sum()),
        "‖∇f‖ at the end (median)": float(runs.gradient_norm[:, -1].median()),
        "largest weight's share": float(runs.largest_share.mean()),
        "σ_max(J_Q) at the start (median)": float(runs.jacobian_max[:, 0].median()),
    }
    for record, when in ((0, "start"), (-1, "end")):
        name = f"σ_min(J_Q) at the {when} (median)"
        numbers |= singular_value_number(name, *median_min(runs, record))
    return numbers


def median_min(runs: xr.Dataset, record: int) -> tuple[float, float]:
    """σ_min(J_Q) of the median run at a record, and what an SVD resolves there."""
    least, limit = runs.jacobian_min[:, record], runs.jacobian_resolution[:, record]
    return float(least.median(skipna=False)), float(limit.median(skipna=False))

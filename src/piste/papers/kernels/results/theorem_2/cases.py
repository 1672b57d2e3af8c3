"""The runs of Theorem 2's study: its cases, which of them succeed, and which stall."""

import numpy as np
import xarray as xr

from piste.claims import Condition
from piste.reproduction import Evidence

from .cells import chosen, end, least_number
from .real_presets import KERNELS
from .thresholds import NO_FLOOR, STALLED_LOSS, VANISHED, ZERO_LOSS

SOFTMAX, GAUSSIAN = range(len(KERNELS))
Case = tuple[int, bool, float]
"""H, matched start or not, scale of Q and K."""
CONSTRUCTION: tuple[Case, ...] = ((8, True, 6.0), (4, True, 6.0))
"""Where the kernels are to differ."""
CONTROLS: tuple[Case, ...] = (
    (4, True, 1.0),
    (4, False, 1.0),
    (4, False, 2.0),
    (4, False, 4.0),
)
"""The same without saturation, and from independent Q and K."""
NEEDED = (
    "kernel heads matched key_scale seed eta better rows columns teacher_share "
    "largest_share loss bound gradient_norm jacobian_least jacobian_largest "
    "jacobian_resolution"
).split()


def cases(data: xr.Dataset) -> list[Case]:
    """The cases of a calculation, in the order of the paper."""
    known = (*CONSTRUCTION, *CONTROLS)
    return [case for case in known if every_run(data, case, SOFTMAX).sizes["cell"]]


def every_run(data: xr.Dataset, case: Case, kernel: int) -> xr.Dataset:
    """The runs of one case and kernel, with every η."""
    heads, matched, scale = case
    fields = {"heads": heads, "matched": matched, "key_scale": scale}
    return chosen(data, kernel=kernel, **fields)


def case_of(data: xr.Dataset, case: Case, kernel: int) -> xr.Dataset:
    """The better run of every seed of one case and kernel."""
    return chosen(every_run(data, case, kernel), better=True)


def name_of(case: Case) -> str:
    """A case in words."""
    heads, matched, scale = case
    return f"H = {heads}, {'matched' if matched else 'random'}, scale {scale:g}"


def successes(part: xr.Dataset) -> np.ndarray:
    """Which runs end below the threshold; a loss that is not finite does not."""
    return end(part) < ZERO_LOSS


def known(part: xr.Dataset) -> np.ndarray:
    """Which runs have a finite loss and gradient at both ends."""
    ends = part[["loss", "gradient_norm"]].isel(step=[0, -1])
    both = np.isfinite(ends.loss) & np.isfinite(ends.gradient_norm)
    return both.all("step").values & np.isfinite(end(part))


def stalled(part: xr.Dataset) -> np.ndarray:
    """Which runs end with loss left and no gradient."""
    slope = part.gradient_norm[:, -1].values
    return (end(part) > STALLED_LOSS) & (slope < VANISHED)


def conditions(part: xr.Dataset) -> tuple[Condition, ...]:
    """What Theorem 2 asks for, with the numbers that decide it."""
    rows, columns = int(part.rows[0]), int(part.columns[0])
    left = float(part.teacher_share.max(skipna=False))
    return (
        Condition("HD ≥ Nn", columns >= rows, f"{columns} against {rows}"),
        Condition(
            "softmax has a zero-loss solution",
            left <= NO_FLOOR,
            f"the teacher's W^Q leaves f/f₀ = {left:.2g}",
        ),
    )


def path_numbers(part: xr.Dataset) -> dict[str, float]:
    """How many runs succeed, and what their gradient and J_Q are."""
    found = {
        "seeds": part.sizes["cell"],
        "succeed": int(successes(part).sum()),
        "‖∇f‖ at the end (median)": float(part.gradient_norm[:, -1].median()),
        "largest weight's share": float(part.largest_share.mean()),
        "σ_max(J_Q) at the start (median)": float(part.jacobian_largest[:, 0].median()),
    }
    for place, when in ((0, "start"), (-1, "end")):
        found |= least_number(
            f"σ_min(J_Q) at the {when} (median)", *median_least(part, place)
        )
    return found


def median_least(part: xr.Dataset, place: int) -> tuple[float, float]:
    """σ_min(J_Q) of the median run at a record, and what an SVD resolves there."""
    least, limit = part.jacobian_least[:, place], part.jacobian_resolution[:, place]
    return float(least.median(skipna=False)), float(limit.median(skipna=False))


def present(evidence: Evidence, wanted: tuple[Case, ...]) -> list[Case]:
    """Those of some cases that the study has, with both kernels."""
    return [
        case
        for case in cases(evidence.dataset("queries"))
        if case in wanted
        and case_of(evidence.dataset("queries"), case, GAUSSIAN).sizes["cell"]
    ]

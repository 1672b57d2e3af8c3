"""The controls of Theorem 2: starts from which both kernels succeed, or neither."""

import numpy as np
import xarray as xr

from piste.claims import (
    SIGNIFICANCE_LEVEL,
    Claim,
    Condition,
    Verdict,
    compare,
    compare_pairs,
    undecided,
)
from piste.reproduction import Evidence

from .cells import enough_seeds, missing_records, share_of
from .query_cells import (
    CONTROLS,
    GAUSSIAN,
    NEEDED,
    SOFTMAX,
    Case,
    case_of,
    conditions,
    every_run,
    known,
    name_of,
    path_numbers,
    present,
    successes,
)
from .real_presets import KERNELS
from .thresholds import CONTROL_LEVEL, NEAR_ALL, NEAR_NONE, ZERO_LOSS

SCALE_1: Case = (4, False, 1.0)
"""The control from which both kernels succeed."""
SCALE_2: Case = (4, False, 2.0)
"""The control in which the kernels are compared seed by seed."""


def _controls(evidence: Evidence) -> list[Verdict]:
    predicted = "both kernels succeed without saturation, and neither at scale 4"
    if lacking := missing_records(evidence.dataset("queries"), NEEDED, predicted):
        return lacking
    data, here = evidence.dataset("queries"), present(evidence, CONTROLS)
    if not here:
        return [undecided("controls", predicted, "the study has none")]
    found = []
    for case in here:
        if case == SCALE_2:
            found.append(_first_to_fail(case, data, SIGNIFICANCE_LEVEL))
            continue
        few = case[2] > SCALE_2[2]
        found += [_rate(case, data, kernel, few) for kernel in (SOFTMAX, GAUSSIAN)]
    return found


def _rate(case: Case, data: xr.Dataset, kernel: int, few: bool) -> Verdict:
    """How often one kernel succeeds; a run without a number is neither yes nor no."""
    part, limit = case_of(data, case, kernel), NEAR_NONE if few else NEAR_ALL
    word = "at most" if few else "at least"
    return compare(
        f"{KERNELS[kernel]}, {name_of(case)}",
        _success(part),
        most=limit if few else None,
        least=None if few else limit,
        predicted=f"{word} {limit:g} of the seeds reach f_T/f₀ < {ZERO_LOSS:g}",
        bounded=True,
        needs=(enough_seeds(part), *((_long_enough(data, kernel),) if few else ())),
        conditions=conditions(part),
        numbers=path_numbers(part),
    )


def _success(part: xr.Dataset) -> float:
    return share_of(successes(part), known(part))


def _long_enough(data: xr.Dataset, kernel: int) -> Condition:
    """In a run that is too short nothing succeeds: from scale 1 the kernel must."""
    won = _success(case_of(data, SCALE_1, kernel))
    name = f"enough steps from {name_of(SCALE_1)}"
    return Condition(name, won >= NEAR_ALL, f"{won:.2g} succeed")


def _many(evidence: Evidence) -> list[Verdict]:
    data, predicted = evidence.dataset("control-100"), "softmax succeeds more often"
    if lacking := missing_records(data, NEEDED, predicted):
        return lacking
    sizes = [every_run(data, SCALE_2, k).sizes["cell"] for k in (SOFTMAX, GAUSSIAN)]
    if not all(sizes):
        return [undecided(name_of(SCALE_2), predicted, "no runs of both kernels")]
    return [_first_to_fail(SCALE_2, data, CONTROL_LEVEL)]


def _first_to_fail(case: Case, data: xr.Dataset, level: float) -> Verdict:
    """A sign test over the seeds on which one kernel succeeds alone."""
    softmax, gaussian = (_by_seed(case_of(data, case, k)) for k in (SOFTMAX, GAUSSIAN))
    seeds = sorted(set(softmax) | set(gaussian))
    return compare_pairs(
        f"both, {name_of(case)}, {len(seeds)} seeds",
        [gaussian.get(seed, np.nan) for seed in seeds],
        [softmax.get(seed, np.nan) for seed in seeds],
        predicted="success of the Gaussian kernel lower than that of softmax, by seed",
        side="lower",
        level=level,
        conditions=conditions(case_of(data, case, GAUSSIAN)),
        numbers={
            "softmax succeeds": float(np.nansum(list(softmax.values()))),
            "gaussian succeeds": float(np.nansum(list(gaussian.values()))),
        },
    )


def _by_seed(part: xr.Dataset) -> dict[int, float]:
    """1 for a seed that succeeds, 0 for one that does not, NaN where nobody knows."""
    won = np.where(known(part), successes(part).astype(float), np.nan)
    return dict(zip(part.seed.values.tolist(), won.tolist(), strict=True))


CLAIMS = (
    Claim(
        "Controls",
        "Without saturation both kernels succeed; from independent Q and K of scale 2 the "
        "Gaussian kernel fails first, and of scale 4 both do.",
        _controls,
        ("queries",),
        "success",
        "At scale 2 the kernels are compared on the same seeds; twenty of them are few.",
    ),
    Claim(
        "Large independent Q and K harm the Gaussian kernel first",
        "From independent Q and K of scale 2 the Gaussian kernel succeeds less often than "
        "softmax.",
        _many,
        ("control-100",),
        "success",
        "Seeds that no other study has. So the pair of Theorem 2 is about its start.",
    ),
)

"""Controls of Theorem 2: starts from which both kernels succeed, or neither does."""

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

from ...presets import COMPARED_KERNELS
from ...thresholds import CONTROL_SIGNIFICANCE, NEARLY_ALL, NEARLY_NONE, ZERO_LOSS
from ..cells import enough_seeds, missing_data_verdicts, share_of
from .cases import (
    CONTROLS,
    GAUSSIAN,
    NEEDED,
    RANDOM_SCALE_1,
    RANDOM_SCALE_2,
    SOFTMAX,
    Case,
    better_runs_of,
    conditions,
    is_known,
    is_success,
    paired_cases,
    path_numbers,
    runs_of,
)


def _judge_controls(evidence: Evidence) -> list[Verdict]:
    predicted = "both kernels succeed without saturation, and neither at scale 4"
    data = evidence.dataset("queries")
    if missing := missing_data_verdicts(data, NEEDED, predicted):
        return missing
    cases = paired_cases(data, CONTROLS)
    if not cases:
        return [undecided("controls", predicted, "the study has none")]
    return [verdict for case in cases for verdict in _judge_case(case, data)]


def _judge_case(case: Case, data: xr.Dataset) -> list[Verdict]:
    if case == RANDOM_SCALE_2:
        return [_first_to_fail(case, data, SIGNIFICANCE_LEVEL)]
    judge = _fails if case.key_scale > RANDOM_SCALE_2.key_scale else _succeeds
    return [judge(case, data, kernel) for kernel in COMPARED_KERNELS]


def _succeeds(case: Case, data: xr.Dataset, kernel: str) -> Verdict:
    """Judge that one kernel succeeds from nearly all seeds."""
    runs = better_runs_of(data, case, kernel)
    return compare(
        f"{kernel}, {case.words}",
        _success_share(runs),
        minimum=NEARLY_ALL,
        predicted=f"at least {NEARLY_ALL:g} of the seeds reach f_T/f₀ < {ZERO_LOSS:g}",
        bounded=True,
        needs=(enough_seeds(runs),),
        conditions=conditions(runs),
        numbers=path_numbers(runs),
    )


def _fails(case: Case, data: xr.Dataset, kernel: str) -> Verdict:
    """Judge that one kernel succeeds from nearly no seed."""
    runs = better_runs_of(data, case, kernel)
    return compare(
        f"{kernel}, {case.words}",
        _success_share(runs),
        maximum=NEARLY_NONE,
        predicted=f"at most {NEARLY_NONE:g} of the seeds reach f_T/f₀ < {ZERO_LOSS:g}",
        bounded=True,
        needs=(enough_seeds(runs), _long_enough(data, kernel)),
        conditions=conditions(runs),
        numbers=path_numbers(runs),
    )


def _success_share(runs: xr.Dataset) -> float:
    """Share of seeds that succeed; NaN if a run without a number is among them."""
    return share_of(is_success(runs), is_known(runs))


def _long_enough(data: xr.Dataset, kernel: str) -> Condition:
    """In a run that is too short nothing succeeds: from scale 1 the kernel must."""
    share = _success_share(better_runs_of(data, RANDOM_SCALE_1, kernel))
    name = f"enough steps from {RANDOM_SCALE_1.words}"
    return Condition(
        name, share >= NEARLY_ALL, f"{share:.2g} succeed", share, NEARLY_ALL
    )


def _judge_scale_2(evidence: Evidence) -> list[Verdict]:
    data, predicted = evidence.dataset("control-100"), "softmax succeeds more often"
    if missing := missing_data_verdicts(data, NEEDED, predicted):
        return missing
    case = RANDOM_SCALE_2
    if not all(runs_of(data, case, k).sizes["cell"] for k in COMPARED_KERNELS):
        return [undecided(case.words, predicted, "no runs of both kernels")]
    return [_first_to_fail(case, data, CONTROL_SIGNIFICANCE)]


def _first_to_fail(case: Case, data: xr.Dataset, level: float) -> Verdict:
    """Judge by a sign test over the seeds on which only one kernel succeeds."""
    runs = {kernel: better_runs_of(data, case, kernel) for kernel in COMPARED_KERNELS}
    softmax, gaussian = (_success_by_seed(runs[k]) for k in (SOFTMAX, GAUSSIAN))
    seeds = sorted(set(softmax) | set(gaussian))
    return compare_pairs(
        f"both, {case.words}, {len(seeds)} seeds",
        [gaussian.get(seed, np.nan) for seed in seeds],
        [softmax.get(seed, np.nan) for seed in seeds],
        predicted="success of the Gaussian kernel lower than that of softmax, by seed",
        side="lower",
        level=level,
        conditions=conditions(runs[GAUSSIAN]),
        numbers={
            "softmax succeeds": float(np.nansum(list(softmax.values()))),
            "gaussian succeeds": float(np.nansum(list(gaussian.values()))),
        },
    )


def _success_by_seed(runs: xr.Dataset) -> dict[int, float]:
    """1 for a seed that succeeds, 0 for one that does not, NaN where it is not known."""
    flags = np.where(is_known(runs), is_success(runs).astype(float), np.nan)
    return dict(zip(runs.seed.values.tolist(), flags.tolist(), strict=True))


CLAIMS = (
    Claim(
        "Controls",
        "Without saturation both kernels succeed; from independent Q and K of scale 2 the "
        "Gaussian kernel fails first, and of scale 4 both do.",
        _judge_controls,
        needs=("queries",),
        figure="success",
        remark=(
            "At scale 2 the kernels are compared on the same seeds; twenty of them "
            "are few."
        ),
    ),
    Claim(
        "Large independent Q and K harm the Gaussian kernel first",
        "From independent Q and K of scale 2 the Gaussian kernel succeeds less often than "
        "softmax.",
        _judge_scale_2,
        needs=("control-100",),
        figure="success",
        remark=(
            "Seeds that no other study has. So the pair of Theorem 2 is about its "
            "start."
        ),
    ),
)

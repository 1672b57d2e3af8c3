"""Judging the claims of the signgd paper on runs, and on copies of them that are spoilt."""

from collections.abc import Callable, Iterable, Sequence

import numpy as np
import xarray as xr

from piste.claims import Boundary, Claim, Judgement, Status, Verdict, judge
from piste.papers.signgd.claims import CLAIMS
from piste.papers.signgd.results.persistence import VariantSummary
from piste.papers.signgd.stages import STAGE_ENDS
from piste.reproduction import Evidence
from support.evidence import evidence_of

ONE_RUN = [claim for claim in CLAIMS if claim.needs == ("stages",)]
"""The claims that are judged on each run by itself."""


def judge_runs(*runs: xr.Dataset) -> dict[str, Judgement]:
    """All claims on single runs, by name."""
    judgements = judge(ONE_RUN, evidence_of({"stages": list(runs)}))
    return {judgement.claim.name: judgement for judgement in judgements}


def judge_one(run: xr.Dataset, name: str) -> Judgement:
    """One claim on one run."""
    claims = [claim for claim in ONE_RUN if claim.name == name]
    return judge(claims, evidence_of({"stages": [run]}))[0]


def verdicts_of(
    claims: Iterable[Claim], name: str, evidence: Evidence | dict
) -> Sequence[Verdict]:
    """What a claim says of some evidence."""
    (claim,) = (claim for claim in claims if claim.name == name)
    made = evidence if isinstance(evidence, Evidence) else evidence_of(evidence)
    return claim.judge(made)


def spoilt(
    run: xr.Dataset,
    probes: Iterable[str],
    change: Callable[[xr.DataArray], xr.DataArray],
) -> xr.Dataset:
    """A run with some of its probes changed."""
    return run.assign(
        {name: change(run[name]).assign_attrs(run[name].attrs) for name in probes}
    )


def _nan_at_the_end(series: xr.DataArray) -> xr.DataArray:
    values = series.values.copy()
    values[-1] = np.nan
    return series.copy(data=values)


SPOILS = {
    "all NaN": lambda s: s.copy(data=np.full(s.shape, np.nan)),
    "NaN at the end": _nan_at_the_end,
    "zero": lambda s: s.copy(data=np.zeros(s.shape)),
    "frozen at the start": lambda s: s.copy(
        data=np.broadcast_to(s.values[:1], s.shape)
    ),
    "backwards": lambda s: s.copy(data=s.values[::-1]),
    "negative": lambda s: -s,
}
"""Ways to spoil a series."""


def snr_sweep(errors: dict[float, float], train: float = 0.001) -> xr.Dataset:
    """Three seeds for each SNR, with these test errors, more or less."""
    snrs, seeds = np.repeat(list(errors), 3), np.tile(range(3), len(errors))
    values = np.repeat(list(errors.values()), 3) + 1e-3 * snrs * (seeds - 1) ** 2
    coords = {"snr": ("cell", snrs), "seed": ("cell", seeds)}
    coords |= {"test_step": [0, 1000], "step": [0, 1000]}
    ends = np.stack([np.full_like(values, 0.5), values], 1)
    loss = np.stack([np.full_like(values, 0.7), np.full_like(values, train)], 1)
    arrays = {
        "test_error": (("cell", "test_step"), ends),
        "test_loss": (("cell", "test_step"), ends),
        "train_loss": (("cell", "step"), loss),
    }
    return xr.Dataset(arrays, coords)


def snr_evidence() -> Evidence:
    """Three rules on signal and noise, with errors whose comparison is known."""
    return evidence_of(
        {
            "snr-signgd": snr_sweep({0.1: 0.45, 1.0: 0.2, 4.0: 0.01}),
            "snr-adam": snr_sweep({0.1: 0.47, 1.0: 0.4, 4.0: 0.02}),
            "snr-gd": snr_sweep({0.1: 0.4, 1.0: 0.0, 4.0: 0.02}),
        }
    )


def variant(status: Status) -> VariantSummary:
    """A variant with one seed, in which the last boundary has this status."""
    boundaries = {
        name: [Boundary(name, "", Status.FOUND, "", 5)] for name in STAGE_ENDS
    }
    last = {"IVc ends": [Boundary("IVc ends", "", status, "")]}
    return VariantSummary("variant", boundaries | last, 0.1)

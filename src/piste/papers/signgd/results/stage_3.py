"""Stage III: majority voting fixes the signs of query and key signals."""

import numpy as np
import xarray as xr

from piste.claims import Claim, Timeline, Verdict, compare

from ..thresholds import MAX_GROWTH_RATIO, MIN_VOTING_SHARE
from ._conditions import are_found
from ._near_start import NOISES
from ._per_seed import each_seed, of_seed
from ._series import growth_rate, record_at, records_between


def _judge_voting(run: xr.Dataset, timeline: Timeline) -> list[Verdict]:
    """Items 1 and 2: both directions of the vote, and that the signs are opposite."""
    vote = record_at(run, timeline, "II")
    query = np.sign(run.query_signal.isel(step=-1))
    key = np.sign(run.key_signal.isel(step=-1))
    vote_of_keys = np.sign(vote.key_noise.sum("sample"))
    vote_of_queries = np.sign(vote.query_noise.sum("sample"))
    agreements = {
        "Σ_i⟨w_K,s, y_iξ_i⟩ decides the sign of ⟨w_Q,s, μ⟩": vote_of_keys * query > 0,
        "Σ_i⟨w_Q,s, y_iξ_i⟩ decides −⟨w_K,s, μ⟩": vote_of_queries * key < 0,
        "⟨w_K,s, μ⟩ has the opposite sign of ⟨w_Q,s, μ⟩": query * key < 0,
    }
    return [
        compare(
            **of_seed(run, statement),
            measured=float(agreement.mean()),
            minimum=MIN_VOTING_SHARE,
            bounded=True,
            predicted=f"for a share ≥ {MIN_VOTING_SHARE} of the neurons (vote at the "
            "end of II, signals at the last step)",
            needs=[are_found(timeline, "II", "III")],
        )
        for statement, agreement in agreements.items()
    ]


def _judge_growth(run: xr.Dataset, timeline: Timeline) -> list[Verdict]:
    """Item 3: the other quantities grow as in stage II."""
    before = records_between(run, timeline, "I", "II")
    during = records_between(run, timeline, "II", "III")
    verdicts = []
    for probe, quantity in (NOISES | {"value_noise": "value noise"}).items():
        rates = growth_rate(before, probe), growth_rate(during, probe)
        log_ratio = np.log(rates[1] / rates[0]) if min(rates) > 0 else np.nan
        verdict = compare(
            **of_seed(run, quantity),
            measured=float(np.exp(abs(log_ratio))),
            maximum=MAX_GROWTH_RATIO,
            predicted=f"the mean size grows in III as in II, within a factor "
            f"{MAX_GROWTH_RATIO}",
            needs=[are_found(timeline, "I", "II", "III")],
            numbers={"rate in II": rates[0], "rate in III": rates[1]},
        )
        verdicts.append(verdict)
    return verdicts


CLAIMS = (
    Claim(
        "III: majority voting",
        "The key noise of a neuron votes for the sign of its query signal, its query noise "
        "for the opposite sign of its key signal.",
        each_seed(_judge_voting),
        needs=("stages",),
        figure="query_key",
    ),
    Claim(
        "III: other quantities go on as before",
        "The dynamics of the other quantities are unchanged in stage III.",
        each_seed(_judge_growth),
        needs=("stages",),
        figure="query_key",
    ),
)

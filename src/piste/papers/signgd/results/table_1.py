"""Table 1: how the signs of query and key noise move between t = 0 and t = 10."""

import numpy as np
import pandas as pd
import xarray as xr
from scipy.stats import fisher_exact

from piste.claims import Claim, Condition, Timeline, Verdict, compare, spread, undecided
from piste.errors import InputError
from piste.reproduction import Evidence, Table

from .. import slides
from ..slides import SIGN_GROUPS
from ..thresholds import (
    MIN_INDEPENDENCE_P,
    MIN_SIGNS_KEPT,
    MIN_TABLE_ALIGNED,
    TABLE_1_STEP,
)
from ._per_seed import each_seed, of_seed

# --- the measurement ------------------------------------------------------------------


def count_signs(
    trajectory: xr.Dataset, step: int = TABLE_1_STEP, start: int = 0
) -> pd.DataFrame:
    r"""Count pairs $(s, i)$ by the signs of key and query noise at two steps.

    The entry at row ``K+,Q-`` and column ``K-,Q-`` is
    $|S_{K+,Q-}^{(start)} \cap S_{K-,Q-}^{(step)}|$.
    """
    first, later = _sign_groups(trajectory, start), _sign_groups(trajectory, step)
    counts = [
        [int(((first == row) & (later == column)).sum()) for column in SIGN_GROUPS]
        for row in SIGN_GROUPS
    ]
    return pd.DataFrame(counts, index=list(SIGN_GROUPS), columns=list(SIGN_GROUPS))


def _sign_groups(trajectory: xr.Dataset, step: int) -> np.ndarray:
    """The group of every pair at one step, by its name in the table."""
    if step not in trajectory.step.values:
        todo = f"record every step up to it (record.dense ≥ {step})"
        raise InputError(f"signs: the run has no record at step {step}; {todo}")
    record = trajectory[["key_noise", "query_noise"]].sel(step=step)
    key, query = record.key_noise.values, record.query_noise.values
    if not (np.isfinite(key).all() and np.isfinite(query).all()):
        expected = "must be, to have signs"
        raise InputError(f"signs: some noise at step {step} is not finite; {expected}")
    if not (key.all() and query.all()):
        expected = "must not be, as 0 has no sign"
        raise InputError(f"signs: some noise at step {step} is 0; {expected}")
    keys, queries = np.where(key > 0, "K+,", "K-,"), np.where(query > 0, "Q+", "Q-")
    return np.char.add(keys, queries)


def count_misaligned(counts: pd.DataFrame) -> int:
    """Pairs whose query and key noise differ in sign at the later step."""
    return int(counts[["K+,Q-", "K-,Q+"]].to_numpy().sum())


def aligned_share(counts: pd.DataFrame) -> float:
    """Share of the pairs whose query and key noise have one sign at the later step."""
    return 1 - count_misaligned(counts) / int(counts.to_numpy().sum())


def kept_share(counts: pd.DataFrame) -> float:
    """Share of the pairs of one sign at first that keep that sign."""
    same = counts.loc[["K+,Q+", "K-,Q-"]]
    stayed = same.loc["K+,Q+", "K+,Q+"] + same.loc["K-,Q-", "K-,Q-"]
    return float(stayed / same.to_numpy().sum())


def independence_p(counts: pd.DataFrame) -> float:
    """How likely the signs at first are if independent: Fisher's exact test, two-sided."""
    first = counts.sum(axis=1)
    crossed = [[first["K+,Q+"], first["K+,Q-"]], [first["K-,Q+"], first["K-,Q-"]]]
    return float(np.asarray(fisher_exact(crossed))[1])


def all_signs_known(run: xr.Dataset) -> Condition:
    """Every noise has a sign at both steps: else there is no table."""
    name = f"a sign of every noise at t = 0 and t = {TABLE_1_STEP}"
    if not np.isin([0, TABLE_1_STEP], run.step.values).all():
        return Condition(name, False, "there is no record at one of them")
    noise = _noise_at_both_steps(run)
    met = bool((np.isfinite(noise) & (noise != 0)).all())
    return Condition(name, met, "" if met else "some are 0 or not a finite number")


def _has_moved(run: xr.Dataset) -> Condition:
    """The signs could have changed: one that nothing moves is not kept."""
    noise = _noise_at_both_steps(run)
    met = bool((noise.isel(step=0) != noise.isel(step=1)).any())
    return Condition(f"noise that moves up to t = {TABLE_1_STEP}", met)


def _noise_at_both_steps(run: xr.Dataset) -> xr.DataArray:
    return run[["query_noise", "key_noise"]].sel(step=[0, TABLE_1_STEP]).to_array()


# --- claims ---------------------------------------------------------------------------


def _judge_table(run: xr.Dataset, timeline: Timeline) -> list[Verdict]:
    """Independent at first, aligned at t = 10, and agreeing pairs keep their sign."""
    known = all_signs_known(run)
    if not known.met:
        predicted = f"signs independent at t = 0, aligned at t = {TABLE_1_STEP}"
        why = f"nothing: {known.detail}"
        return [undecided(predicted=predicted, why=why, **of_seed(run))]
    counts = count_signs(run)
    return [
        compare(
            **of_seed(run, "independent at t = 0"),
            measured=independence_p(counts),
            minimum=MIN_INDEPENDENCE_P,
            bounded=True,
            predicted=f"signs of query and key noise independent: Fisher's exact test, "
            f"two-sided, p ≥ {MIN_INDEPENDENCE_P}",
        ),
        compare(
            **of_seed(run, f"aligned at t = {TABLE_1_STEP}"),
            measured=aligned_share(counts),
            minimum=MIN_TABLE_ALIGNED,
            bounded=True,
            predicted=f"query and key noise have one sign in a share ≥ "
            f"{MIN_TABLE_ALIGNED} of the pairs "
            f"(slides: {aligned_share(slides.TABLE_1):.3f})",
        ),
        compare(
            **of_seed(run, "signs kept"),
            measured=kept_share(counts),
            minimum=MIN_SIGNS_KEPT,
            bounded=True,
            predicted=f"of the pairs that agree at first a share ≥ {MIN_SIGNS_KEPT} "
            f"keep their sign (slides: {kept_share(slides.TABLE_1):.3f})",
            needs=[_has_moved(run)],
        ),
    ]


CLAIMS = (
    Claim(
        "Table 1: independent at first, then aligned",
        "The signs of query and key noise are independent at initialisation but aligned "
        "at t = 10.",
        each_seed(_judge_table),
        needs=("stages",),
        figure="snapshots",
        remark="A test that does not reject independence does not prove it.",
    ),
)


# --- tables ---------------------------------------------------------------------------


def counts_by_seed(evidence: Evidence) -> dict[int, pd.DataFrame]:
    """The counts by seed, of the runs that have a sign of every noise."""
    runs = (run for run in evidence.runs("stages") if all_signs_known(run).met)
    return {int(run.attrs["seed"]): count_signs(run) for run in runs}


def _first_seed(evidence: Evidence) -> pd.DataFrame | None:
    by_seed = evidence.once(counts_by_seed)
    return _with_sums(next(iter(by_seed.values()))) if by_seed else None


def _slides(evidence: Evidence) -> pd.DataFrame | None:
    return _with_sums(slides.TABLE_1) if evidence.once(counts_by_seed) else None


def _with_sums(counts: pd.DataFrame) -> pd.DataFrame:
    counts = counts.copy()
    counts["row sum"] = counts.sum(axis=1)
    counts.loc["column sum"] = counts.sum(axis=0)
    return counts.rename_axis("t = 0 \\ t = 10").reset_index()


def _all_seeds(evidence: Evidence) -> pd.DataFrame | None:
    by_seed = evidence.once(counts_by_seed)
    if not by_seed:
        return None
    measures = {
        "misaligned pairs": count_misaligned,
        "same-sign pairs kept": kept_share,
    }
    rows = []
    for quantity, measure in measures.items():
        seeds = spread(measure(counts) for counts in by_seed.values())
        row = {"quantity": quantity, "slides": measure(slides.TABLE_1)}
        rows.append(row | {"median": seeds["median"], "sd": seeds["sd"]})
    return pd.DataFrame(rows)


def _first_seed_caption(evidence: Evidence, rows: pd.DataFrame) -> str:
    return (
        "Table 1: pairs (s, i) by the signs of key and query noise, t = 0 (rows) to "
        f"t = 10 (columns); seed {next(iter(evidence.once(counts_by_seed)))}."
    )


def _all_seeds_caption(evidence: Evidence, rows: pd.DataFrame) -> str:
    seeds = len(evidence.once(counts_by_seed))
    return f"Table 1 in two numbers, over {seeds} seeds and in the slides."


_RUNS = ("stages",)

TABLES = (
    Table("signs", _first_seed_caption, _first_seed, _RUNS),
    Table("signs_slides", "Table 1 as the slides give it.", _slides, _RUNS),
    Table("signs_summary", _all_seeds_caption, _all_seeds, _RUNS),
)

r"""Table 1: how the signs of query and key noise move between two moments."""

import numpy as np
import pandas as pd
import xarray as xr

from piste.errors import InputError

GROUPS = ("K+,Q+", "K+,Q-", "K-,Q+", "K-,Q-")


def sign_contingency(
    trajectory: xr.Dataset, step: int = 10, start: int = 0
) -> pd.DataFrame:
    r"""Count pairs $(s, i)$ by the signs of key and query noise at two steps.

    The entry at row ``K+,Q-`` and column ``K-,Q-`` is
    $|S_{K+,Q-}^{(start)} \cap S_{K-,Q-}^{(step)}|$.
    """
    rows, columns = _group(trajectory, start), _group(trajectory, step)
    counts = np.zeros((4, 4), int)
    np.add.at(counts, (rows, columns), 1)
    return pd.DataFrame(counts, index=list(GROUPS), columns=list(GROUPS))


def _group(trajectory: xr.Dataset, step: int) -> np.ndarray:
    if step not in trajectory.step.values:
        raise InputError(f"signs: the run has no record at step {step}")
    now = trajectory[["key_noise", "query_noise"]].sel(step=step)
    key, query = now.key_noise.values, now.query_noise.values
    if not (np.isfinite(key).all() and np.isfinite(query).all()):
        raise InputError(f"signs: not all numbers at step {step} are finite")
    if not (key.all() and query.all()):
        raise InputError(f"signs: some numbers at step {step} are 0, which has no sign")
    return (2 * (key <= 0) + (query <= 0)).ravel()


def misaligned(table: pd.DataFrame) -> int:
    """Pairs whose query and key noise differ in sign at the later step."""
    return int(table[["K+,Q-", "K-,Q+"]].to_numpy().sum())


def kept(table: pd.DataFrame) -> float:
    """Share of the pairs of one sign at first that keep that sign."""
    same = table.loc[["K+,Q+", "K-,Q-"]]
    stayed = same.loc["K+,Q+", "K+,Q+"] + same.loc["K-,Q-", "K-,Q-"]
    return float(stayed / same.to_numpy().sum())

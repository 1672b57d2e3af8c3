"""What the kernel does to a landscape, and what its normalisation: paired by model.

A Gaussian kernel as it stands differs from softmax in two ways: in how a weight depends
on its query and key, and in that weights are not divided by their sum, so that attention
fades out where all keys are far away. Gaussian weights divided by their sum lie between:
from softmax to them only the kernel changes, from them to the plain Gaussian only the
normalisation.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import wilcoxon

from piste.claims import sign_test

from .tables import HEADLINE, OTHERS, by_model

EFFECTS = {
    "kernel": ("gaussian-rows", "softmax"),
    "normalisation": ("gaussian", "gaussian-rows"),
    "both": ("gaussian", "softmax"),
    "number of keys": ("gaussian-mean", "gaussian"),
}
"""What changes between two kernels: from the second of them to the first."""
ALL_WINDOWS = "all"
"""Differences averaged over the windows that both kernels of a model have."""


@dataclass(frozen=True)
class Effect:
    """A change from one kernel to another, and the name of what changes."""

    name: str
    changed: str
    reference: str


def effects_among(kernels: list[str]) -> list[Effect]:
    """List the effects that some kernels can show; the first is the reference of others.

    >>> [effect.name for effect in effects_among(["softmax", "gaussian", "linear"])]
    ['both', 'linear']
    """
    known = [
        Effect(name, *pair) for name, pair in EFFECTS.items() if {*pair} <= {*kernels}
    ]
    named = {name for effect in known for name in (effect.changed, effect.reference)}
    rest = [name for name in kernels[1:] if name not in named]
    return known + [Effect(name, name, kernels[0]) for name in rest]


def differences(
    table: pd.DataFrame, metric: str, effect: Effect, weights: str
) -> pd.DataFrame:
    """Differences that an effect makes, by model, with a column for each window.

    The last column, ``all``, is the mean over the windows in which the model has numbers
    with both kernels.
    """
    wide = by_model(table, metric).loc[weights]
    change = (wide[effect.changed] - wide[effect.reference]).unstack("window")
    change = change.reindex(columns=list(table.window.unique()))
    if change.shape[1] > 1:
        change[ALL_WINDOWS] = change.mean(axis=1)
    return change


def effects_table(table: pd.DataFrame) -> pd.DataFrame:
    """Make a row for each effect, metric, window and kind of weights.

    Planes of one model are not independent, so the tests are over models: each gives the
    median over its planes.
    """
    if table.empty:
        return pd.DataFrame()
    effects = effects_among(list(table.kernel.unique()))
    return pd.DataFrame(
        [
            row
            for weights in table.weights.unique()
            for effect in effects
            for metric in HEADLINE | OTHERS
            for row in _rows(table, metric, effect, weights)
        ]
    )


def _rows(table: pd.DataFrame, metric: str, effect: Effect, weights: str) -> list[dict]:
    wide = by_model(table, metric).loc[weights]
    changes = differences(table, metric, effect, weights)
    rows = []
    for window in changes:
        values = wide if window == ALL_WINDOWS else wide.loc[window]
        known = values[[effect.changed, effect.reference]].dropna()
        change = changes[window].to_numpy()
        tested = sign_test(change, np.zeros_like(change))
        rows.append(
            {
                "weights": weights,
                "effect": effect.name,
                "metric": (HEADLINE | OTHERS)[metric],
                "window": window,
                "kernel": effect.changed,
                "reference": effect.reference,
                "kernel median": float(known[effect.changed].median()),
                "reference median": float(known[effect.reference].median()),
                "median difference": tested.median_difference,
                "lower in models": f"{tested.lower} of {len(change)}",
                "without a number": tested.missing,
                "p (two-sided sign test)": tested.p_value(),
                "p (signed ranks)": signed_ranks(change),
            }
        )
    return rows


def signed_ranks(differences: np.ndarray) -> float:
    """Two-sided p of Wilcoxon's test; 1 where no difference is known or other than 0.

    >>> signed_ranks(np.array([-1.0, -2.0, -3.0, -4.0]))
    0.125
    """
    known = differences[np.isfinite(differences)]
    if not np.any(known):
        return 1.0
    found: Any = wilcoxon(known)
    return float(found.pvalue)

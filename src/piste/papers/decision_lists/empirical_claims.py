"""What training from small random weights shows: beyond the paper's theorems."""

import numpy as np
import pandas as pd
import xarray as xr

from piste.claims import Claim, Outcome, Verdict, compare, spread

from .presets import RULES
from .studies import SIZES, joint_name

TURNED = 0.8
"""Doubly centred cosine from which on V counts as turned to P."""


def first_perfect_steps(data: xr.Dataset) -> np.ndarray:
    """The first recorded perfect step of every run; not a number where there is none."""
    perfect = (data.margin > 0).values
    first = data.step.values[perfect.argmax(1)].astype(float)
    return np.where(perfect.any(1), first, np.nan)


def joint_table(evidence) -> pd.DataFrame:
    """Success and the last state, by size and rule."""
    rows = []
    for size in SIZES:
        for rule in RULES:
            data = evidence[joint_name(size, rule)]
            steps, last = first_perfect_steps(data), data.isel(step=-1)
            rows.append(
                {
                    "(L, n, M)": str(size),
                    "rule": rule,
                    "runs": data.sizes["cell"],
                    "perfect": int((~np.isnan(steps)).sum()),
                    "first perfect (median)": spread(steps)["median"],
                    "least margin at the end": float(last.margin.min()),
                    "attention on LD token": float(last.decider_attention.mean()),
                    "accuracy": float(last.accuracy.mean()),
                    "loss": float(last.train_loss.mean()),
                    "cosine of V and P": float(last.value_cosine_centred.mean()),
                }
            )
    return pd.DataFrame(rows)


def _joint(evidence) -> list[Verdict]:
    found = []
    for row in joint_table(evidence).to_dict("records"):
        found.append(
            compare(
                f"{row['(L, n, M)']} {row['rule']}",
                row["perfect"] / row["runs"],
                least=1.0,
                predicted="perfect in every run",
                numbers={
                    "runs": row["runs"],
                    "median step": row["first perfect (median)"],
                },
            )
        )
    return found


def _turns(evidence) -> list[Verdict]:
    data = evidence["value-alone"]
    last = data.value_cosine_centred.isel(step=-1).values
    plain = data.value_cosine.isel(step=-1).values
    return [
        compare(
            f"seed {seed}",
            float(last[seed]),
            least=TURNED,
            predicted=f"doubly centred cos(V, P) ≥ {TURNED} at the end",
            numbers={"plain cosine": float(plain[seed])},
        )
        for seed in range(len(last))
    ]


def _needed(evidence) -> list[Verdict]:
    best = evidence["value-alone"].accuracy.max("step").values
    return [
        Verdict(
            f"seed {seed}",
            Outcome.HOLDS if share < 1 else Outcome.VIOLATED,
            "some labels stay wrong under uniform attention",
            f"at best {share:.3f} right",
            float(1 - share),
        )
        for seed, share in enumerate(best)
    ]


CLAIMS = (
    Claim(
        "Uniform attention turns V to P",
        "With W = 0 held fixed, training V alone pushes it in the direction of P.",
        _turns,
        ("value-alone",),
        "values",
        "Doubly centred, because a constant added to a row or a column of V changes "
        "nothing that the model says about order; the threshold is ours.",
    ),
    Claim(
        "Attention is needed",
        "With uniform attention no V classifies all positions.",
        _needed,
        ("value-alone",),
        "values",
    ),
    Claim(
        "Small random weights suffice",
        "Training W and V together from small random weights reaches perfect "
        "classification: the paper leaves this open.",
        _joint,
        tuple(joint_name(size, rule) for size in SIZES for rule in RULES),
        "success",
    ),
)

"""What training from small random weights shows: beyond the paper's theorems."""

import dataclasses
from functools import cache

import jax
import numpy as np
import pandas as pd
import xarray as xr

from piste.claims import Claim, Condition, Verdict, compare, decide, spread, undecided
from piste.reproduction import Evidence
from piste.training import draw

from . import presets
from .presets import RULES
from .reading import seeds_of
from .studies import SIZES, joint_name
from .theory.all_sequences import best_without_attention

TURNED = 0.8
"""Doubly centred cosine from which on V counts as turned to P."""
ROUNDING = 1e-9
"""Relative error that a sum of probabilities may have."""
STALLED = 0.01
"""A run whose loss falls by less than this share in its second half has stopped."""


def first_perfect_steps(data: xr.Dataset) -> np.ndarray:
    """The first recorded perfect step of every run; not a number where there is none."""
    perfect = (data.margin > 0).values
    if not perfect.shape[1]:
        return np.full(perfect.shape[0], np.nan)
    first = data.step.values[perfect.argmax(1)].astype(float)
    return np.where(perfect.any(1), first, np.nan)


def joint_table(evidence: Evidence) -> pd.DataFrame:
    """Success and the last state, by size and rule."""
    rows = []
    for size in SIZES:
        for rule in RULES:
            data = evidence.dataset(joint_name(size, rule))
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


def _joint(evidence: Evidence) -> list[Verdict]:
    return [
        joint_verdict(f"{size} {rule}", evidence.dataset(joint_name(size, rule)))
        for size in SIZES
        for rule in RULES
    ]


def joint_verdict(instance: str, data: xr.Dataset) -> Verdict:
    """Whether every run became perfect; runs that were still learning do not count."""
    count, records = data.sizes["cell"], data.sizes["step"]
    if not count or records < 2:
        return undecided(instance, "perfect in every run", "nothing was recorded")
    margins, losses = (np.asarray(data[n], float) for n in ("margin", "train_loss"))
    reached = np.any(margins > 0, axis=1)
    bad = ~np.isfinite(np.where(reached[:, None], 0.0, margins)).all(1)
    early = margins[:, 0] > 0
    learning = ~reached & ~bad & ~_stalled(losses)
    steps, last = first_perfect_steps(data), int(data.step[-1])
    return decide(
        instance,
        bool(reached.all()),
        predicted=f"perfect in every run, at some step up to {last}",
        measured=f"{reached.sum()} of {count} runs",
        needs=(
            Condition("margins that are numbers", not bad.any(), f"{bad.sum()} not"),
            Condition(
                "wrong labels at the start", not early.any(), f"{early.sum()} not"
            ),
            Condition(
                "longer runs", not learning.any(), f"{learning.sum()} still learn"
            ),
        ),
        numbers={
            "runs": count,
            "median step": spread(steps)["median"],
            "perfect at the end": int((margins[:, -1] > 0).sum()),
        },
    )


def _stalled(losses: np.ndarray) -> np.ndarray:
    """Whether the loss of every run has stopped falling: the claim is then false."""
    middle = losses[:, losses.shape[1] // 2]
    return losses[:, -1] > (1 - STALLED) * middle


# --- V alone ------------------------------------------------------------------------------


def _trained(losses: np.ndarray) -> Condition:
    """That training did something: the loss fell."""
    known = losses.size > 1 and bool(np.isfinite(losses[[0, -1]]).all())
    fell = known and bool(losses[-1] < losses[0])
    words = f"loss {losses[0]:.3g} to {losses[-1]:.3g}" if known else "no losses"
    return Condition("a loss that fell", fell, words)


def _turns(evidence: Evidence) -> list[Verdict]:
    data = evidence.dataset("value-alone")
    return [
        _turn(f"seed {seed}", data.isel(cell=cell))
        for cell, seed in enumerate(seeds_of(data))
    ]


def _turn(instance: str, run: xr.Dataset) -> Verdict:
    predicted = f"doubly centred cos(V, P) from below {TURNED} to at least {TURNED}"
    cosine = np.asarray(run.value_cosine_centred, float)
    if cosine.size < 2:
        return undecided(instance, predicted, "nothing was recorded")
    low = bool(cosine[0] < TURNED)
    began = Condition(f"a start below {TURNED}", low, f"{cosine[0]:.3f}")
    return compare(
        instance,
        cosine[-1],
        least=TURNED,
        bounded=True,
        predicted=predicted,
        needs=(began, _trained(np.asarray(run.train_loss, float))),
        numbers={
            "at the start": float(cosine[0]),
            "plain cosine": float(run.value_cosine[-1]),
        },
    )


def _needed(evidence: Evidence) -> list[Verdict]:
    data = evidence.dataset("value-alone")
    return [
        _below(f"seed {seed}", data.isel(cell=cell), ceiling(seed))
        for cell, seed in enumerate(seeds_of(data))
    ]


@cache
def ceiling(seed: int) -> float:
    """The largest share of labels that any V gets right on the task of a seed."""
    experiment = dataclasses.replace(presets.value_alone(), seed=seed)
    with jax.enable_x64(True):
        return best_without_attention(draw(experiment).data)


def _below(instance: str, run: xr.Dataset, most: float) -> Verdict:
    """No V can do better than the ceiling, and training found none."""
    shares = np.asarray(run.accuracy, float)
    return compare(
        instance,
        shares,
        most=most * (1 + ROUNDING),
        bounded=True,
        predicted=f"at most {most:.4g} right with any V",
        needs=(
            _trained(np.asarray(run.train_loss, float)),
            Condition("a ceiling below 1", most < 1, f"{most:.4g}"),
        ),
        numbers={"most that any V gets right": most},
    )


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
        "A proof, and a check: with W = 0 all positions of a sequence get one label, so "
        "the most that any V gets right is the expected share of the most frequent label "
        "of a sequence.",
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

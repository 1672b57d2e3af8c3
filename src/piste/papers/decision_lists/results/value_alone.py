"""V alone under uniform attention: it turns to P, and cannot classify all positions."""

import dataclasses
from functools import cache

import numpy as np
import pandas as pd
import xarray as xr

from piste.claims import Claim, Condition, Verdict, compare, undecided
from piste.reproduction import Evidence, Table

from .. import presets
from ..theory import best_without_attention
from ..thresholds import MAX_SHARE_ROUNDING, MIN_VALUE_COSINE
from ._runs import experiment_size_text, instance_of

STUDY = "value-alone"
PROBES = ("train_loss", "accuracy", "value_cosine", "value_cosine_centred")
"""What is recorded of every run."""


def _runs(evidence: Evidence) -> list[tuple[int, xr.Dataset]]:
    """The runs of the sweep, with their seeds."""
    data = evidence.dataset(STUDY)
    seeds = np.atleast_1d(data["seed"].values)
    return [(int(seed), data.isel(cell=cell)) for cell, seed in enumerate(seeds)]


def _loss_fell(run: xr.Dataset) -> Condition:
    """What was not trained shows nothing."""
    losses = np.asarray(run.train_loss, float)
    known = losses.size > 1 and bool(np.isfinite(losses[[0, -1]]).all())
    fell = known and bool(losses[-1] < losses[0])
    detail = f"loss {losses[0]:.3g} to {losses[-1]:.3g}" if known else "no losses"
    return Condition("a loss that fell", fell, detail)


# --- V turns to P ---------------------------------------------------------------------


def _judge_turns(evidence: Evidence) -> list[Verdict]:
    return [turn_verdict(f"seed {seed}", run) for seed, run in _runs(evidence)]


def turn_verdict(instance: str, run: xr.Dataset) -> Verdict:
    """Judge whether V of one run turned to P."""
    minimum = MIN_VALUE_COSINE
    predicted = f"doubly centred cos(V, P) from below {minimum} to at least {minimum}"
    cosine = np.asarray(run.value_cosine_centred, float)
    if cosine.size < 2:
        return undecided(instance, predicted, "nothing was recorded")
    low = bool(cosine[0] < minimum)
    return compare(
        instance,
        cosine[-1],
        minimum=minimum,
        bounded=True,
        predicted=predicted,
        needs=(
            Condition(f"a start below {minimum}", low, f"{cosine[0]:.3f}"),
            _loss_fell(run),
        ),
        numbers={
            "at the start": float(cosine[0]),
            "plain cosine": float(run.value_cosine[-1]),
        },
    )


# --- attention is needed --------------------------------------------------------------


@cache
def ceiling(seed: int) -> float:
    """The largest share of labels that any V gets right on the task of a seed."""
    experiment = dataclasses.replace(presets.value_alone(), seed=seed)
    return best_without_attention(instance_of(experiment))


def _judge_ceilings(evidence: Evidence) -> list[Verdict]:
    return [
        ceiling_verdict(f"seed {seed}", run, ceiling(seed))
        for seed, run in _runs(evidence)
    ]


def ceiling_verdict(instance: str, run: xr.Dataset, maximum: float) -> Verdict:
    """Judge that no V does better than the ceiling, and that training found none."""
    return compare(
        instance,
        np.asarray(run.accuracy, float),
        maximum=maximum * (1 + MAX_SHARE_ROUNDING),
        bounded=True,
        predicted=f"at most {maximum:.4g} right with any V",
        needs=(
            _loss_fell(run),
            Condition("a ceiling below 1", maximum < 1, f"{maximum:.4g}"),
        ),
        numbers={"most that any V gets right": maximum},
    )


# --- the table ------------------------------------------------------------------------

_QUANTITIES = {
    "value_cosine": "cosine of V and P",
    "value_cosine_centred": "doubly centred",
    "accuracy": "accuracy",
    "train_loss": "loss",
}


def _table(evidence: Evidence) -> pd.DataFrame:
    last = evidence.dataset(STUDY).isel(step=-1)
    return pd.DataFrame(
        {
            "quantity": name,
            "mean": float(last[probe].mean()),
            "sd": float(last[probe].std()),
        }
        for probe, name in _QUANTITIES.items()
    )


CLAIMS = (
    Claim(
        "Uniform attention turns V to P",
        "With W = 0 held fixed, training V alone pushes it in the direction of P.",
        _judge_turns,
        needs=(STUDY,),
        figure="values",
        remark=(
            "Doubly centred, because a constant added to a row or a column of V changes "
            "nothing that the model says about order; the threshold is ours."
        ),
    ),
    Claim(
        "Attention is needed",
        "With uniform attention no V classifies all positions.",
        _judge_ceilings,
        needs=(STUDY,),
        figure="values",
        remark=(
            "A proof, and a check: with W = 0 all positions of a sequence get one "
            "label, so the most that any V gets right is the expected share of the "
            "most frequent label of a sequence."
        ),
    ),
)
TABLES = (
    Table(
        "value-alone",
        "V alone under uniform attention, "
        f"{experiment_size_text(presets.value_alone())}, at the last step.",
        _table,
        (STUDY,),
    ),
)

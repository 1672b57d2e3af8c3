"""The tables of the paper, next to what the slides state."""

import numpy as np
import pandas as pd

from piste.claims import (
    attention_at_vanishing,
    detect,
    kept,
    misaligned,
    sign_contingency,
    spread,
    summary,
)

from .attention_claims import signs_known
from .generalisation import RULES, images, over_seeds, synthetic
from .optimiser_claims import beta_table
from .persistence_claims import persistence_table
from .slides import TABLE_1, TIMES
from .studies import VARIANTS

ARITHMETIC = {
    "stages": "exact sign, float64",
    "autodiff-64": "autodiff, float64",
    "autodiff-32": "autodiff, float32",
}


def tables(evidence) -> dict[str, tuple[str, pd.DataFrame]]:
    """All tables for which the runs are there, with their captions, by name."""
    found = {}
    if "stages" in evidence:
        found |= _stages(evidence)
    if {"signgd", "adam"} <= set(evidence):
        found["betas"] = (
            "Median step from which each boundary's own condition is met for good, by "
            "rule (– where a seed does not meet it), and the slope of the log training "
            "loss over the second half.",
            beta_table(evidence),
        )
    if all(f"snr-{rule}" in evidence for rule in RULES):
        found["snr"] = (
            "Test error and loss at the last step by SNR.",
            over_seeds(synthetic(evidence)),
        )
    for data in ("mnist", "digits"):
        if all(f"{data}-{rule}" in evidence for rule in RULES):
            words = f"Noisy {data}, at training loss 0.01 or the last step, by SNR."
            found[data] = (words, over_seeds(images(evidence, data)))
    if set(VARIANTS) <= set(evidence):
        words = "Median step of each boundary, or what happened to it in the seeds."
        found["persistence"] = (words, persistence_table(evidence))
    return found


def _stages(evidence) -> dict[str, tuple[str, pd.DataFrame]]:
    runs = evidence["stages"]
    known = [run for run in runs if signs_known(run).met]
    found = {
        "stages": (
            f"Boundaries of the stages over {len(runs)} seeds, and the slides' times.",
            stage_table(evidence),
        ),
        "arithmetic": (
            "The end of the query alignment depends on the arithmetic.",
            arithmetic_table(evidence),
        ),
    }
    return found | (_signs(known) if known else {})


def _signs(runs) -> dict[str, tuple[str, pd.DataFrame]]:
    return {
        "signs": (
            "Table 1: pairs (s, i) by the signs of key and query noise, t = 0 (rows) to "
            f"t = 10 (columns); seed {runs[0].attrs['seed']}.",
            _with_sums(sign_contingency(runs[0])),
        ),
        "signs_slides": ("Table 1 as the slides give it.", _with_sums(TABLE_1)),
        "signs_summary": (
            f"Table 1 in two numbers, over {len(runs)} seeds and in the slides.",
            _signs_summary(runs),
        ),
    }


def stage_table(evidence) -> pd.DataFrame:
    """Each boundary: the slides' time, our median, sd and range."""
    runs = evidence["stages"]
    timelines = [detect(run) for run in runs]
    table = summary(timelines)
    table.insert(1, "slides", [TIMES.get(name, np.nan) for name in table.index])
    s11 = [attention_at_vanishing(r, t) for r, t in zip(runs, timelines, strict=True)]
    then = {
        "boundary": "s₁₁ then",
        "meaning": "attention s₁₁ when s₂₁ is o(1)",
        "slides": 0.5,
    } | spread(s11)
    return pd.DataFrame([*table.reset_index().to_dict("records"), then])


def arithmetic_table(evidence) -> pd.DataFrame:
    """When the query alignment ends, by the arithmetic of the training."""
    rows = []
    for study, words in ARITHMETIC.items():
        if study not in evidence:
            continue
        runs = evidence[study]
        steps = spread(detect(run).step("IVc ends") for run in runs)
        near_zero = [run.near_zero_gradients[-1].sel(layer="query") for run in runs]
        rows.append(
            {
                "arithmetic": words,
                "seeds": len(runs),
                "query aligned at (median)": steps["median"],
                "sd": steps["sd"],
                "aligned pairs at the end": np.mean([_aligned(run) for run in runs]),
                "query gradients near 0 at the end": float(np.mean(near_zero)),
            }
        )
    return pd.DataFrame(rows)


def _aligned(run) -> float:
    final = np.sign(run.query_signal.isel(step=-1))
    return float((np.sign(run.query_noise.isel(step=-1)) * final > 0).mean())


def _with_sums(table: pd.DataFrame) -> pd.DataFrame:
    table = table.copy()
    table["row sum"] = table.sum(axis=1)
    table.loc["column sum"] = table.sum(axis=0)
    return table.rename_axis("t = 0 \\ t = 10").reset_index()


def _signs_summary(runs) -> pd.DataFrame:
    tables_1 = [sign_contingency(run) for run in runs]
    rows = []
    for name, measure in (
        ("misaligned pairs", misaligned),
        ("same-sign pairs kept", kept),
    ):
        found = spread(measure(table) for table in tables_1)
        rows.append(
            {
                "quantity": name,
                "slides": measure(TABLE_1),
                "median": found["median"],
                "sd": found["sd"],
            }
        )
    return pd.DataFrame(rows)

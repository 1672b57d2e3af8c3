"""The tables of the paper, next to what the slides state."""

import numpy as np
import pandas as pd
import xarray as xr

from piste.claims import spread, summary
from piste.reproduction import Evidence, Table

from .attention_claims import signs_known
from .contingency import kept, misaligned, sign_contingency
from .generalisation import RULES, images, over_seeds, synthetic
from .optimiser_claims import beta_table
from .persistence_claims import persistence_table
from .slides import TABLE_1, TIMES
from .stages import attention_at_vanishing, detect
from .studies import VARIANTS

ARITHMETIC = {
    "stages": "exact sign, float64",
    "autodiff-64": "autodiff, float64",
    "autodiff-32": "autodiff, float32",
}


def stage_table(evidence: Evidence) -> pd.DataFrame:
    """Each boundary: the slides' time, our median, sd and range."""
    runs, timelines = evidence.runs("stages"), evidence.timelines("stages", detect)
    table = summary(timelines)
    table.insert(1, "slides", [TIMES.get(name, np.nan) for name in table.index])
    s11 = [attention_at_vanishing(r, t) for r, t in zip(runs, timelines, strict=True)]
    then = {
        "boundary": "s₁₁ then",
        "meaning": "attention s₁₁ when s₂₁ is o(1)",
        "slides": 0.5,
    } | spread(s11)
    return pd.DataFrame([*table.reset_index().to_dict("records"), then])


def arithmetic_table(evidence: Evidence) -> pd.DataFrame:
    """When the query alignment ends, by the arithmetic of the training."""
    rows = []
    for study, words in ARITHMETIC.items():
        if study not in evidence:
            continue
        runs, timelines = evidence.runs(study), evidence.timelines(study, detect)
        steps = spread(timeline.step("IVc ends") for timeline in timelines)
        near_zero = [_near_zero(run) for run in runs]
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


def _near_zero(run: xr.Dataset) -> np.ndarray:
    return run.near_zero_gradients[-1].sel(layer="query").values


def _aligned(run: xr.Dataset) -> float:
    final = np.sign(run.query_signal.isel(step=-1))
    return float((np.sign(run.query_noise.isel(step=-1)) * final > 0).mean())


# --- Table 1 --------------------------------------------------------------------------


def sign_tables(evidence: Evidence) -> dict[int, pd.DataFrame]:
    """Table 1 by seed, of the runs that have records at both its steps."""
    found = {}
    for run in evidence.runs("stages"):
        if signs_known(run).met:
            found[int(run.attrs["seed"])] = sign_contingency(run)
    return found


def _first_signs(evidence: Evidence) -> pd.DataFrame | None:
    known = evidence.once(sign_tables)
    return _with_sums(next(iter(known.values()))) if known else None


def _slides_signs(evidence: Evidence) -> pd.DataFrame | None:
    return _with_sums(TABLE_1) if evidence.once(sign_tables) else None


def _with_sums(table: pd.DataFrame) -> pd.DataFrame:
    table = table.copy()
    table["row sum"] = table.sum(axis=1)
    table.loc["column sum"] = table.sum(axis=0)
    return table.rename_axis("t = 0 \\ t = 10").reset_index()


def _signs_summary(evidence: Evidence) -> pd.DataFrame | None:
    known = evidence.once(sign_tables)
    if not known:
        return None
    measures = {"misaligned pairs": misaligned, "same-sign pairs kept": kept}
    rows = []
    for name, measure in measures.items():
        found = spread(measure(table) for table in known.values())
        numbers = {"median": found["median"], "sd": found["sd"]}
        rows.append({"quantity": name, "slides": measure(TABLE_1)} | numbers)
    return pd.DataFrame(rows)


# --- all tables -----------------------------------------------------------------------


def _stages_caption(evidence: Evidence, rows: pd.DataFrame) -> str:
    seeds = evidence.count("stages")
    return f"Boundaries of the stages over {seeds} seeds, and the slides' times."


def _signs_caption(evidence: Evidence, rows: pd.DataFrame) -> str:
    return (
        "Table 1: pairs (s, i) by the signs of key and query noise, t = 0 (rows) to "
        f"t = 10 (columns); seed {next(iter(evidence.once(sign_tables)))}."
    )


def _summary_caption(evidence: Evidence, rows: pd.DataFrame) -> str:
    seeds = len(evidence.once(sign_tables))
    return f"Table 1 in two numbers, over {seeds} seeds and in the slides."


def _snr(evidence: Evidence) -> pd.DataFrame:
    return over_seeds(synthetic(evidence))


def _on_images(data: str) -> Table:
    return Table(
        data,
        f"Noisy {data}, at training loss 0.01 or the last step, by SNR.",
        lambda evidence: over_seeds(images(evidence, data)),
        needs=tuple(f"{data}-{rule}" for rule in RULES),
    )


_BETAS = (
    "Median step from which each boundary's own condition is met for good, by "
    "rule (– where a seed does not meet it), and the slope of the log training "
    "loss over the second half."
)
_ARITHMETIC = "The end of the query alignment depends on the arithmetic."
_SLIDES = "Table 1 as the slides give it."
_AT_THE_END = "Test error and loss at the last step by SNR."
_PERSISTENCE = "Median step of each boundary, or what happened to it in the seeds."
_STAGES = ("stages",)

TABLES = (
    Table("stages", _stages_caption, stage_table, _STAGES),
    Table("arithmetic", _ARITHMETIC, arithmetic_table, _STAGES),
    Table("signs", _signs_caption, _first_signs, _STAGES),
    Table("signs_slides", _SLIDES, _slides_signs, _STAGES),
    Table("signs_summary", _summary_caption, _signs_summary, _STAGES),
    Table("betas", _BETAS, beta_table, ("signgd", "adam")),
    Table("snr", _AT_THE_END, _snr, tuple(f"snr-{rule}" for rule in RULES)),
    _on_images("mnist"),
    _on_images("digits"),
    Table("persistence", _PERSISTENCE, persistence_table, tuple(VARIANTS)),
)

"""Adam beside SignGD: the same at zero memory, its stages, and its slower loss.

All on dense noise at SNR ½.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd
import xarray as xr

from piste.claims import (
    Claim,
    Condition,
    Outcome,
    Verdict,
    compare,
    decide,
    differences,
    inequality,
)
from piste.reproduction import Evidence, Table

from ..stages import STAGE_ENDS
from ..thresholds import LONG_MEMORY, MAX_SLOPE_RATIO, MAX_SLOWER_RATIO
from ._conditions import UNDECIDED
from ._series import cell_timelines, fit_line

# --- the measurement ------------------------------------------------------------------


@dataclass(frozen=True)
class RuleSummary:
    """Some seeds of one rule: when each boundary is met, and how the loss falls."""

    name: str
    betas: tuple[float, float] | None
    """β₁ and β₂ of Adam; None for SignGD."""
    steps: dict[str, list[float]]
    """The step at which a boundary's own condition is met for good, by seed."""
    undecided: dict[str, int]
    """Seeds that do not tell: too short, or without numbers."""
    slopes: list[float]
    """Slope of the log training loss over the second half, by seed."""
    aligned: float
    """Share of the pairs whose query noise has the sign of the vote at the last step."""

    def median_step(self, boundary: str) -> float:
        """The median step of a boundary; not a number where a seed does not meet it."""
        steps = self.steps[boundary]
        return float(np.median(steps)) if not np.isnan(steps).any() else np.nan

    @property
    def slope(self) -> float:
        """The median slope."""
        return float(np.median(self.slopes))


def summarise_rules(evidence: Evidence) -> list[RuleSummary]:
    """Summarise SignGD first, then Adam for every (β₁, β₂) of the sweep."""
    rules = [summarise_rule("SignGD", None, evidence.dataset("signgd"))]
    for betas, cells in cells_by_betas(evidence.dataset("adam")):
        rules.append(summarise_rule(adam_name(betas), betas, cells))
    return rules


def adam_name(betas: tuple[float, float]) -> str:
    """What Adam with some (β₁, β₂) is called in verdicts, tables and figures."""
    return f"Adam ({betas[0]:g}, {betas[1]:g})"


def cells_by_betas(sweep: xr.Dataset) -> list[tuple[tuple[float, float], xr.Dataset]]:
    """The cells of each (β₁, β₂), in the order of the sweep."""
    pairs = list(zip(sweep.b1.values, sweep.b2.values, strict=True))
    cells = {pair: [] for pair in pairs}
    for index, pair in enumerate(pairs):
        cells[pair].append(index)
    return [(pair, sweep.isel(cell=indices)) for pair, indices in cells.items()]


def summarise_rule(
    name: str, betas: tuple[float, float] | None, cells: xr.Dataset
) -> RuleSummary:
    """Summarise some seeds of one rule."""
    timelines = cell_timelines(cells)
    vote = np.sign(cells.query_signal.isel(step=-1))
    aligned = np.sign(cells.query_noise.isel(step=-1)) * vote > 0
    return RuleSummary(
        name,
        betas,
        {end: [t.met(end) for t in timelines] for end in STAGE_ENDS},
        {
            end: sum(t.boundaries[end].status in UNDECIDED for t in timelines)
            for end in STAGE_ENDS
        },
        [_slope(cells.train_loss.isel(cell=i)) for i in range(cells.sizes["cell"])],
        float(aligned.mean()),
    )


def _slope(loss: xr.DataArray) -> float:
    """Slope of the log loss over the second half of the run; NaN if it reaches 0."""
    half = loss.sel(step=slice(int(loss.step[-1]) // 2, None))
    with np.errstate(divide="ignore"):
        return fit_line(half.step.values, np.log(half.values))["slope"]


# --- Adam without memory --------------------------------------------------------------


def _judge_identity(evidence: Evidence) -> list[Verdict]:
    signgd, adam = evidence.runs("adam-zero")
    probes = [str(name) for name in signgd.data_vars]
    gaps = [_differences(signgd, adam, probe) for probe in probes]
    return [
        compare(
            f"{int(signgd.step[-1]):,} steps, {len(probes)} probes",
            np.concatenate([gap.ravel() for gap in gaps]),
            maximum=0.0,
            predicted="β₁ = β₂ = ε = 0: no difference in any recorded number",
            runs=(signgd.attrs["name"], adam.attrs["name"]),
        )
    ]


def _differences(first: xr.Dataset, second: xr.Dataset, probe: str) -> np.ndarray:
    if probe not in second:
        return np.array([np.nan])
    return differences(first[probe], second[probe])


# --- the stages under Adam ------------------------------------------------------------


def _judge_stages(evidence: Evidence) -> list[Verdict]:
    """For each (β₁, β₂) and boundary: is it met where SignGD meets it."""
    signgd, *others = evidence.once(summarise_rules)
    return [judge_stage(signgd, rule, name) for rule in others for name in STAGE_ENDS]


def judge_stage(signgd: RuleSummary, rule: RuleSummary, boundary: str) -> Verdict:
    """Judge that a rule meets a boundary in all seeds, where SignGD does."""
    reference, step = signgd.median_step(boundary), rule.median_step(boundary)
    seeds = len(rule.steps[boundary])
    met = int(np.isfinite(rule.steps[boundary]).sum())
    measured = f"met in {met} of {seeds} seeds"
    if met == seeds and reference > 0:
        measured += f", t = {step:g}, ×{step / reference:.2f}"
    instance = f"{rule.name}, {boundary}"
    predicted = f"met in all seeds, as by SignGD (t = {reference:g})"
    if np.isnan(reference):
        why = f"{measured}; SignGD does not meet it in all seeds either"
        return Verdict(instance, Outcome.UNMET, predicted=predicted, measured=why)
    return decide(
        instance,
        met == seeds,
        predicted=predicted,
        measured=measured,
        needs=[_is_told(seeds - met, rule.undecided[boundary])],
    )


def _is_told(missing: int, undecided: int) -> Condition:
    """A seed that does not meet a boundary says so, and does not just end."""
    met = not missing or missing > undecided
    return Condition("runs that tell", met, f"{undecided} too short or without numbers")


# --- the loss under Adam --------------------------------------------------------------


def _judge_slopes(evidence: Evidence) -> list[Verdict]:
    signgd, *others = evidence.once(summarise_rules)
    verdicts = [
        _judge_slower(rule, signgd)
        for rule in others
        if rule.betas and rule.betas[1] >= LONG_MEMORY
    ]
    by_betas = {rule.betas: rule for rule in others}
    if {(0.0, 0.999), (0.9, 0.999)} <= set(by_betas):
        instance = "β₁ does not matter: β₁ = 0 against 0.9 at β₂ = 0.999"
        pair = by_betas[0.0, 0.999], by_betas[0.9, 0.999]
        verdicts.append(_judge_equal_slopes(instance, *pair))
    if (0.9, 0.9) in by_betas:
        instance = "β₂ does: (0.9, 0.9) is like SignGD"
        verdicts.append(_judge_equal_slopes(instance, by_betas[0.9, 0.9], signgd))
    return verdicts


def _judge_slower(rule: RuleSummary, signgd: RuleSummary) -> Verdict:
    return compare(
        f"{rule.name} against SignGD",
        rule.slope / signgd.slope,
        maximum=MAX_SLOWER_RATIO,
        predicted=f"the training loss falls at most {MAX_SLOWER_RATIO} times as fast as "
        "SignGD's",
        numbers={"slope": rule.slope, "SignGD's": signgd.slope},
        needs=[_falls(signgd), _falls(rule)],
    )


def _judge_equal_slopes(
    instance: str, first: RuleSummary, second: RuleSummary
) -> Verdict:
    ratio = first.slope / second.slope
    return compare(
        instance,
        max(ratio, 1 / ratio) if ratio > 0 else np.nan,
        maximum=MAX_SLOPE_RATIO,
        predicted=f"slopes of log loss alike within a factor {MAX_SLOPE_RATIO}",
        numbers={first.name: first.slope, second.name: second.slope},
        needs=[_falls(first), _falls(second)],
    )


def _falls(rule: RuleSummary) -> Condition:
    """The training loss of a rule falls: the ratio of other slopes means nothing."""
    name, slope = f"a training loss of {rule.name} that falls", rule.slope
    return inequality(name, slope, 0.0, slope < 0, f"slope {slope:.3g}")


CLAIMS = (
    Claim(
        "Adam(0, 0, 0) is SignGD",
        "SignGD is exactly Adam with β₁ = β₂ = ε = 0.",
        _judge_identity,
        needs=("adam-zero",),
        figure="identity",
    ),
    Claim(
        "Adam keeps the stages",
        "Adam's dynamics on synthetic data are similar to SignGD's, stage by stage.",
        _judge_stages,
        needs=("signgd", "adam"),
        figure="similarity",
        remark=(
            "One instance for each (β₁, β₂) and boundary, each by its own condition, "
            "whatever the order: on dense noise the vote may settle before the alignment "
            "is complete, under SignGD too."
        ),
    ),
    Claim(
        "Adam's loss falls more slowly: β₂",
        "Adam and SignGD differ in their training loss; the second moment's memory is why.",
        _judge_slopes,
        needs=("signgd", "adam"),
        figure="disparity",
    ),
)


def beta_table(evidence: Evidence) -> pd.DataFrame:
    """Tabulate the median step of each boundary by rule, and the slope of the loss."""
    return pd.DataFrame(
        {"rule": rule.name}
        | {name: rule.median_step(name) for name in STAGE_ENDS}
        | {
            "query pairs aligned at T": rule.aligned,
            "slope of log loss": rule.slope,
        }
        for rule in evidence.once(summarise_rules)
    )


TABLES = (
    Table(
        "betas",
        "Median step from which each boundary's own condition is met for good, by "
        "rule (– where a seed does not meet it), and the slope of the log training "
        "loss over the second half.",
        beta_table,
        ("signgd", "adam"),
    ),
)

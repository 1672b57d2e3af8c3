"""SignGD beside Adam and GD: how they train, as claims. All on dense noise at SNR ½."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
import xarray as xr

from piste.claims import (
    Claim,
    Condition,
    Outcome,
    Timeline,
    Verdict,
    compare,
    decide,
    differences,
    lasting,
    spread,
)
from piste.reproduction import Evidence

from .judging import UNTOLD, fit
from .stages import detect
from .thresholds import SAME_SLOPE, SLOWER, SOON

BOUNDARIES = ("I", "II", "III", "IVa is o(1)", "IVb ends", "IVc ends")


def cell_timelines(sweep: xr.Dataset) -> list[Timeline]:
    """The stages of every cell of a sweep, up to where it was recorded."""
    cells = (sweep.isel(cell=place) for place in range(sweep.sizes["cell"]))
    return [detect(cell.dropna("step", how="all")) for cell in cells]


@dataclass(frozen=True)
class Seeds:
    """Some seeds of one rule: when each boundary is met, and how the loss falls."""

    rule: str
    betas: tuple[float, float] | None
    met: dict[str, list[float]]
    """The step at which a boundary's own condition is met for good, by seed."""
    untold: dict[str, int]
    """Seeds that do not tell: too short, or without numbers."""
    slopes: list[float]
    """Slope of the log training loss over the second half, by seed."""
    aligned: float
    """Share of the pairs whose query noise has the sign of the vote at the last step."""

    def median(self, name: str) -> float:
        """The median step of a boundary; not a number where a seed does not meet it."""
        steps = self.met[name]
        return float(np.median(steps)) if not np.isnan(steps).any() else np.nan

    @property
    def slope(self) -> float:
        """The median slope."""
        return float(np.median(self.slopes))


def by_rule(evidence: Evidence) -> list[Seeds]:
    """SignGD first, then Adam for every (β₁, β₂) of the sweep."""
    found = [_seeds("SignGD", None, evidence.dataset("signgd"))]
    for pair, cells in betas(evidence.dataset("adam")):
        found.append(_seeds(f"Adam ({pair[0]:g}, {pair[1]:g})", pair, cells))
    return found


def betas(sweep: xr.Dataset) -> list[tuple[tuple[float, float], xr.Dataset]]:
    """The cells of each (β₁, β₂), in the order of the sweep."""
    pairs = list(zip(sweep.b1.values, sweep.b2.values, strict=True))
    distinct = list(dict.fromkeys(pairs))
    places = {pair: [i for i, p in enumerate(pairs) if p == pair] for pair in distinct}
    return [(pair, sweep.isel(cell=places[pair])) for pair in distinct]


def _seeds(rule: str, pair, cells: xr.Dataset) -> Seeds:
    timelines = cell_timelines(cells)
    query = np.sign(cells.query_signal.isel(step=-1))
    aligned = np.sign(cells.query_noise.isel(step=-1)) * query > 0
    return Seeds(
        rule,
        pair,
        {name: [t.met(name) for t in timelines] for name in BOUNDARIES},
        {
            name: sum(t.boundaries[name].status in UNTOLD for t in timelines)
            for name in BOUNDARIES
        },
        [_slope(cells.train_loss.isel(cell=i)) for i in range(cells.sizes["cell"])],
        float(aligned.mean()),
    )


def _slope(loss: xr.DataArray) -> float:
    """Slope of the log loss over the second half of the run; NaN if it reaches 0."""
    half = loss.sel(step=slice(int(loss.step[-1]) // 2, None))
    with np.errstate(divide="ignore"):
        return fit(half.step.values, np.log(half.values))["slope"]


def beta_table(evidence: Evidence) -> pd.DataFrame:
    """Median step of each boundary for SignGD and for each (β₁, β₂), and the slope."""
    return pd.DataFrame(
        {"rule": seeds.rule}
        | {name: seeds.median(name) for name in BOUNDARIES}
        | {
            "query pairs aligned at T": seeds.aligned,
            "slope of log loss": seeds.slope,
        }
        for seeds in evidence.once(by_rule)
    )


def _identical(evidence: Evidence) -> list[Verdict]:
    signgd, adam = evidence.runs("adam-zero")
    names = [str(name) for name in signgd.data_vars]
    gaps = [_difference(signgd, adam, name) for name in names]
    return [
        compare(
            f"{int(signgd.step[-1]):,} steps, {len(names)} probes",
            np.concatenate([gap.ravel() for gap in gaps]),
            most=0.0,
            predicted="β₁ = β₂ = ε = 0: no difference in any recorded number",
            runs=(signgd.attrs["name"], adam.attrs["name"]),
        )
    ]


def _difference(first: xr.Dataset, second: xr.Dataset, name: str) -> np.ndarray:
    if name not in second:
        return np.array([np.nan])
    return differences(first[name], second[name])


def _keeps_stages(evidence: Evidence) -> list[Verdict]:
    """One verdict for each (β₁, β₂) and boundary: is it met where SignGD's is."""
    signgd, *others = evidence.once(by_rule)
    return [_keeps(signgd, other, name) for other in others for name in BOUNDARIES]


def _keeps(signgd: Seeds, other: Seeds, name: str) -> Verdict:
    reference, steps = signgd.median(name), other.met[name]
    met = int(np.isfinite(steps).sum())
    step = other.median(name)
    words = f"met in {met} of {len(steps)} seeds"
    if met == len(steps) and reference > 0:
        words += f", t = {step:g}, ×{step / reference:.2f}"
    instance = f"{other.rule}, {name}"
    predicted = f"met in all seeds, as by SignGD (t = {reference:g})"
    if np.isnan(reference):
        why = f"{words}; SignGD does not meet it in all seeds either"
        return Verdict(instance, Outcome.UNMET, predicted, why)
    return decide(
        instance,
        met == len(steps),
        predicted=predicted,
        measured=words,
        needs=[_told(len(steps) - met, other.untold[name])],
    )


def _told(missing: int, untold: int) -> Condition:
    """Whether a seed that does not meet a boundary says so, and does not just end."""
    met = not missing or missing > untold
    return Condition("runs that tell", met, f"{untold} too short or without numbers")


def _disparity(evidence: Evidence) -> list[Verdict]:
    signgd, *others = evidence.once(by_rule)
    slopes = {seeds.betas: seeds for seeds in others}
    slow = [seeds for seeds in others if seeds.betas and seeds.betas[1] >= 0.99]
    verdicts = [
        compare(
            f"{seeds.rule} against SignGD",
            seeds.slope / signgd.slope,
            most=SLOWER,
            predicted=f"the training loss falls at most {SLOWER} times as fast as SignGD's",
            numbers={"slope": seeds.slope, "SignGD's": signgd.slope},
            needs=[_falls(signgd), _falls(seeds)],
        )
        for seeds in slow
    ]
    if {(0.0, 0.999), (0.9, 0.999)} <= set(slopes):
        pair = slopes[0.0, 0.999], slopes[0.9, 0.999]
        words = "β₁ does not matter: β₁ = 0 against 0.9 at β₂ = 0.999"
        verdicts.append(_alike(words, *pair))
    if (0.9, 0.9) in slopes:
        words = "β₂ does: (0.9, 0.9) is like SignGD"
        verdicts.append(_alike(words, slopes[0.9, 0.9], signgd))
    return verdicts


def _falls(seeds: Seeds) -> Condition:
    name = f"a training loss of {seeds.rule} that falls"
    return Condition(name, seeds.slope < 0, f"slope {seeds.slope:.3g}")


def _alike(instance: str, first: Seeds, second: Seeds) -> Verdict:
    ratio = first.slope / second.slope
    return compare(
        instance,
        max(ratio, 1 / ratio) if ratio > 0 else np.nan,
        most=SAME_SLOPE,
        predicted=f"slopes of log loss alike within a factor {SAME_SLOPE}",
        numbers={first.rule: first.slope, second.rule: second.slope},
        needs=[_falls(first), _falls(second)],
    )


def crossover(first: xr.DataArray, second: xr.DataArray) -> float:
    """The recorded step from which the first loss is below the second for good."""
    # A rule that has diverged is behind.
    below = lasting(first.values < np.nan_to_num(second.values, nan=np.inf))
    return float(first.step.values[np.argmax(below)]) if below.any() else np.nan


def _faster_than_gd(evidence: Evidence) -> list[Verdict]:
    signgd, gd = evidence.dataset("signgd"), evidence.dataset("gd")
    rates = dict.fromkeys(gd.learning_rate.values)
    return [
        _faster(
            signgd, gd.isel(cell=gd.learning_rate.values == rate), f"GD, rate {rate:g}"
        )
        for rate in rates
    ]


def _faster_than_normalised(evidence: Evidence) -> list[Verdict]:
    signgd, other = evidence.dataset("signgd"), evidence.dataset("normalised-gd")
    return [_faster(signgd, other, "normalised GD")]


def _faster(signgd: xr.Dataset, other: xr.Dataset, instance: str) -> Verdict:
    """Seed by seed on the same data; the median crossover decides."""
    limit = SOON * int(signgd.step[-1])
    pairs = [
        (signgd.train_loss.isel(cell=i), other.train_loss.isel(cell=i))
        for i in range(signgd.sizes["cell"])
    ]
    steps = spread(crossover(*pair) for pair in pairs)
    never = steps["runs"] - steps["reached"]
    ends = [float(sweep.train_loss.isel(step=-1).median()) for sweep in (signgd, other)]
    words = f"from t = {steps['median']:g} (median)"
    if never:
        words = f"never in {never} of {steps['runs']} seeds"
    return decide(
        f"against {instance}",
        not never and steps["median"] <= limit,
        predicted=f"SignGD's training loss is below for good from t ≤ {limit:g}",
        measured=words,
        margin=None if never else 1 - steps["median"] / limit,
        numbers={"SignGD's final loss": ends[0], "the other's final loss": ends[1]},
        needs=[_known("SignGD", signgd), _known(instance, other)],
    )


def _known(rule: str, sweep: xr.Dataset) -> Condition:
    """Whether a rule has a loss at every record, up to where it diverged if it did."""
    finite = np.isfinite(sweep.train_loss)
    if "diverged" in sweep.coords and rule != "SignGD":
        ended = (sweep.diverged >= 0) & (sweep.step >= sweep.diverged)
        finite = finite | ended
    return Condition(f"losses of {rule} that are numbers", bool(finite.all()))


CLAIMS = (
    Claim(
        "Adam(0, 0, 0) is SignGD",
        "SignGD is exactly Adam with β₁ = β₂ = ε = 0.",
        _identical,
        needs=("adam-zero",),
    ),
    Claim(
        "Adam keeps the stages",
        "Adam's dynamics on synthetic data are similar to SignGD's, stage by stage.",
        _keeps_stages,
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
        _disparity,
        needs=("signgd", "adam"),
        figure="disparity",
    ),
    Claim(
        "SignGD trains faster than GD",
        "At the same signal-to-noise ratio, SignGD trains faster than GD.",
        _faster_than_gd,
        needs=("signgd", "gd"),
        figure="rules",
        remark="It depends on GD's learning rate; each instance gives the crossover step.",
    ),
    Claim(
        "SignGD trains faster than normalised GD",
        "The same against normalised GD with SignGD's own step length (not in the paper).",
        _faster_than_normalised,
        needs=("signgd", "normalised-gd"),
        figure="rules",
    ),
)

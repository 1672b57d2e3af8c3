"""SignGD beside Adam and GD: how they train, as claims.

All on dense noise at SNR ½. Thresholds are readings of ours, fixed here and printed.
"""

import numpy as np
import pandas as pd
import xarray as xr

from piste.claims import Claim, Outcome, Verdict, compare, detect, lasting, spread

BOUNDARIES = ("I", "II", "III", "IVa is o(1)", "IVb ends", "IVc ends")
SOON = 0.1
"""Part of the run within which a rule that trains faster must lead, for good."""


def cell_timelines(sweep: xr.Dataset) -> list:
    """The stages of every cell of a sweep."""
    return [detect(sweep.isel(cell=place)) for place in range(sweep.sizes["cell"])]


def beta_table(evidence) -> pd.DataFrame:
    """Median step of each boundary for SignGD and for each (β₁, β₂), and the slope."""
    rows = [{"rule": "SignGD"} | _medians(evidence["signgd"])]
    for (b1, b2), cells in betas(evidence["adam"]):
        rows.append({"rule": f"Adam ({b1:g}, {b2:g})"} | _medians(cells))
    return pd.DataFrame(rows)


def betas(sweep: xr.Dataset) -> list[tuple[tuple[float, float], xr.Dataset]]:
    """The cells of each (β₁, β₂), in the order of the sweep."""
    pairs = list(zip(sweep.b1.values, sweep.b2.values, strict=True))
    distinct = list(dict.fromkeys(pairs))
    places = {pair: [i for i, p in enumerate(pairs) if p == pair] for pair in distinct}
    return [(pair, sweep.isel(cell=places[pair])) for pair in distinct]


def _medians(cells: xr.Dataset) -> dict:
    timelines = cell_timelines(cells)
    found = {name: spread(t.step(name) for t in timelines) for name in BOUNDARIES}
    steps = {
        name: part["median"] if part["reached"] == part["runs"] else np.nan
        for name, part in found.items()
    }
    query = np.sign(cells.query_signal.isel(step=-1))
    aligned = (np.sign(cells.query_noise.isel(step=-1)) == query).mean()
    return steps | {
        "query pairs aligned at T": float(aligned),
        "slope of log loss": float(
            np.median([_slope(cells, i) for i in range(len(cells.cell))])
        ),
    }


def _slope(cells: xr.Dataset, place: int) -> float:
    """Slope of the log loss over the second half of the run."""
    half = cells.train_loss.isel(cell=place)
    half = half.sel(step=slice(int(half.step[-1]) // 2, None))
    return float(np.polyfit(half.step.values, np.log(half.values), 1)[0])


def _identical(evidence) -> list[Verdict]:
    signgd, adam = evidence["adam-zero"]
    names = [name for name in signgd.data_vars if name in adam]
    difference = max(float(np.abs(signgd[n] - adam[n]).max()) for n in names)
    return [
        compare(
            f"{int(signgd.step[-1]):,} steps, all probes",
            difference,
            most=0.0,
            predicted="β₁ = β₂ = ε = 0: no difference in any recorded number",
            runs=(signgd.attrs["name"], adam.attrs["name"]),
        )
    ]


def _keeps_stages(evidence) -> list[Verdict]:
    """One verdict for each (β₁, β₂) and boundary: is it reached, and when."""
    signgd, *others = beta_table(evidence).to_dict("records")
    verdicts = []
    for row in others:
        rule = row["rule"]
        for name in BOUNDARIES:
            step, reference = float(row[name]), float(signgd[name])
            reached = not np.isnan(step)
            verdicts.append(
                Verdict(
                    f"{rule}, {name}",
                    Outcome.HOLDS if reached else Outcome.VIOLATED,
                    f"reached in all seeds (SignGD: t = {reference:g})",
                    f"t = {step:g}, ×{step / reference:.2f}"
                    if reached
                    else "not reached",
                )
            )
    return verdicts


def _disparity(evidence) -> list[Verdict]:
    rows = beta_table(evidence).to_dict("records")
    slopes = {str(row["rule"]): float(row["slope of log loss"]) for row in rows}
    reference = slopes["SignGD"]
    verdicts = [
        compare(
            f"{rule} against SignGD",
            slopes[rule] / reference,
            most=0.8,
            predicted="the training loss falls at most 0.8 times as fast as SignGD's",
        )
        for rule in slopes
        if "0.999" in rule or "0.99)" in rule
    ]
    alike = slopes["Adam (0, 0.999)"] / slopes["Adam (0.9, 0.999)"]
    verdicts.append(
        compare(
            "β₁ does not matter: β₁ = 0 against 0.9 at β₂ = 0.999",
            float(abs(np.log(alike))),
            most=float(np.log(1.25)),
            predicted="slopes alike within 25 %",
        )
    )
    verdicts.append(
        compare(
            "β₂ does: (0.9, 0.9) is like SignGD",
            float(abs(np.log(slopes["Adam (0.9, 0.9)"] / reference))),
            most=float(np.log(1.25)),
            predicted="slopes alike within 25 %",
        )
    )
    return verdicts


def crossover(first: xr.DataArray, second: xr.DataArray) -> float:
    """The recorded step from which the first loss is below the second for good."""
    # A rule that has diverged is behind.
    below = lasting(first.values < np.nan_to_num(second.values, nan=np.inf))
    return float(first.step.values[np.argmax(below)]) if below.any() else np.nan


def _faster_than_gd(evidence) -> list[Verdict]:
    signgd, gd = evidence["signgd"], evidence["gd"]
    rates = dict.fromkeys(gd.learning_rate.values)
    return [
        _faster(
            signgd, gd.isel(cell=gd.learning_rate.values == rate), f"GD, rate {rate:g}"
        )
        for rate in rates
    ]


def _faster_than_normalised(evidence) -> list[Verdict]:
    return [_faster(evidence["signgd"], evidence["normalised-gd"], "normalised GD")]


def _faster(signgd: xr.Dataset, other: xr.Dataset, instance: str) -> Verdict:
    """Seed by seed on the same data; the median crossover decides."""
    last = int(signgd.step[-1])
    steps = spread(
        crossover(signgd.train_loss.isel(cell=i), other.train_loss.isel(cell=i))
        for i in range(signgd.sizes["cell"])
    )
    never = steps["reached"] < steps["runs"]
    ends = {
        "SignGD's final loss": float(signgd.train_loss.isel(step=-1).median()),
        "the other's final loss": float(other.train_loss.isel(step=-1).median()),
    }
    limit = SOON * last
    return Verdict(
        f"against {instance}",
        Outcome.VIOLATED if never or steps["median"] > limit else Outcome.HOLDS,
        f"SignGD's training loss is below for good from t ≤ {limit:g}",
        "never" if never else f"from t = {steps['median']:g}",
        None if never else 1 - steps["median"] / limit,
        numbers=ends,
    )


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
            "One instance for each (β₁, β₂) and boundary. What is lost is the end of the "
            "query alignment."
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

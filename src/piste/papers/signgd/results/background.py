"""The slides' background: Adam beside SGD on a transformer and on a CNN.

Six rules over learning rates, with the whole training set and with mini-batches, for as
many steps each (study ``background``). The first seeds choose the rate of every rule, the
others compare the rules, on the same images and weights: a *gap* is the mean over those
seeds of log₁₀ of one rule's training loss at the last step over Adam's.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd
import xarray as xr

from piste.claims import (
    CONFIDENCE_PERCENT,
    Claim,
    Condition,
    Verdict,
    compare_range,
    mean_interval,
)
from piste.reproduction import Evidence, Table

from ..study_names import BACKGROUND_BATCHES, BACKGROUND_MODELS, BACKGROUND_RULES
from ..thresholds import (
    MAX_ACCURACY_DIFFERENCE,
    MAX_COMPARABLE_RATIO,
    SMALLEST_LOSS,
    TUNING_SEEDS,
)
from ._generalisation import UNCLEAR_MEAN, size_range

SETTINGS = [
    (model, batch) for model in BACKGROUND_MODELS for batch in BACKGROUND_BATCHES
]
"""Model and images per step, in the order of claims and tables."""
COMPARABLE = float(np.log10(MAX_COMPARABLE_RATIO))

# --- the measurement ------------------------------------------------------------------


@dataclass(frozen=True)
class TunedRule:
    """One rule at its best rate on one model with one size of batch."""

    rate: float
    rates: tuple[float, ...]
    """The whole grid."""
    losses: np.ndarray
    """log₁₀ of the training loss at the last step, by seed; infinite where it diverged."""
    accuracies: np.ndarray
    """Test accuracy at the last step, by seed."""
    curves: xr.DataArray
    """Training loss over steps, by seed."""

    @property
    def is_inside(self) -> bool:
        """Whether the best rate is none of the ends of the grid."""
        return self.rate not in (self.rates[0], self.rates[-1])


def tune_rules(evidence: Evidence) -> dict[tuple[str, int, str], TunedRule]:
    """Choose the rate of every rule in every setting, by the seeds that are for it."""
    sweep = evidence.dataset("background").load()
    found = {}
    for model, batch in SETTINGS:
        for rule in BACKGROUND_RULES:
            chosen = (sweep.model == model) & (sweep.batch == batch)
            cells = sweep.isel(cell=(chosen & (sweep.rule == rule)).values)
            found[model, batch, rule] = tune(cells)
    return found


def tune(cells: xr.Dataset) -> TunedRule:
    """Choose the rate with the lowest mean log loss; compare by the other seeds."""
    rates = tuple(dict.fromkeys(cells.learning_rate.values.tolist()))
    tuning = np.isin(cells.seed.values, TUNING_SEEDS)
    final = log_losses(cells)

    def score(rate: float) -> float:
        return float(final[tuning & (cells.learning_rate.values == rate)].mean())

    rate = min(rates, key=score)
    kept = ~tuning & (cells.learning_rate.values == rate)
    # One order of the seeds for all rules: they are compared in pairs.
    order = np.flatnonzero(kept)[np.argsort(cells.seed.values[kept])]
    shown = cells.isel(cell=order)
    accuracies = shown.test_accuracy.isel(test_step=-1).values
    return TunedRule(rate, rates, final[order], accuracies, shown.train_loss)


def log_losses(cells: xr.Dataset) -> np.ndarray:
    """log₁₀ of the last training losses; infinite where one is not a number."""
    last = cells.train_loss.isel(step=-1).values.astype(float)
    last = np.where(np.isfinite(last), last, np.inf)
    return np.log10(np.maximum(last, SMALLEST_LOSS))


# --- claims ---------------------------------------------------------------------------

Tuned = dict[tuple[str, int, str], TunedRule]


def _gap(tuned: Tuned, model: str, batch: int, rule: str) -> np.ndarray:
    """log₁₀ of a rule's loss over Adam's, seed by seed."""
    return tuned[model, batch, rule].losses - tuned[model, batch, "adam"].losses


def _setting(model: str, batch: int, rule: str) -> str:
    names = BACKGROUND_MODELS[model], BACKGROUND_BATCHES[batch], BACKGROUND_RULES[rule]
    return ", ".join(names)


def _numbers(tuned: Tuned, model: str, batch: int, *rules: str) -> dict[str, float]:
    return {
        f"{word} of {BACKGROUND_RULES[rule]}": number
        for rule in rules
        for word, number in (
            ("rate", tuned[model, batch, rule].rate),
            ("loss", float(10 ** tuned[model, batch, rule].losses.mean())),
        )
    }


def _tuned_inside(tuned: Tuned, model: str, batch: int, *rules: str) -> Condition:
    """The best rates are inside their grids: a wider one would give no better."""
    outside = [
        f"{BACKGROUND_RULES[rule]} at {tuned[model, batch, rule].rate:g}"
        for rule in rules
        if not tuned[model, batch, rule].is_inside
    ]
    return Condition("best rates inside their grids", not outside, ", ".join(outside))


def _judge_transformer(evidence: Evidence) -> list[Verdict]:
    """Adam's loss is lower than that of SGD by more than the factor."""
    tuned, model = evidence.once(tune_rules), "patch-transformer"
    return [
        compare_range(
            _setting(model, batch, rule),
            *mean_interval(_gap(tuned, model, batch, rule)),
            minimum=COMPARABLE,
            predicted="log₁₀ of its training loss over Adam's is at least "
            f"{COMPARABLE:.2f} (a factor {MAX_COMPARABLE_RATIO:g})",
            numbers=_numbers(tuned, model, batch, rule, "adam"),
            unclear=UNCLEAR_MEAN,
            needs=[_tuned_inside(tuned, model, batch, rule, "adam")],
        )
        for batch in BACKGROUND_BATCHES
        for rule in ("gd", "momentum")
    ]


def _judge_cnn(evidence: Evidence) -> list[Verdict]:
    """SGD's loss and test accuracy are near Adam's."""
    tuned, model = evidence.once(tune_rules), "small-cnn"
    verdicts = []
    for batch in BACKGROUND_BATCHES:
        for rule in ("gd", "momentum"):
            verdicts.append(_judge_comparable(tuned, model, batch, rule))
            verdicts.append(_judge_accuracy(tuned, model, batch, rule))
    return verdicts


def _judge_comparable(tuned: Tuned, model: str, batch: int, rule: str) -> Verdict:
    """Judge that a rule's loss is at most Adam's times the factor: better is fine."""
    return compare_range(
        f"{_setting(model, batch, rule)}, training loss",
        *mean_interval(_gap(tuned, model, batch, rule)),
        maximum=COMPARABLE,
        predicted=f"log₁₀ of its training loss over Adam's is at most {COMPARABLE:.2f} "
        f"(a factor {MAX_COMPARABLE_RATIO:g})",
        numbers=_numbers(tuned, model, batch, rule, "adam"),
        unclear=UNCLEAR_MEAN,
        needs=[_tuned_inside(tuned, model, batch, rule, "adam")],
    )


def _judge_accuracy(tuned: Tuned, model: str, batch: int, rule: str) -> Verdict:
    own, adam = tuned[model, batch, rule], tuned[model, batch, "adam"]
    interval = mean_interval(own.accuracies - adam.accuracies)
    return compare_range(
        f"{_setting(model, batch, rule)}, test accuracy",
        *size_range(*interval),
        maximum=MAX_ACCURACY_DIFFERENCE,
        predicted="mean test accuracies of it and Adam differ by at most "
        f"{MAX_ACCURACY_DIFFERENCE}",
        numbers={
            BACKGROUND_RULES[rule]: float(own.accuracies.mean()),
            "Adam": float(adam.accuracies.mean()),
        },
        unclear=UNCLEAR_MEAN,
    )


def _judge_larger_gap(evidence: Evidence) -> list[Verdict]:
    """The transformer's gap less the CNN's, seed by seed, is positive."""
    tuned = evidence.once(tune_rules)
    verdicts = []
    for batch, title in BACKGROUND_BATCHES.items():
        for rule in ("gd", "momentum"):
            gaps = [_gap(tuned, model, batch, rule) for model in BACKGROUND_MODELS]
            needs = [
                _tuned_inside(tuned, model, batch, rule, "adam")
                for model in BACKGROUND_MODELS
            ]
            verdicts.append(
                compare_range(
                    f"{title}, {BACKGROUND_RULES[rule]}",
                    *mean_interval(gaps[0] - gaps[1]),
                    minimum=0.0,
                    predicted="the gap to Adam on the transformer less that on the CNN, "
                    "in decades of training loss, is positive",
                    numbers={
                        f"gap on the {name}": float(gap.mean())
                        for name, gap in zip(
                            BACKGROUND_MODELS.values(), gaps, strict=True
                        )
                    },
                    unclear=UNCLEAR_MEAN,
                    needs=needs,
                )
            )
    return verdicts


def _judge_as_good_as_adam(rule: str, *batches: int):
    """Make a judge: a rule's loss is at most Adam's times the factor, on both models."""

    def judge(evidence: Evidence) -> list[Verdict]:
        tuned = evidence.once(tune_rules)
        return [
            _judge_comparable(tuned, model, batch, rule)
            for model in BACKGROUND_MODELS
            for batch in batches
        ]

    return judge


_NEEDS = {"needs": ("background",), "figure": "background"}
_REMARK = (
    "Each rule at its best rate of a grid, chosen by three seeds and compared by the "
    "others; losses after equally many steps. A loss below 1e-6 counts as 1e-6."
)

CLAIMS = (
    Claim(
        "Adam beats SGD on a transformer",
        "In transformers, Adam performs better than SGD.",
        _judge_transformer,
        remark=_REMARK,
        **_NEEDS,
    ),
    Claim(
        "SGD is comparable to Adam on a CNN",
        "In CNNs, SGD is comparable to Adam.",
        _judge_cnn,
        remark=_REMARK,
        **_NEEDS,
    ),
    Claim(
        "the gap between Adam and SGD is larger on a transformer",
        "Adam's lead over SGD is larger on a transformer than on a CNN.",
        _judge_larger_gap,
        remark=_REMARK,
        **_NEEDS,
    ),
    Claim(
        "sign descent with momentum recovers Adam at full batch",
        "SignGD can recover the superior performance of Adam in the full-batch setting "
        "(Kunstner et al. 2023, with momentum).",
        _judge_as_good_as_adam("sign-momentum", 0),
        remark=_REMARK,
        **_NEEDS,
    ),
    Claim(
        "Lion performs well",
        "SignGD with momentum, i.e. the Lion optimiser, can perform well.",
        _judge_as_good_as_adam("lion", *BACKGROUND_BATCHES),
        remark=_REMARK,
        **_NEEDS,
    ),
)


# --- tables ---------------------------------------------------------------------------


def background_table(evidence: Evidence) -> pd.DataFrame:
    """Tabulate each rule's best rate, loss, accuracy and gap to Adam, by setting."""
    rows = []
    for (model, batch, rule), one in evidence.once(tune_rules).items():
        gap = _gap(evidence.once(tune_rules), model, batch, rule)
        low, high = mean_interval(gap)
        rows.append(
            {
                "model": BACKGROUND_MODELS[model],
                "batch": BACKGROUND_BATCHES[batch],
                "rule": BACKGROUND_RULES[rule],
                "best rate": one.rate,
                "inside the grid": one.is_inside,
                "training loss": float(10 ** one.losses.mean()),
                "decades above Adam": float(gap.mean()),
                "low": low,
                "high": high,
                "test accuracy": float(one.accuracies.mean()),
                "seeds": one.losses.size,
            }
        )
    return pd.DataFrame(rows)


def model_table(evidence: Evidence) -> pd.DataFrame:
    """Tabulate the CNN against the transformer: SGD's gaps to Adam with intervals."""
    tuned, rows = evidence.once(tune_rules), []
    for batch, title in BACKGROUND_BATCHES.items():
        for rule in ("gd", "momentum", "sign-momentum"):
            gaps = {m: _gap(tuned, m, batch, rule) for m in BACKGROUND_MODELS}
            row = {"batch": title, "rule": BACKGROUND_RULES[rule]}
            for model, name in BACKGROUND_MODELS.items():
                row[f"gap on the {name}"] = _with_interval(gaps[model])
            first, second = gaps.values()
            rows.append(row | {"difference": _with_interval(first - second)})
    return pd.DataFrame(rows)


def _with_interval(values: np.ndarray) -> str:
    low, high = mean_interval(values)
    return f"{values.mean():+.2f} [{low:+.2f}, {high:+.2f}]"


TABLES = (
    Table(
        "background",
        "Rules at their best rates: training loss at the last step (geometric mean over "
        f"seeds), decades above Adam's with the {CONFIDENCE_PERCENT} interval, and test "
        "accuracy.",
        background_table,
        ("background",),
    ),
    Table(
        "cnn_against_transformer",
        "Decades of training loss above Adam on either model, with the "
        f"{CONFIDENCE_PERCENT} interval of "
        "the mean over seeds, and the difference between the models.",
        model_table,
        ("background",),
    ),
)

"""What ``piste reproduce signgd`` runs."""

import dataclasses
from collections.abc import Sequence
from typing import Any

from piste.experiment import Experiment, Schedule
from piste.papers import data_at_hand
from piste.reproduction import RunStudy, Study, SweepStudy
from piste.rules import GD, AbstractRule, Adam, Lion, Muon, SignGD, SignMomentum
from piste.sweeps import Sweep
from piste.values import override

from . import presets
from .models import TwoLayer
from .study_names import (
    BACKGROUND_BATCHES,
    BACKGROUND_MODELS,
    COMPARED_RULES,
    STAGE_RULES,
    VARIANTS,
)
from .tasks import SignalNoise
from .thresholds import MATCHED_LOSS

# --- what is varied -------------------------------------------------------------------

BETAS = ((0.0, 0.9), (0.9, 0.9), (0.9, 0.99), (0.0, 0.999), (0.9, 0.999))
"""(β₁, β₂) of Adam."""
GD_RATES = (0.01, 0.1, 1.0, 10.0, 100.0)
"""Learning rates of GD, over four decades."""
SNRS = (0.05, 0.1, 0.2, 0.35, 0.5, 1.0, 2.0, 4.0)
"""SNR on signal and noise."""
IMAGE_SNRS = {
    "mnist": (0.1, 0.2, 0.28, 0.35, 0.5, 1.0, 2.0),
    "digits": (0.35, 0.5, 0.7, 1.0, 1.4, 2.0),
}
"""SNR on noisy images, by data set."""
SPARSITIES = ((25, 250), (50, 500), (100, 1000), (200, 2000), (400, 4000))
"""s and d: coordinates are shared by as many samples whatever s is."""
IMAGE_SEEDS = 8
"""Seeds of noisy images: three do not tell GD's error, which varies with the images."""
BACKGROUND_RATES = {
    "gd": (0.03, 0.1, 0.3, 1.0, 3.0),
    "momentum": (0.01, 0.03, 0.1, 0.3, 1.0),
    "signgd": (0.001, 0.003, 0.01, 0.03, 0.1),
    "sign-momentum": (0.001, 0.003, 0.01, 0.03, 0.1),
    "adam": (0.001, 0.003, 0.01, 0.03, 0.1, 0.3),
    "lion": (0.001, 0.003, 0.01, 0.03, 0.1, 0.3),
}
"""Learning rates of each rule on a CNN and on a transformer, half a decade apart."""
BACKGROUND_SEEDS = 8
"""Seeds there: the first three choose a rate, the others compare the rules."""

# --- what is kept ---------------------------------------------------------------------

OUTCOME_PROBES = ("train_loss", "test_loss", "test_error")
STAGE_PROBES = (
    "train_loss",
    "value_noise",
    "value_signal",
    "query_signal",
    "key_signal",
    "query_noise",
    "key_noise",
    "attention_signal_signal",
    "attention_noise_signal",
    "test_loss",
    "test_error",
)


def studies(quick: bool) -> tuple[Study, ...]:
    """All studies, or with ``quick`` the stages alone on two seeds and half as long."""
    if quick:
        short = dataclasses.replace(presets.stages(), steps=1000)
        return (RunStudy("stages", "four stages, exact sign", seeds(short, 2)),)
    return (
        *_stage_studies(),
        _sparsity_study(),
        *_rule_studies(),
        *snr_studies(),
        *_image_studies(),
        *_variant_studies(),
        *_stage_rule_studies(),
        background_study(),
    )


def available(chosen: Sequence[Study]) -> list[Study]:
    """Keep MNIST where it can be had, and the digits in its place where not."""
    if not any(study.name.startswith("mnist-") for study in chosen):
        return list(chosen)
    other = "digits-" if data_at_hand(presets.mnist().task) else "mnist-"
    return [study for study in chosen if not study.name.startswith(other)]


def seeds(experiment: Experiment, count: int) -> tuple[Experiment, ...]:
    """One experiment over several seeds."""
    return tuple(dataclasses.replace(experiment, seed=seed) for seed in range(count))


def _stage_studies() -> tuple[Study, ...]:
    """The paper's own experiment, in three arithmetics."""
    single = presets.autodiff()
    double = dataclasses.replace(single, precision="float64")
    return (
        RunStudy("stages", "four stages, exact sign", seeds(presets.stages(), 6)),
        RunStudy("autodiff-64", "four stages, autodiff float64", seeds(double, 3)),
        RunStudy("autodiff-32", "four stages, autodiff float32", seeds(single, 3)),
    )


def _sparsity_study() -> Study:
    """How the value's share of signal falls with s, at one SNR."""
    record = Schedule(dense=32, test_every=32)
    # Long enough to train at the smallest s too. Nothing is tested, and test data of 4,000
    # dimensions would be most of what the study holds in memory.
    base = dataclasses.replace(presets.stages(), steps=3000, record=record)
    base = override(base, {"task.test_samples": 1})
    axes = {"task.noise_coordinates, task.dimension": SPARSITIES, "seed": range(3)}
    return SweepStudy(
        "sparsity",
        "the value's signal against its noise, over s",
        Sweep(base, axes),
        probes=("train_loss", "value_signal", "value_noise"),
        batch=3,
    )


def _rule_studies() -> tuple[Study, ...]:
    """The rules on one distribution: dense noise, SNR ½."""
    dense = presets.dense()
    adam = dataclasses.replace(dense, rule=Adam(eps=0.0))
    plain = dataclasses.replace(dense, form="full", steps=1000)
    zero = dataclasses.replace(plain, rule=Adam(b1=0.0, b2=0.0, eps=0.0))
    three = {"seed": range(3)}
    return (
        RunStudy("adam-zero", "SignGD, and Adam with β₁ = β₂ = ε = 0", (plain, zero)),
        SweepStudy(
            "signgd",
            "SignGD on dense noise",
            Sweep(dense, three),
            probes=STAGE_PROBES,
            batch=3,
        ),
        SweepStudy(
            "adam",
            "Adam over (β₁, β₂)",
            Sweep(adam, {"rule.b1, rule.b2": BETAS} | three),
            probes=STAGE_PROBES,
            batch=3,
        ),
        SweepStudy(
            "gd",
            "GD over learning rates",
            Sweep(presets.gd(), {"rule.learning_rate": GD_RATES} | three),
            probes=OUTCOME_PROBES,
            batch=5,
        ),
        SweepStudy(
            "normalised-gd",
            "normalised GD with SignGD's step length",
            Sweep(presets.normalised_gd(), three),
            probes=OUTCOME_PROBES,
            batch=3,
        ),
    )


def snr_studies() -> tuple[SweepStudy, ...]:
    """Test error against SNR at T = 1000: the noise stays, the signal's norm varies."""
    record = Schedule(dense=32, test_every=32)
    base = dataclasses.replace(presets.dense(), steps=1000, record=record)
    rules = {"signgd": SignGD(), "adam": Adam(), "gd": GD(learning_rate=1.0)}
    norms = tuple(snr * presets.NOISE_SCALE for snr in SNRS)
    axes = {"task.signal_norm": norms, "seed": range(5)}
    return tuple(
        SweepStudy(
            f"snr-{name}",
            f"test error against SNR, {name}",
            Sweep(dataclasses.replace(base, rule=rule), axes),
            probes=OUTCOME_PROBES,
            batch=5,
        )
        for name, rule in rules.items()
    )


def _image_studies() -> tuple[Study, ...]:
    """Noisy MNIST, and scikit-learn's digits, which need no download."""
    bases = {"mnist": presets.mnist(), "digits": presets.digits()}
    return tuple(
        _image_study(data, rule, base)
        for data, base in bases.items()
        for rule in COMPARED_RULES
    )


def _image_study(data: str, rule: str, base: Experiment) -> Study:
    """One rule over SNR; GD's rate follows the noise, 10·min(1, SNR²)."""
    rules = {"signgd": SignGD(), "adam": Adam(), "gd": GD(learning_rate=10.0)}
    axes: dict[str, Any] = {"task.snr": IMAGE_SNRS[data]}
    if rule == "gd":
        rates = tuple((snr, 10 * min(1.0, snr**2)) for snr in IMAGE_SNRS[data])
        axes = {"task.snr, rule.learning_rate": rates}
    return SweepStudy(
        f"{data}-{rule}",
        f"noisy {data} against SNR, {rule}",
        Sweep(
            dataclasses.replace(base, rule=rules[rule]),
            axes | {"seed": range(IMAGE_SEEDS)},
        ),
        probes=OUTCOME_PROBES,
        batch=4,
        stop_below=MATCHED_LOSS,
        needs_data=True,
    )


def _variant_studies() -> tuple[Study, ...]:
    """Which stages persist beyond the paper: three seeds of each variant."""
    return tuple(
        SweepStudy(
            name,
            f"do the stages persist: {title}",
            Sweep(getattr(presets, name.replace("-", "_"))(), {"seed": range(3)}),
            probes=STAGE_PROBES,
            batch=3,
        )
        for name, title in VARIANTS.items()
    )


def _stage_rule_studies() -> tuple[Study, ...]:
    """The paper's model at d = 500 under other rules; Muon decomposes every matrix."""
    base = dataclasses.replace(presets.smaller(), model=TwoLayer())
    return tuple(
        SweepStudy(
            name,
            f"do the stages persist: {STAGE_RULES[name]}",
            Sweep(dataclasses.replace(base, rule=rule), {"seed": range(3)}),
            probes=STAGE_PROBES,
            batch=3,
            by_name=isinstance(rule, Muon),
        )
        for name, rule in _stage_rules(base).items()
    )


def _stage_rules(base: Experiment) -> dict[str, AbstractRule]:
    """Rules that all move a neuron by one length: SignGD's step times √d."""
    step = presets.SMALLER_RATE
    task = base.task
    assert isinstance(task, SignalNoise)
    length = step * task.dimension**0.5
    return {
        "smaller-signgd": SignGD(step),
        "smaller-sign-momentum": SignMomentum(step),
        "smaller-lion": Lion(step),
        "smaller-muon-plain": Muon(length, decay=0.0),
        "smaller-muon": Muon(length),
    }


def background_study() -> SweepStudy:
    """Six rules over learning rates on a transformer and on a CNN: about 10 minutes."""
    rates = [
        (rule, rate) for rule in BACKGROUND_RATES for rate in BACKGROUND_RATES[rule]
    ]
    axes = {
        "model": tuple(BACKGROUND_MODELS),
        "task.batch": tuple(BACKGROUND_BATCHES),
        "rule, rule.learning_rate": rates,
        "seed": range(BACKGROUND_SEEDS),
    }
    return SweepStudy(
        "background",
        "rules on a transformer and on a CNN, full batch and mini-batch",
        Sweep(dataclasses.replace(presets.patches(), rule=GD()), axes),
        probes=("train_loss", "train_accuracy", "test_loss", "test_accuracy"),
        batch=BACKGROUND_SEEDS,
        by_name=True,
    )

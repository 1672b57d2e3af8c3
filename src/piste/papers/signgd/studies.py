"""What ``piste reproduce signgd`` runs."""

import dataclasses
from collections.abc import Sequence

from piste.experiment import Experiment, Schedule
from piste.papers import data_at_hand
from piste.reproduction import RunStudy, Study, SweepStudy
from piste.rules import GD, Adam, SignGD
from piste.sweeps import Sweep

from . import presets
from .thresholds import MATCHED

BETAS = ((0.0, 0.9), (0.9, 0.9), (0.9, 0.99), (0.0, 0.999), (0.9, 0.999))
GD_RATES = (0.01, 0.1, 1.0, 10.0, 100.0)
SNRS = (0.05, 0.1, 0.2, 0.35, 0.5, 1.0, 2.0, 4.0)
DIGITS_SNRS = (0.35, 0.5, 0.7, 1.0, 1.4, 2.0)
MNIST_SNRS = (0.1, 0.2, 0.28, 0.35, 0.5, 1.0, 2.0)

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
OUTCOMES = ("train_loss", "test_loss", "test_error")
SPARSITIES = ((25, 250), (50, 500), (100, 1000), (200, 2000), (400, 4000))
"""s and d: coordinates are shared by as many samples whatever s is."""


def studies(quick: bool) -> tuple[Study, ...]:
    """All studies, or with ``quick`` the stages alone on two seeds and half as long."""
    if quick:
        short = dataclasses.replace(presets.stages(), steps=1000)
        return (RunStudy("stages", "four stages, exact sign", seeds(short, 2)),)
    return (
        *_stages(),
        _sparsity(),
        *_optimisers(),
        *_snr(),
        *_images(),
        *_variants(),
    )


def seeds(experiment: Experiment, count: int) -> tuple[Experiment, ...]:
    """One experiment over several seeds."""
    return tuple(dataclasses.replace(experiment, seed=seed) for seed in range(count))


def _stages() -> tuple[Study, ...]:
    single = presets.autodiff()
    double = dataclasses.replace(single, precision="float64")
    return (
        RunStudy("stages", "four stages, exact sign", seeds(presets.stages(), 6)),
        RunStudy("autodiff-64", "four stages, autodiff float64", seeds(double, 3)),
        RunStudy("autodiff-32", "four stages, autodiff float32", seeds(single, 3)),
    )


def _sparsity() -> Study:
    """How the value's share of signal falls with s, at one SNR."""
    record = Schedule(dense=32, test_every=32)
    # Long enough to train at the smallest s too.
    base = dataclasses.replace(presets.stages(), steps=3000, record=record)
    axes = {"task.noise_coordinates, task.dimension": SPARSITIES, "seed": range(3)}
    return SweepStudy(
        "sparsity",
        "the value's signal against its noise, over s",
        Sweep(base, axes),
        probes=("train_loss", "value_signal", "value_noise"),
        batch=3,
    )


def _optimisers() -> tuple[Study, ...]:
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
            batch=5,
        ),
        SweepStudy(
            "gd",
            "GD over learning rates",
            Sweep(presets.gd(), {"rule.learning_rate": GD_RATES} | three),
            probes=OUTCOMES,
            batch=15,
        ),
        SweepStudy(
            "normalised-gd",
            "normalised GD with SignGD's step length",
            Sweep(presets.normalised_gd(), three),
            probes=OUTCOMES,
            batch=3,
        ),
    )


def _snr() -> tuple[Study, ...]:
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
            probes=OUTCOMES,
        )
        for name, rule in rules.items()
    )


def _images() -> tuple[Study, ...]:
    """Noisy MNIST, and scikit-learn's digits, which need no download."""
    data = (
        ("mnist", presets.mnist(), MNIST_SNRS),
        ("digits", presets.digits(), DIGITS_SNRS),
    )
    return tuple(
        _image_study(name, rule, base, snrs)
        for name, base, snrs in data
        for rule in ("signgd", "adam", "gd")
    )


def available(found: Sequence[Study]) -> list[Study]:
    """MNIST where it can be had, and the digits in its place where not."""
    if not any(study.name.startswith("mnist-") for study in found):
        return list(found)
    other = "digits-" if data_at_hand(presets.mnist().task) else "mnist-"
    return [study for study in found if not study.name.startswith(other)]


def _image_study(data: str, rule: str, base: Experiment, snrs) -> Study:
    """One rule over SNR; GD's rate follows the noise, 10·min(1, SNR²)."""
    rules = {"signgd": SignGD(), "adam": Adam(), "gd": GD(learning_rate=10.0)}
    axes: dict = {"task.snr": snrs, "seed": range(3)}
    if rule == "gd":
        rates = tuple((snr, 10 * min(1.0, snr**2)) for snr in snrs)
        axes = {"task.snr, rule.learning_rate": rates, "seed": range(3)}
    return SweepStudy(
        f"{data}-{rule}",
        f"noisy {data} against SNR, {rule}",
        Sweep(dataclasses.replace(base, rule=rules[rule]), axes),
        probes=OUTCOMES,
        batch=3,
        stop_below=MATCHED,
        needs_data=True,
    )


VARIANTS = {
    "smaller": "the paper's model",
    "heads": "4 heads",
    "deep": "2 layers, residual",
    "deep-norm": "2 layers, residual, LayerNorm",
    "correlated": "correlated noise",
    "shared": "shared noise",
}


def _variants() -> tuple[Study, ...]:
    """Which stages persist beyond the paper: three seeds of each variant."""
    return tuple(
        SweepStudy(
            name,
            f"do the stages persist: {meaning}",
            Sweep(getattr(presets, name.replace("-", "_"))(), {"seed": range(3)}),
            probes=STAGE_PROBES,
            batch=3,
        )
        for name, meaning in VARIANTS.items()
    )

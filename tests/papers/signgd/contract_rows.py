"""The paper's rows of the contract tables."""

import dataclasses

import jax
import pytest

from papers.signgd.two_token import SMALL, small
from piste.experiment import Experiment
from piste.papers.signgd import coverage
from piste.papers.signgd.forms import assembly
from piste.papers.signgd.models import PatchTransformer, SmallCNN, Stack, TwoLayer
from piste.papers.signgd.tasks import LabelledDigits, NoisyImages, SignalNoise
from piste.rules import Adam, SignGD
from piste.training import InitialState
from piste.values import override
from support.contract_rows import (
    SHORT,
    Covered,
    Pair,
    experiment_of,
    fit_classifier,
)

SIGNAL = SignalNoise(samples=3, dimension=12, noise_coordinates=4, test_samples=4)
DIGITS = LabelledDigits(train_samples=6, test_samples=4, batch=3)
TWO_LAYER = TwoLayer(key_width=2, value_width=2)
STACK = Stack(key_width=2, value_width=2)
CNN = SmallCNN(channels=2)
PATCHES = PatchTransformer(patch=4, dimension=4, hidden=4)

TASKS = [
    SIGNAL,
    dataclasses.replace(SIGNAL, noise="correlated"),
    NoisyImages(dataset="digits", samples=4, test_samples=4),
    DIGITS,
]
MODELS = [(TWO_LAYER, SIGNAL), (STACK, SIGNAL), (CNN, DIGITS), (PATCHES, DIGITS)]
FORMS = {
    ("two-layer", "full"): experiment_of(SIGNAL, TWO_LAYER, form="full"),
    ("two-layer", "reduced"): experiment_of(SIGNAL, TWO_LAYER, Adam(), "reduced"),
    ("two-layer", "exact"): experiment_of(SIGNAL, TWO_LAYER, SignGD(), "exact"),
    ("two-layer", "gram"): experiment_of(SIGNAL, TWO_LAYER, form="gram"),
    ("stack", "full"): experiment_of(SIGNAL, STACK, form="full"),
    ("stack", "exact"): experiment_of(SIGNAL, STACK, SignGD(), "exact"),
    ("small-cnn", "full"): experiment_of(DIGITS, CNN),
    ("patch-transformer", "full"): experiment_of(DIGITS, PATCHES),
}
ALL_DIGITS = LabelledDigits(train_samples=4, test_samples=4)
PAIRS = {
    "signal-noise, two-layer": Pair(SIGNAL, TWO_LAYER),
    "signal-noise, stack": Pair(SIGNAL, STACK),
    "labelled-digits, small-cnn": Pair(ALL_DIGITS, CNN),
    "labelled-digits, patch-transformer": Pair(ALL_DIGITS, PATCHES),
}
SAME_DATA = {"noisy-images"}
NO_FORM = [
    ("signal-noise, two-layer", "gaussian", "signgd", "exact"),
    ("signal-noise, two-layer", "softmax", "adam", "gram"),
    ("signal-noise, stack", "softmax", "gd", "gram"),
]
PROBES = [experiment_of(SIGNAL, TWO_LAYER, SignGD(), "exact")]
LANDSCAPES = [
    (small("adam", steps=10), "qk"),
    pytest.param(small("signgd", steps=10), "hessian", marks=pytest.mark.slow),
]
DETECTED = {"four stages of sign descent": ("signgd/stages-quick", SHORT)}
COVERED = [
    Covered(
        "signgd",
        "slide item",
        coverage.SLIDE_ITEMS,
        coverage.BEYOND_THE_SLIDES,
        coverage.TABLES,
    )
]


def _fit_signal_noise(parts: dict) -> dict:
    """The noise fits into the dimension."""
    room = parts["dimension"] - 1
    return parts | {"noise_coordinates": min(parts["noise_coordinates"], room)}


def _fit_noisy_images(parts: dict) -> dict:
    """As many of each class, and two classes."""
    positive, negative = parts["positive_class"], parts["negative_class"]
    if positive == negative:
        negative = (positive + 1) % 10
    samples = parts["samples"] + parts["samples"] % 2
    return parts | {"samples": samples, "negative_class": negative}


def _fit_stack(parts: dict) -> dict:
    """Heads share out the neurons."""
    widths = {name: parts[name] for name in ("key_width", "value_width")}
    heads = min(parts["heads"], *widths.values())
    fitted = {name: width - width % heads for name, width in widths.items()}
    return parts | {"heads": heads} | fitted


def _fit_digits(parts: dict) -> dict:
    """A batch is no larger than the training set."""
    return parts | {"batch": min(parts["batch"], parts["train_samples"])}


FITS = {
    SignalNoise: _fit_signal_noise,
    NoisyImages: _fit_noisy_images,
    Stack: _fit_stack,
    LabelledDigits: _fit_digits,
    PatchTransformer: fit_classifier,
}

BILLION, TRILLION = 10**9, 10**12
ABSURD = [
    ("signgd/stages", {"task.dimension": BILLION}, "memory"),
    ("signgd/stages", {"task.samples": BILLION}, "memory"),
    ("signgd/stages", {"task.test-samples": 10 * BILLION}, "memory"),
    ("signgd/stages", {"model.key-width": 10**8}, "memory"),
    ("signgd/stages", {"model.value-width": 10**8}, "memory"),
    ("signgd/stages", {"steps": 10**15}, "years"),
    ("signgd/stages", {"record.chunk": TRILLION}, "memory"),
    ("signgd/stages", {"record.dense": TRILLION, "steps": TRILLION}, "memory"),
    ("signgd/stages", {"steps": BILLION, "record.every": "1"}, "disk"),
    ("signgd/gd", {"task.dimension": BILLION}, "memory"),
    ("signgd/autodiff", {"task.dimension": BILLION}, "memory"),
    ("signgd/deep", {"task.test-samples": 10**8}, "memory"),
    ("signgd/heads", {"model.key-width": 4 * 10**8}, "memory"),
]
COUNTED = [("signgd/stages", {}), ("signgd/deep", {"model.depth": 3})]
RECORDED = [small(form="full"), override(SMALL, {"model": "stack", "model.depth": 2})]
SIZES = [
    (
        "signgd/deep",
        "task.samples task.dimension task.test-samples model.depth model.key-width "
        "model.value-width steps record.dense record.chunk",
    ),
]
MEASURED = [
    "signgd/stages",
    "signgd/stages steps=3 task.test-samples=40000",
    "signgd/stages steps=3 model.key-width=5000",
    "signgd/gd steps=3 task.dimension=40000",
    "signgd/deep steps=3 task.test-samples=20000",
]


def shapes_of(experiment: Experiment) -> InitialState | None:
    """What a run of the paper begins with, as shapes."""
    task, model = experiment.task, experiment.model
    if not isinstance(model, (TwoLayer, Stack)):
        return None
    return InitialState(*jax.eval_shape(assembly._draw, task, model, None, 0))

"""The paper's rows of the contract tables."""

import dataclasses

from piste.papers.signgd.models import PatchTransformer, SmallCNN, Stack, TwoLayer
from piste.papers.signgd.tasks import LabelledDigits, NoisyImages, SignalNoise
from piste.rules import Adam, SignGD
from support.contract_rows import Pair, experiment_of

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

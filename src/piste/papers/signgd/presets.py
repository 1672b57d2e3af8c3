"""Presets: each states its command, the time on 2 cores and what to expect."""

import dataclasses
import math

from piste.experiment import Experiment, Schedule
from piste.rules import GD, Adam, NormalisedGD, SignGD

from .models import PatchTransformer, SmallCNN, Stack, TwoLayer
from .tasks import LabelledDigits, NoisyImages, SignalNoise

NOISE_SCALE = 2.0
"""Expected noise norm on which rules are compared; the signal's norm gives the SNR."""
SMALLER_RATE = 2e-4
"""Learning rate of sign descent at d = 500."""


def stages() -> Experiment:
    """``piste run signgd/stages``: about 5 s.

    Stages end near t = 1.5, 11, 27; s₂₁ is o(1) near 157; key and query noise are aligned
    near 310 and 720; test error near 0.34.
    """
    return Experiment(task=SignalNoise(), model=TwoLayer(), rule=SignGD())


def stages_quick() -> Experiment:
    """``piste run signgd/stages-quick``: about 3 s with compilation.

    The same stages at n = 10, d = 400: later by chance, and rougher.
    """
    task = SignalNoise(
        samples=10, dimension=400, noise_coordinates=40, test_samples=500
    )
    model = TwoLayer(key_width=50, value_width=10)
    return Experiment(task=task, model=model, rule=SignGD(), steps=1000)


def autodiff() -> Experiment:
    """``piste run signgd/autodiff``: about 15 s.

    What a plain float32 script sees: the query freezes when its gradient underflows, and
    its alignment ends earlier (near 600) because rounding cuts it off.
    """
    return dataclasses.replace(stages(), form="full", precision="float32")


def dense() -> Experiment:
    """``piste run signgd/dense``: about 6 s.

    SignGD on dense noise (s = 1500), on which the rules are compared.
    """
    task = SignalNoise(noise_coordinates=1500, noise_scale=NOISE_SCALE)
    return Experiment(
        task=task, model=TwoLayer(), rule=SignGD(), record=Schedule(dense=100)
    )


def adam() -> Experiment:
    """``piste run signgd/adam``: about 10 s. The query alignment never completes."""
    return dataclasses.replace(dense(), rule=Adam())


def gd() -> Experiment:
    """``piste run signgd/gd``: about 3 s. The test error goes to 0."""
    return dataclasses.replace(dense(), rule=GD(learning_rate=1.0))


def normalised_gd() -> Experiment:
    """``piste run signgd/normalised-gd``: about 3 s. Faster than SignGD by far.

    Its step has the Euclidean length of a step of SignGD that moves every weight.
    """
    experiment, model, task, rule = dense(), TwoLayer(), SignalNoise(), SignGD()
    weights = 2 * model.key_width + 2 * model.value_width
    step = rule.learning_rate * math.sqrt(weights * task.dimension)
    return dataclasses.replace(experiment, rule=NormalisedGD(learning_rate=step))


def smaller() -> Experiment:
    """``piste run signgd/smaller``: about 4 s, autodiff.

    The paper's model at d = 500, beside which the variants below are judged.
    """
    task = SignalNoise(dimension=500, noise_coordinates=50, test_samples=1000)
    return Experiment(task=task, model=Stack(), rule=SignGD(learning_rate=SMALLER_RATE))


def heads() -> Experiment:
    """``piste run signgd/heads``: about 4 s. IV is twice as late."""
    return dataclasses.replace(smaller(), model=Stack(heads=4))


def deep() -> Experiment:
    """``piste run signgd/deep``: about 10 s. I and II persist, the vote does not."""
    return dataclasses.replace(smaller(), model=Stack(depth=2, residual=True))


def deep_norm() -> Experiment:
    """``piste run signgd/deep-norm``: about 10 s. The vote is reached, then lost."""
    model = Stack(depth=2, residual=True, layer_norm=True)
    return dataclasses.replace(smaller(), model=model)


def correlated() -> Experiment:
    """``piste run signgd/correlated``: about 4 s. As with independent noise."""
    base = smaller()
    task = dataclasses.replace(base.task, noise="correlated", noise_correlation=0.9)
    return dataclasses.replace(base, task=task)


def shared() -> Experiment:
    """``piste run signgd/shared``: about 4 s. Stage I never ends; exact sign.

    Half of the noise lies along a direction that all samples share.
    """
    base = smaller()
    task = dataclasses.replace(base.task, noise="shared", noise_shared=0.5)
    return dataclasses.replace(base, task=task, model=TwoLayer())


def mnist() -> Experiment:
    """``piste run signgd/mnist``: about 10 s; downloads MNIST, or give PISTE_DATA.

    Digits 3 against 7 with a noise token, SNR 0.35: test error near 0.37 under SignGD.
    """
    record = Schedule(dense=64, test_every=2)
    model = TwoLayer(key_width=20, value_width=20)
    return Experiment(
        task=NoisyImages(),
        model=model,
        rule=SignGD(),
        steps=4000,
        record=record,
        precision="float32",
    )


def digits() -> Experiment:
    """``piste run signgd/digits``: about 5 s, no download.

    The same with scikit-learn's 8×8 digits; few pixels, so few samples.
    """
    task = NoisyImages(dataset="digits", samples=20, snr=0.7)
    return dataclasses.replace(mnist(), task=task)


def patches() -> Experiment:
    """``piste run signgd/patches``: about 10 s, no download.

    A small transformer on 2×2 patches of 8×8 digits, ten classes, full batch, Adam: the
    training loss falls below 0.01.
    """
    return Experiment(
        task=LabelledDigits(train_samples=128),
        model=PatchTransformer(dimension=16, hidden=32),
        rule=Adam(learning_rate=0.01),
        steps=120,
        record=Schedule(every=12, test_every=5, chunk=5),
        precision="float32",
    )


def cnn() -> Experiment:
    """``piste run signgd/cnn``: about 5 s, no download. The same with a small CNN."""
    return dataclasses.replace(patches(), model=SmallCNN())

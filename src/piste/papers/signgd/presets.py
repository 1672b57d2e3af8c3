"""Presets: each states its command, the time on 2 cores and what to expect."""

import dataclasses

from piste.experiment import Experiment
from piste.models import TwoLayer
from piste.rules import GD, Adam
from piste.tasks import SignalNoise


def stages() -> Experiment:
    """``piste run signgd/stages``: about 5 s.

    Stages end near t = 1.5, 11, 27; s₂₁ is o(1) near 157; key and query noise are aligned
    near 310 and 720; test error near 0.34.
    """
    return Experiment()


def stages_quick() -> Experiment:
    """``piste run signgd/stages-quick``: about 3 s with compilation.

    The same stages at n = 10, d = 400: later by chance, and rougher.
    """
    task = SignalNoise(
        samples=10, dimension=400, noise_coordinates=40, test_samples=500
    )
    model = TwoLayer(key_width=50, value_width=10)
    return Experiment(task=task, model=model, steps=1000)


def autodiff() -> Experiment:
    """``piste run signgd/autodiff``: about 15 s.

    What a plain float32 script sees: the query freezes when its gradient underflows, and
    its alignment ends earlier (near 600) because rounding cuts it off.
    """
    return dataclasses.replace(stages(), form="full", precision="float32")


def adam() -> Experiment:
    """``piste run signgd/adam``: about 10 s. The query alignment never completes."""
    return dataclasses.replace(stages(), rule=Adam())


def gd() -> Experiment:
    """``piste run signgd/gd``: about 2 s. The test error goes to 0."""
    return dataclasses.replace(stages(), rule=GD(learning_rate=1.0))

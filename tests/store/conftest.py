import dataclasses

import pytest

from piste.experiment import Experiment, Schedule
from piste.papers.signgd.models import TwoLayer
from piste.papers.signgd.tasks import SignalNoise
from piste.rules import Adam


@pytest.fixture(scope="session")
def tiny() -> Experiment:
    """Six chunks in a second; Adam, so that the rule has a state to restore."""
    task = SignalNoise(samples=5, dimension=60, noise_coordinates=12, test_samples=30)
    model = TwoLayer(key_width=6, value_width=3)
    record = Schedule(dense=20, test_every=3, chunk=8)
    return Experiment(task, model, Adam(learning_rate=1e-3), steps=80, record=record)


@pytest.fixture(scope="session")
def tinier(tiny) -> Experiment:
    """Two chunks."""
    return dataclasses.replace(tiny, steps=15)

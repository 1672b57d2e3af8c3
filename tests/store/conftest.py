import dataclasses

import pytest

from piste.experiment import Experiment, Schedule
from support.small import REGRESSION


@pytest.fixture(scope="session")
def tiny() -> Experiment:
    """Six chunks in a second; Adam, so that the rule has a state to restore."""
    record = Schedule(dense=20, test_every=3, chunk=8)
    return dataclasses.replace(REGRESSION, steps=80, record=record)


@pytest.fixture(scope="session")
def tinier(tiny) -> Experiment:
    """Two chunks."""
    return dataclasses.replace(tiny, steps=15)

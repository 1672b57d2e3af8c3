"""An experiment of the core alone, with parts exchanged; nobody trains it."""

import dataclasses

from piste.experiment import Experiment
from piste.models import Classifier
from piste.rules import SignGD
from piste.tasks import Pathfinder

DEFAULT = Experiment(task=Pathfinder(), model=Classifier(), rule=SignGD())
"""Any task, model and rule that come with the core."""


def experiment(**parts) -> Experiment:
    """The same with some of its parts exchanged."""
    return dataclasses.replace(DEFAULT, **parts)

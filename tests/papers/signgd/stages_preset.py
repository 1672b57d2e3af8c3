"""The experiment of the signgd paper, with parts exchanged."""

import dataclasses

from piste.experiment import Experiment
from piste.papers.signgd.presets import stages

DEFAULT = stages()
"""The paper's own experiment."""


def experiment(**parts) -> Experiment:
    """The paper's experiment with some of its parts exchanged."""
    return dataclasses.replace(DEFAULT, **parts)

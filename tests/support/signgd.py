"""The experiment of the signgd paper, with parts exchanged.

Tests that import this are about the paper, and are skipped where it is not installed.
"""

import dataclasses

import pytest

from piste.experiment import Experiment

DEFAULT = pytest.importorskip("piste.papers.signgd.presets").stages()
"""The paper's own experiment."""


def experiment(**parts) -> Experiment:
    """The paper's experiment with some of its parts exchanged."""
    return dataclasses.replace(DEFAULT, **parts)

"""Data distributions with known ground truth; ``_base.py`` is their contract."""

from ._base import TASKS, AbstractTask, task
from .decision_lists import DecisionLists
from .noisy_images import NoisyImages
from .pathfinder import Pathfinder
from .signal_noise import SignalNoise
from .text import Text
from .token_regression import RegressionData, TokenRegression
from .token_sequences import SequenceSets, TokenSequences
from .two_token import TwoTokenData

__all__ = [
    "TASKS",
    "AbstractTask",
    "DecisionLists",
    "NoisyImages",
    "Pathfinder",
    "RegressionData",
    "SequenceSets",
    "SignalNoise",
    "Text",
    "TokenRegression",
    "TokenSequences",
    "TwoTokenData",
    "task",
]

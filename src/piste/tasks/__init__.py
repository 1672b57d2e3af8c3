"""Data distributions with known ground truth."""

from piste.values import family

from .decision_lists import DecisionLists
from .noisy_images import NoisyImages
from .pathfinder import Pathfinder
from .signal_noise import SignalNoise
from .text import Text
from .token_regression import RegressionData, TokenRegression
from .token_sequences import SequenceSets, TokenSequences
from .two_token import TwoTokenData

Task = SignalNoise | NoisyImages | DecisionLists | TokenRegression | Text | Pathfinder

TASKS = family(
    {
        "signal-noise": SignalNoise,
        "noisy-images": NoisyImages,
        "decision-lists": DecisionLists,
        "token-regression": TokenRegression,
        "text": Text,
        "pathfinder": Pathfinder,
    }
)

__all__ = [
    "TASKS",
    "DecisionLists",
    "NoisyImages",
    "Pathfinder",
    "RegressionData",
    "SequenceSets",
    "SignalNoise",
    "Task",
    "Text",
    "TokenRegression",
    "TokenSequences",
    "TwoTokenData",
]

"""Data distributions with known ground truth."""

from piste.values import family

from .decision_lists import DecisionLists
from .noisy_images import NoisyImages
from .signal_noise import SignalNoise
from .token_regression import RegressionData, TokenRegression
from .two_token import TwoTokenData

Task = SignalNoise | NoisyImages | DecisionLists | TokenRegression

TASKS = family(
    {
        "signal-noise": SignalNoise,
        "noisy-images": NoisyImages,
        "decision-lists": DecisionLists,
        "token-regression": TokenRegression,
    }
)

__all__ = [
    "TASKS",
    "DecisionLists",
    "NoisyImages",
    "RegressionData",
    "SignalNoise",
    "Task",
    "TokenRegression",
    "TwoTokenData",
]

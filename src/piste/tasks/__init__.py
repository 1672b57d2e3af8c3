"""Data distributions with known ground truth."""

from piste.values import family

from .decision_lists import DecisionLists
from .noisy_images import NoisyImages
from .signal_noise import SignalNoise
from .two_token import TwoTokenData

Task = SignalNoise | NoisyImages | DecisionLists

TASKS = family(
    {
        "signal-noise": SignalNoise,
        "noisy-images": NoisyImages,
        "decision-lists": DecisionLists,
    }
)

__all__ = [
    "TASKS",
    "DecisionLists",
    "NoisyImages",
    "SignalNoise",
    "Task",
    "TwoTokenData",
]

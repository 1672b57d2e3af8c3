"""Data distributions with known ground truth."""

from piste.values import family

from .noisy_images import NoisyImages
from .signal_noise import SignalNoise
from .two_token import TwoTokenData

Task = SignalNoise | NoisyImages

TASKS = family({"signal-noise": SignalNoise, "noisy-images": NoisyImages})

__all__ = ["TASKS", "NoisyImages", "SignalNoise", "Task", "TwoTokenData"]

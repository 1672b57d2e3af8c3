"""Data distributions with known ground truth."""

from piste.values import family

from .signal_noise import SignalNoise
from .two_token import TwoTokenData

Task = SignalNoise

TASKS = family({"signal-noise": SignalNoise})

__all__ = ["TASKS", "SignalNoise", "Task", "TwoTokenData"]

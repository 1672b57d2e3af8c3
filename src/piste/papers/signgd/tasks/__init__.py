"""Signal and noise in two tokens: drawn, or with real images as the signal."""

from .noisy_images import NoisyImages
from .signal_noise import SignalNoise
from .two_token import TwoTokenData

__all__ = ["NoisyImages", "SignalNoise", "TwoTokenData"]

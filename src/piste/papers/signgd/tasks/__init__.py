"""Signal and noise in two tokens, drawn or with images; and images with classes."""

from .labelled_images import LabelledDigits, LabelledImages
from .noisy_images import NoisyImages
from .signal_noise import SignalNoise
from .two_token import TwoTokenData

__all__ = [
    "LabelledDigits",
    "LabelledImages",
    "NoisyImages",
    "SignalNoise",
    "TwoTokenData",
]

"""Data distributions with known ground truth."""

from piste.values import family

from .noisy_images import NoisyImages
from .pathfinder import Pathfinder
from .signal_noise import SignalNoise
from .text import Text
from .token_sequences import SequenceSets, TokenSequences
from .two_token import TwoTokenData

Task = SignalNoise | NoisyImages

TASKS = family({"signal-noise": SignalNoise, "noisy-images": NoisyImages})

SequenceTask = Text | Pathfinder

SEQUENCE_TASKS = family({"text": Text, "pathfinder": Pathfinder})

__all__ = [
    "SEQUENCE_TASKS",
    "TASKS",
    "NoisyImages",
    "Pathfinder",
    "SequenceSets",
    "SequenceTask",
    "SignalNoise",
    "Task",
    "Text",
    "TokenSequences",
    "TwoTokenData",
]

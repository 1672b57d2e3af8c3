"""Data distributions; ``_base.py`` is the contract of a task.

Here are those on data that anybody may use: texts and drawn images. A paper brings the
distributions that it invents.
"""

from ._base import TASKS, AbstractTask, LoadsData, task
from .pathfinder import Pathfinder
from .text import Text
from .token_sequences import AbstractSequenceTask, SequenceSets, TokenSequences

__all__ = [
    "TASKS",
    "AbstractSequenceTask",
    "AbstractTask",
    "LoadsData",
    "Pathfinder",
    "SequenceSets",
    "Text",
    "TokenSequences",
    "task",
]

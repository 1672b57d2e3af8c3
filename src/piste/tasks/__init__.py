"""Data distributions; ``_base.py`` is the contract of a task.

Here are those that several papers use. Each paper brings its own.
"""

from ._base import TASKS, AbstractTask, task
from .pathfinder import Pathfinder
from .text import Text
from .token_sequences import SequenceSets, TokenSequences

__all__ = [
    "TASKS",
    "AbstractTask",
    "Pathfinder",
    "SequenceSets",
    "Text",
    "TokenSequences",
    "task",
]

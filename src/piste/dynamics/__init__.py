"""Training: the forms of a model, the pure step, and the compiled chunks."""

from ._base import AbstractForm, State
from .assemble import Start, build, choose_form, draw, load_data
from .engine import Chunk, Plan, System, run_chunk, train

__all__ = [
    "AbstractForm",
    "Chunk",
    "Plan",
    "Start",
    "State",
    "System",
    "build",
    "choose_form",
    "draw",
    "load_data",
    "run_chunk",
    "train",
]

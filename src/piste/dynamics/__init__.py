"""Training: the forms of a model, the pure step, and the compiled chunks."""

from ._base import AbstractForm, Assembly, Start, State
from .assemble import assembly_of, build, choose_form, draw, load_data
from .engine import Chunk, Plan, System, run_chunk, train

__all__ = [
    "AbstractForm",
    "Assembly",
    "Chunk",
    "Plan",
    "Start",
    "State",
    "System",
    "assembly_of",
    "build",
    "choose_form",
    "draw",
    "load_data",
    "run_chunk",
    "train",
]

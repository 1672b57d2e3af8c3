"""Training: the forms of a model, the pure step, and the compiled chunks."""

from ._base import AbstractForm, Assembly, Start, State
from .assemble import assembly_of, build, choose_form, draw, load_data
from .engine import Chunk, Plan, System, run_chunk, train
from .size import Size, check_size, room_of, size_of

__all__ = [
    "AbstractForm",
    "Assembly",
    "Chunk",
    "Plan",
    "Size",
    "Start",
    "State",
    "System",
    "assembly_of",
    "build",
    "check_size",
    "choose_form",
    "draw",
    "load_data",
    "room_of",
    "run_chunk",
    "size_of",
    "train",
]

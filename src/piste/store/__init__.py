"""Where runs live on disk: found by content, crash-safe, resumable."""

from .checkpoint import load as load_state
from .checkpoint import save as save_state
from .checkpoint import write_atomically
from .manifest import FORMAT, Manifest, environment, read_manifest
from .parts import describe_parts, in_parts, part_places
from .runs import CHECKPOINT, Run, Store, alone, make_folder, run_in_memory

__all__ = [
    "CHECKPOINT",
    "FORMAT",
    "Manifest",
    "Run",
    "Store",
    "alone",
    "describe_parts",
    "environment",
    "in_parts",
    "load_state",
    "make_folder",
    "part_places",
    "read_manifest",
    "run_in_memory",
    "save_state",
    "write_atomically",
]

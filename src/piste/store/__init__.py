"""Where runs live on disk: found by content, crash-safe, resumable."""

from .checkpoint import write_atomically
from .manifest import FORMAT, Manifest, environment, read_manifest
from .runs import Run, Store, alone, make_folder, run_in_memory

__all__ = [
    "FORMAT",
    "Manifest",
    "Run",
    "Store",
    "alone",
    "environment",
    "make_folder",
    "read_manifest",
    "run_in_memory",
    "write_atomically",
]

"""Where runs live on disk: found by content, crash-safe, resumable."""

from .manifest import FORMAT, Manifest, environment, read_manifest
from .runs import Run, Store, make_folder, run_in_memory

__all__ = [
    "FORMAT",
    "Manifest",
    "Run",
    "Store",
    "environment",
    "make_folder",
    "read_manifest",
    "run_in_memory",
]

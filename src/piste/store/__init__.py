"""Where runs live on disk: found by content, crash-safe, resumable."""

from .checkpoint import load as load_state
from .checkpoint import save as save_state
from .checkpoint import write_atomically
from .manifest import FORMAT, Manifest, environment, read_manifest
from .parts import describe_parts, in_parts, parts_there
from .runs import (
    CHECKPOINT,
    Run,
    Store,
    alone,
    check_shares,
    make_folder,
    run_in_memory,
)

__all__ = [
    "CHECKPOINT",
    "FORMAT",
    "Manifest",
    "Run",
    "Store",
    "alone",
    "check_shares",
    "describe_parts",
    "environment",
    "in_parts",
    "load_state",
    "make_folder",
    "parts_there",
    "read_manifest",
    "run_in_memory",
    "save_state",
    "write_atomically",
]

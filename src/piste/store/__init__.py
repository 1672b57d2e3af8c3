"""Where results live on disk: found by content, crash-safe, resumable."""

from .checkpoint import CHECKPOINT
from .checkpoint import load as load_state
from .checkpoint import progress as read_progress
from .checkpoint import save as save_state
from .files import discard, make_folder, write_atomically
from .folders import BuildFolder, Fresh, ResultAddress, StoredResult, building
from .formats import FORMAT, refuse_other_formats
from .inputs import Inputs, inputs_of
from .joined import join_parts
from .manifest import STAGE, Manifest, environment, read_manifest
from .parts import Parts
from .progress import ProgressCallback, no_progress
from .runs import PartialRun, Run, Store, check_shares, open_run, run_in_memory
from .sealed import unseal
from .trajectory import TIME, named_axes

__all__ = [
    "CHECKPOINT",
    "FORMAT",
    "STAGE",
    "TIME",
    "BuildFolder",
    "Fresh",
    "Inputs",
    "Manifest",
    "PartialRun",
    "Parts",
    "ProgressCallback",
    "ResultAddress",
    "Run",
    "Store",
    "StoredResult",
    "building",
    "check_shares",
    "discard",
    "environment",
    "inputs_of",
    "join_parts",
    "load_state",
    "make_folder",
    "named_axes",
    "no_progress",
    "open_run",
    "read_manifest",
    "read_progress",
    "refuse_other_formats",
    "run_in_memory",
    "save_state",
    "unseal",
    "write_atomically",
]

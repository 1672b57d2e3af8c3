"""The records of a run that is not complete: a file for each chunk."""

from pathlib import Path

import numpy as np

from piste.training import Chunk

from . import checkpoint
from .checkpoint import CHECKPOINT
from .manifest import Manifest
from .sealed import damaged, seal, unseal

FOLDER = "chunks"
_NUMBER = "chunk-number"  # no probe is called so


def place(folder: Path, index: int) -> Path:
    """The file of a chunk."""
    return folder / FOLDER / f"{index:06d}.npz"


def save(folder: Path, chunk: Chunk) -> None:
    """Store all records of a chunk; storing it again changes nothing."""
    seal(place(folder, chunk.index), {_NUMBER: chunk.index, **chunk.records})


def load(folder: Path, index: int) -> dict[str, np.ndarray]:
    """The records of a chunk, by probe."""
    path = place(folder, index)
    records = unseal(path)
    if int(records.pop(_NUMBER)) != index:
        raise damaged(path, "has the records of another chunk")
    return records


def check(folder: Path, manifest: Manifest) -> None:
    """Refuse to go on where the checkpoint or records before it are not whole."""
    done = checkpoint.progress(folder / CHECKPOINT).chunks
    if not done and place(folder, 1).exists():
        raise damaged(folder / CHECKPOINT, "is missing")
    for index in range(done):
        load(folder, index)

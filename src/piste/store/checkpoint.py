"""The state of a run on disk: replaced atomically, and checked when it is read."""

from dataclasses import dataclass
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np

from piste.errors import InputError
from piste.training import State

from .sealed import seal, unseal

CHECKPOINT = "checkpoint.npz"
"""The state after the last chunk; in a complete run, the final one."""


@dataclass(frozen=True)
class Progress:
    """How far a checkpoint is: chunks, steps, and the seconds that they took."""

    chunks: int
    steps: int
    seconds: float


def save(path: Path, state: State, chunks: int, seconds: float = 0.0) -> None:
    """Store the state after a number of chunks."""
    leaves = {f"leaf{i}": leaf for i, leaf in enumerate(jax.tree.leaves(state))}
    seal(path, leaves | {"chunks": chunks, "steps": state.step, "seconds": seconds})


def load(path: Path, like: State) -> tuple[State, int]:
    """Read a state of the same structure, and how many chunks it has behind it."""
    arrays = unseal(path)
    chunks = int(arrays["chunks"])
    leaves = [arrays[f"leaf{i}"] for i in range(len(arrays) - 3)]
    expected, structure = jax.tree.flatten(like)
    if list(map(_kind, leaves)) != list(map(_kind, expected)):
        raise InputError(
            f"checkpoint {path}: has other arrays than this version of piste makes; "
            "--fresh starts again from step 0"
        )
    return jax.tree.unflatten(structure, [jnp.asarray(leaf) for leaf in leaves]), chunks


def _kind(array) -> tuple[tuple[int, ...], np.dtype]:
    return array.shape, array.dtype


def progress(path: Path) -> Progress:
    """How far a checkpoint is; nothing is done yet where there is none."""
    if not path.exists():
        return Progress(0, 0, 0.0)
    arrays = unseal(path)
    chunks, steps, seconds = (arrays[n] for n in ("chunks", "steps", "seconds"))
    return Progress(int(chunks), int(steps), float(seconds))

"""The state of a run on disk: replaced atomically, and checked when it is read."""

import hashlib
import io
import os
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from piste.dynamics import State
from piste.errors import InputError

_DIGEST = 32


def write_atomically(path: Path, content: bytes) -> None:
    """Write a file aside, then rename it: it is complete or absent, also after a crash."""
    aside = path.with_name(path.name + ".new")
    with open(aside, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    os.replace(aside, path)


def save(path: Path, state: State, chunks: int) -> None:
    """Store the state after a number of chunks."""
    leaves = enumerate(jax.tree.leaves(state))
    named: dict[str, Any] = {f"leaf{place}": np.asarray(leaf) for place, leaf in leaves}
    buffer = io.BytesIO()
    np.savez(buffer, chunks=np.array(chunks), **named)
    content = buffer.getvalue()
    digest = hashlib.blake2b(content, digest_size=_DIGEST).digest()
    write_atomically(path, digest + content)


def load(path: Path, like: State) -> tuple[State, int]:
    """Read a state of the same structure, and how many chunks it has behind it."""
    content = path.read_bytes()
    digest, content = content[:_DIGEST], content[_DIGEST:]
    if hashlib.blake2b(content, digest_size=_DIGEST).digest() != digest:
        raise damaged(path)
    with np.load(io.BytesIO(content), allow_pickle=False) as file:
        leaves = [file[f"leaf{place}"] for place in range(len(file.files) - 1)]
        chunks = int(file["chunks"])
    expected = jax.tree.leaves(like)
    if [(x.shape, x.dtype) for x in leaves] != [(x.shape, x.dtype) for x in expected]:
        raise damaged(path)
    structure = jax.tree.structure(like)
    return jax.tree.unflatten(structure, [jnp.asarray(leaf) for leaf in leaves]), chunks


def damaged(path: Path) -> InputError:
    """The error for a checkpoint that cannot be trusted."""
    return InputError(
        f"checkpoint {path}: damaged, must be as piste wrote it; "
        "--fresh starts the run again from step 0"
    )

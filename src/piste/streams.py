"""Named random streams, so that adding a draw to one changes nothing in another."""

import enum

import jax
from jaxtyping import Array, Int, Key


class Stream(enum.IntEnum):
    """What a random number is for. Append only: the numbers are part of every run."""

    INIT = 0
    DATA = 1
    TEST = 2
    BATCH = 3
    PROBE = 4


def stream(seed: int | Int[Array, ""], purpose: Stream) -> Key[Array, ""]:
    """The random key of one purpose."""
    return jax.random.fold_in(jax.random.key(seed), int(purpose))

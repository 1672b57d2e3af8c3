"""Sequences of tokens, each with a class: what text and pixels have in common."""

import equinox as eqx
import jax
import numpy as np
from jaxtyping import Bool, Int, Integer

from piste.errors import field_error
from piste.streams import Stream


class TokenSequences(eqx.Module):
    """Rows of tokens with a class each, on the host and in narrow types.

    A batch of rows becomes what a model needs as it is taken to a device, not before:
    25,000 texts of 4,000 bytes would otherwise fill half a gigabyte.
    """

    tokens: Integer[np.ndarray | jax.Array, "sequence position"]
    lengths: Int[np.ndarray | jax.Array, " sequence"]
    """Tokens before the padding."""
    labels: Int[np.ndarray | jax.Array, " sequence"]
    """Classes, from 0."""

    @property
    def count(self) -> int:
        """Number of sequences."""
        return self.labels.shape[0]

    @property
    def mask(self) -> Bool[np.ndarray | jax.Array, "sequence position"]:
        """Where there is a token, and not padding."""
        return np.arange(self.tokens.shape[1]) < self.lengths[:, None]


class SequenceSets(eqx.Module):
    """What is trained on, what is chosen by, and what is reported."""

    train: TokenSequences
    validation: TokenSequences
    test: TokenSequences


def shuffler(seed: int, purpose: Stream) -> np.random.RandomState:
    """Random numbers for one purpose, from a generator that NumPy never changes."""
    return np.random.RandomState([int(purpose), seed % 2**32, seed >> 32 & 0xFFFFFFFF])


def stratified(
    labels: Int[np.ndarray, " sequence"], count: int, random: np.random.RandomState
) -> Int[np.ndarray, " chosen"]:
    """Choose ``count`` places, with the shares of the classes kept, in random order.

    Classes get their share rounded down; the rest goes to the largest remainders, to
    the first class among equals.
    """
    classes, sizes = np.unique(labels, return_counts=True)
    shares = count * sizes / max(labels.size, 1)
    counts = np.floor(shares).astype(int)
    rest = np.argsort(counts - shares, kind="stable")[: count - counts.sum()]
    counts[rest] += 1
    chosen = [
        random.permutation(np.flatnonzero(labels == name))[:size]
        for name, size in zip(classes, counts, strict=True)
    ]
    return random.permutation(np.concatenate([*chosen, np.empty(0, int)]).astype(int))


def check_size(field: str, given: int, most: int, reason: str) -> None:
    """Refuse a set that is larger than there is data for."""
    if given > most:
        raise field_error(field, given, f"must be at most {most}: {reason}")

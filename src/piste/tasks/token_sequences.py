"""Sequences of tokens, each with a class: what text and pixels have in common."""

import abc
import dataclasses
from typing import Any, ClassVar

import equinox as eqx
import jax
import numpy as np
from jaxtyping import Bool, Int, Integer

from piste.errors import field_error
from piste.streams import Stream

from ._base import AbstractTask


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


@dataclasses.dataclass(frozen=True)
class AbstractSequenceTask(AbstractTask):
    """Sequences of tokens in classes, learnt from a batch for every step.

    Whatever classifier of sequences there is can be trained on a task of this kind.
    """

    padded: ClassVar[bool] = True
    """Whether a sequence may be shorter than the longest, and is filled up."""

    @property
    @abc.abstractmethod
    def vocabulary(self) -> int:
        """Number of tokens; they are counted from 0."""

    @property
    @abc.abstractmethod
    def length(self) -> int:
        """Tokens in the longest sequence."""

    @property
    @abc.abstractmethod
    def classes(self) -> int:
        """Number of classes."""

    @property
    @abc.abstractmethod
    def batch(self) -> int:
        """Sequences of a training step: a field, for users to change."""

    @abc.abstractmethod
    def counts(self) -> tuple[int, int, int]:
        """Sequences in the training, validation and test set, as far as is known."""

    @abc.abstractmethod
    def sequence_sets(self, loaded: Any, *, seed: int) -> SequenceSets:
        """Draw the three sets by a seed."""

    def datasets(
        self, loaded: Any, *, seed: int
    ) -> tuple[SequenceSets, TokenSequences]:
        """Draw all three sets, and give the test set by itself."""
        sets = self.sequence_sets(loaded, seed=seed)
        return sets, sets.test


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


def check_size(field: str, given: int, maximum: int, reason: str) -> None:
    """Refuse a set that is larger than there is data for."""
    if given > maximum:
        raise field_error(field, given, f"must be at most {maximum}: {reason}")
